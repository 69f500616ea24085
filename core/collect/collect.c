/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi-collect runs beside srun: it takes the records of a step's nodes and makes the report. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apapi/record.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/option_table.h"
#include "base/text.h"
#include "base/units.h"
#include "channel/channel.h"
#include "channel/deadline.h"
#include "config/config.h"
#include "gather/forward.h"
#include "gather/parts.h"
#include "gather/receiver.h"
#include "limit/crossings.h"
#include "limit/totals.h"
#include "render/step_report.h"
#include "sum/merge.h"

/* --- the limits of a step --------------------------------------------------------------------- */

#define SILENT_PERIODS 3
#define UNHEARD_PERIODS 30            /* until the first total: the step may begin late */
#define TOLD_MAX 3                    /* most nodes that are named at once */
#define LINGER_NS (200 * DEADLINE_MS) /* most time between ends of nodes that end together */
#define GRACE_NS (5000 * DEADLINE_MS) /* time for scancel after the step's end */
#define JOBS_MAX 16

/* The limits of a step: its user's and the site's. All zero at the start. */
struct step_limits {
    bool of_job;        /* the job has a budget of its user */
    bool counted;       /* nodes that have sent nothing were reported, or need not be */
    bool ending;        /* the step was sent SIGTERM */
    uint64_t period_ns; /* time between two totals of a node [ns]; 0: nothing is to be done */
    uint64_t next_ns;   /* when to look at the sum again */
    uint64_t begun_ns;  /* 0: srun wants no totals */
    uint64_t heard_ns;  /* when the first total came; 0: none has */
    uint64_t pass_ns;   /* when to pass the totals on again */
    const struct forward *forward; /* to the process that watches the job, if any does */
    char step[64];                 /* "17.0" */
    size_t job_count;              /* each component of a heterogeneous job has an ID */
    uint32_t jobs[JOBS_MAX];       /* ascending */
    struct config config;
    struct limit_sum sum;
    struct crossings crossings;
    int speaker; /* srun's standard error, while the step runs; -1: it is not used */
    int asker;   /* of the first node, which has ended and waits for an answer; -1: none */
    struct apapi_record first; /* the first node's; all zero: it has not come */
};

/* --- what srun's user reads ------------------------------------------------------------------- */

/*
 * The flags of descriptor 2 belong to srun, so pipes and terminals are opened again. Regular files
 * do not block, and share their offset with srun.
 */
static int speaker_open(void)
{
    struct stat file;
    int fd = -1;

    if (fstat(STDERR_FILENO, &file) == 0 && (S_ISFIFO(file.st_mode) || S_ISCHR(file.st_mode))) {
        fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    }
    fcntl(STDERR_FILENO, F_SETFD, FD_CLOEXEC);
    return fd >= 0 ? fd : STDERR_FILENO;
}

/* Close srun's standard error: its reader may wait for the end of file. */
static void speaker_close(struct step_limits *limits)
{
    if (limits->speaker > STDERR_FILENO) {
        close(limits->speaker);
    }
    if (limits->speaker >= 0) {
        close(STDERR_FILENO);
    }
    limits->speaker = -1;
}

/* Write a line after "apapi: step 17.0: ". A line that would have to wait is dropped. */
static void __attribute__((format(printf, 2, 3)))
speak(const struct step_limits *limits, const char *format, ...)
{
    struct pollfd ready = {.fd = limits->speaker, .events = POLLOUT};
    char text[420], line[512];
    va_list arguments;
    size_t length;

    if (limits->speaker < 0 || poll(&ready, 1, 0) != 1) {
        return;
    }
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    length = (size_t)snprintf(line, sizeof line, "apapi: step %s: %s\n", limits->step, text);
    if (send(limits->speaker, line, length, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno == ENOTSOCK) {
        (void)!write(limits->speaker, line, length);
    }
}

/* --- totals ----------------------------------------------------------------------------------- */

/* Add a job ID, in ascending order, unless it is there already or there is no room. */
static void limits_add_job(struct step_limits *limits, uint32_t job)
{
    if (limits->job_count < JOBS_MAX &&
        !bsearch(&job, limits->jobs, limits->job_count, sizeof job, compare_uint32)) {
        limits->jobs[limits->job_count++] = job;
        qsort(limits->jobs, limits->job_count, sizeof job, compare_uint32);
    }
}

static void limits_answer(struct step_limits *limits, int fd)
{
    double least_j = INFINITY;
    char text[64], *crossed = crossings_encode(&limits->crossings);

    for (size_t i = 0; i < limits->crossings.limits.count; i++) {
        const struct limit *limit = &limits->crossings.limits.limits[i];

        if (limit->scope == LIMIT_STEP && limit->condition == APAPI_OVERFLOW_TOTAL &&
            !limit->warning) {
            least_j = fmin(least_j, limit->amount);
        }
    }
    if (isfinite(least_j)) {
        snprintf(text, sizeof text, APAPI_ANSWER_BUDGET "%.9g %.9g\n", least_j,
                 (double)limit_sum_value(&limits->sum, deadline_now()).value);
        send(fd, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    if (crossed) {
        send(fd, crossed, strlen(crossed), MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    free(crossed);
}

/* If the step has ended on some nodes only, wait a moment: the others may report their end soon. */
static void limits_look_soon(struct step_limits *limits)
{
    bool others = limits->sum.ended > 0 && limits->sum.ended < limits->sum.most;

    limits->next_ns = deadline_now() + (others ? LINGER_NS : 0);
}

static void limits_take_total(struct step_limits *limits, const struct delivery *delivery)
{
    uint64_t now_ns = deadline_now();
    struct limit_report report;
    bool waits;

    if (limit_report_read(delivery->payload, &report) || report.job == 0 ||
        limit_sum_report(&limits->sum, delivery->node, limits->step, &report, now_ns)) {
        return;
    }
    limits_add_job(limits, report.job);
    limits->heard_ns = limits->heard_ns ? limits->heard_ns : now_ns;
    limits->next_ns = now_ns;
    waits = report.last && limits->period_ns && limits->asker < 0;
    if (waits) {
        limits->asker = fcntl(delivery->fd, F_DUPFD_CLOEXEC, 0);
    }
    if (waits && limits->asker >= 0) {
        limits_look_soon(limits);
    } else {
        limits_answer(limits, delivery->fd);
    }
}

/* Note that the step has ended on a node. @param total_j  NaN: not known */
static void limits_take_end(struct step_limits *limits, const char *node, double total_j)
{
    const struct limit_report record = {.total_j = total_j, .last = true};
    uint64_t now_ns = deadline_now();

    if (limits->begun_ns &&
        limit_sum_report(&limits->sum, node, limits->step, &record, now_ns) == 0) {
        limits_look_soon(limits);
    }
}

/* Tell the process that watches the limits of the job what the step's nodes have drawn so far. A
 * node whose step was too short for a total has no `run` and gets 1. */
static void limits_pass(const struct step_limits *limits)
{
    char *lines = NULL, text[LIMIT_REPORT_SIZE];
    size_t size = 0;
    FILE *out = limits->forward && forward_is_open(limits->forward) && limits->sum.count > 0
                    ? open_memstream(&lines, &size)
                    : NULL;

    for (size_t i = 0; out && i < limits->sum.count; i++) {
        const struct limit_node *node = &limits->sum.nodes[i], *step = node->steps.nodes;
        struct limit_report report = step->latest;

        report.run = report.run ? report.run : 1;
        report.last = step->ended;
        limit_report_write(&report, text);
        fprintf(out, "%s %s\n", node->name, text);
    }
    if (text_of_stream(out, &lines, 0)) {
        forward_totals(limits->forward, lines, size);
    }
    free(lines);
}

/* --- the actor -------------------------------------------------------------------------------- */

/* The actor closes what others may wait for: srun's output, and the sockets of the collector. */
static void limits_settle(void)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

    dup2(nothing, STDERR_FILENO);
    close(APAPI_CHANNEL_FD);
    close(APAPI_LISTEN_FD);
}

/* A command of the user has srun's environment. */
static void limits_launch(const struct job_launch *launch, const void *context)
{
    (void)context;
    shell_plug(launch->output);
    shell_become(launch->text);
}

/* --- beginning -------------------------------------------------------------------------------- */

static void limits_ask_place(struct step_limits *limits)
{
    char command[240];

    snprintf(command, sizeof command,
             "out=$(squeue --noheader '--format=%%A %%P %%q' --job %u 2>&1) || "
             "{ echo \"$out\"; exit 1; }; echo \"$out\" | sed -n 's/^%u //p'",
             limits->jobs[0], limits->jobs[0]); /* of an array it may show other tasks, too */
    crossings_run(&limits->crossings, command);
}

static void limits_take_place(struct step_limits *limits, struct order_answer *answer)
{
    char *qos = strchr(answer->text, ' ');
    struct limit_site site = limit_site_of(&limits->config);

    if (answer->status == 0 && qos) {
        *qos++ = '\0';
        qos[strcspn(qos, " \n")] = '\0';
        site.partition = answer->text;
        site.qos = qos;
    } else {
        speak(limits, "partition and QOS are not known: %.200s", answer->text);
    }
    limit_list_add_site(&limits->crossings.limits, LIMIT_STEP, &site);
}

/*
 * Begin, if the plugin asks for totals.
 * @param message  of the plugin
 */
static void limits_begin(struct step_limits *limits, const struct message *message,
                         const struct forward *forward)
{
    const struct actor_config config = {.node = "",
                                        .line_fd = -1,
                                        .uid = getuid(),
                                        .captures = true,
                                        .grace_ns = GRACE_NS,
                                        .settle = limits_settle,
                                        .launch = limits_launch,
                                        .slurm_bin = message_value(message, "slurm_bin"),
                                        .slurm_conf = message_value(message, "slurm_conf")};
    uint64_t totals_ms = message_number(message, "totals_ms");
    uint64_t nodes = message_number(message, "nodes");
    struct limit_site site;
    const char *step = message_value(message, "step"), *path = message_value(message, "config");

    limits->speaker = limits->asker = -1;
    if (totals_ms == 0) {
        return;
    }
    limits->forward = forward;
    limits->of_job = message_value(message, "job_budget") != NULL;
    limits->begun_ns = deadline_now();
    limits->sum.most = nodes;
    limits->period_ns = limit_period_ns(totals_ms * DEADLINE_MS, nodes);
    limits->sum.silent_ns = SILENT_PERIODS * limits->period_ns;
    snprintf(limits->step, sizeof limits->step, "%s", step ? step : "");
    limits_add_job(limits, (uint32_t)strtoul(limits->step, NULL, 10));
    config_defaults(&limits->config);
    if (path) {
        config_read(&limits->config, path, NULL);
    }
    site = limit_site_of(&limits->config);
    limit_list_fill(&limits->crossings.limits, LIMIT_STEP, message_value(message, "overflow"),
                    message_value(message, "budget"), NULL); /* srun has reported mistakes */
    limits->counted =
        !limit_list_has(&limits->crossings.limits, LIMIT_STEP); /* only who set a limit is told */
    crossings_open(&limits->crossings, &config, NULL);
    limits->speaker = speaker_open();
    if (message_value(message, "quiet")) {
        speaker_close(limits);
    }
    if (limit_site_varies(&site)) {
        limits_ask_place(limits);
    } else {
        limit_list_add_site(&limits->crossings.limits, LIMIT_STEP, &site);
    }
}

/* --- crossings -------------------------------------------------------------------------------- */

/* Write the step's IDs, one for each component, as arguments of scancel. */
static void limits_steps(const struct step_limits *limits, char *text, size_t size)
{
    const char *dot = strchr(limits->step, '.');
    size_t length = 0;

    if (limits->job_count == 1) {
        snprintf(text, size, " $task%.64s", dot ? dot : "");
    }
    for (size_t i = 0; i < limits->job_count && limits->job_count > 1; i++) {
        length += (size_t)snprintf(text + length, size - length, " %u%.64s", limits->jobs[i],
                                   dot ? dot : "");
    }
}

static void limits_fail(struct step_limits *limits, const struct limit *limit, const char *reason)
{
    speak(limits, "the %s has no effect: %.*s", limit->text, (int)strcspn(reason, "\n"), reason);
}

static void limits_hear(struct step_limits *limits)
{
    struct order_answer answer;

    while (crossings_hear(&limits->crossings, &answer)) {
        if (answer.limit == LIMITS_ROOM) {
            limits_take_place(limits, &answer);
        } else if (answer.ran && answer.status != 0) {
            limits_fail(limits, &limits->crossings.limits.limits[answer.limit], answer.text);
        }
    }
}

/* A step that has ended, or is being ended, needs no signals. */
static void limits_cross(struct step_limits *limits, const struct limit *limit, double sum_j)
{
    const char *signal = limit_first_signal(limit);
    bool over = limits->sum.most > 0 && limits->sum.ended >= limits->sum.most;
    bool acts = *signal && !over && !limits->ending;
    const struct units_text sum = units_quantity(sum_j, "J");
    const struct units_text action =
        units_part(acts, ", SIG%s to the %s", signal, limit->whole_job ? "job" : "step");
    struct reach reach = {.job = limits->jobs[0]};

    limits_steps(limits, reach.steps, sizeof reach.steps);
    if (crossings_cross_sum(&limits->crossings, limit, acts ? &reach : NULL)) {
        limits_fail(limits, limit, strerror(errno));
    }
    limits->ending |= acts && limit->actions & LIMIT_TERM;
    if (limit->warning) {
        speak(limits, "%g %% of the energy %s used: %s", limit->warn * 100, limit[-1].text,
              sum.text);
    } else if (limit->budget) {
        speak(limits, "energy %s reached: %s%s", limit->text, sum.text, action.text);
    } else if (limit->actions & LIMIT_LOG) {
        speak(limits, "%s crossed with %s%s", limit->text, sum.text, action.text);
    }
}

static void limits_tell_node(const struct step_limits *limits, const struct limit_node *node)
{
    double power_w = node->steps.nodes[0].power_w;

    if (node->silent && isnan(power_w)) {
        speak(limits, "%s is silent, and its power is not known", node->name);
    } else if (node->silent) {
        speak(limits, "%s is silent: it counts as drawing %s, as before", node->name,
              units_quantity(power_w, "W").text);
    } else {
        speak(limits, "%s is heard again", node->name);
    }
}

/* Name only the first TOLD_MAX nodes: a network that fails concerns all nodes at once. */
static void limits_look_at_nodes(struct step_limits *limits, uint64_t now_ns)
{
    const struct limit_node *node;
    size_t told = 0;

    while ((node = limit_sum_look(&limits->sum, now_ns))) {
        if (!node->steps.nodes[0].ended &&
            (limit_list_has(&limits->crossings.limits, LIMIT_STEP) || limits->of_job) &&
            told++ < TOLD_MAX) {
            limits_tell_node(limits, node);
        }
    }
    if (told > TOLD_MAX) {
        speak(limits, "the same of %zu more nodes", told - TOLD_MAX);
    }
}

/* Tell a user who has set a limit, once, how many nodes have sent nothing. */
static void limits_count_nodes(struct step_limits *limits, uint64_t now_ns)
{
    size_t known = limit_sum_known(&limits->sum);
    uint64_t due_ns = limits->heard_ns ? limits->heard_ns + limits->sum.silent_ns
                                       : limits->begun_ns + UNHEARD_PERIODS * limits->period_ns;

    if (limits->counted || now_ns < due_ns) {
        return;
    }
    limits->counted = true;
    if (known < limits->sum.most) {
        speak(limits, "the energy of %zu of %zu nodes is not known: the budget is without them",
              limits->sum.most - known, limits->sum.most);
    }
}

static void limits_look(struct step_limits *limits)
{
    struct limit *crossed[LIMITS_ROOM];
    uint64_t now_ns = deadline_now();
    struct limit_value sum;

    limits->next_ns = now_ns + limits->period_ns;
    if (now_ns >= limits->pass_ns) {
        limits->pass_ns = now_ns + limits->period_ns;
        limits_pass(limits);
    }
    limits_look_at_nodes(limits, now_ns);
    limits_count_nodes(limits, now_ns);
    sum = limit_sum_value(&limits->sum, now_ns);
    for (size_t i = 0, count = limit_list_look(&limits->crossings.limits, LIMIT_STEP, sum, crossed);
         i < count; i++) {
        limits_cross(limits, crossed[i], (double)sum.value);
    }
    if (limits->asker >= 0) {
        limits_answer(limits, limits->asker);
        close(limits->asker);
        limits->asker = -1;
    }
}

/* --- crossings in the report ------------------------------------------------------------------ */

static bool is_of_step(const char *threshold)
{
    return strncmp(threshold, "step ", 5) == 0 || strncmp(threshold, "budget of ", 10) == 0;
}

/* Leave out the crossings that the first node was told of: limits_report() adds all of the step. */
static void limits_take_record(struct step_limits *limits, struct apapi_record *record)
{
    const struct apapi_identity *id = &record->id;
    size_t kept = 0;

    for (size_t i = 0; i < record->crossing_count; i++) {
        if (!is_of_step(record->crossing[i].threshold)) {
            record->crossing[kept++] = record->crossing[i];
        }
    }
    record->crossing_count = kept;
    if (id->node_index == 0 && (id->het_offset == 0 || id->het_offset == APAPI_UNKNOWN)) {
        limits->first.id = *id;
        limits->first.measurement.start_unix_ns = record->measurement.start_unix_ns;
    }
}

/* Add the step's crossings: the last ones come after the record of the first node was written. */
static void limits_report(struct step_limits *limits, struct apapi_merge *merge)
{
    if (limits->begun_ns && *limits->first.id.node) {
        limits_look(limits);
        crossings_copy(&limits->crossings, &limits->first);
        merge_add_crossings(merge, &limits->first);
    }
}

/* Do what is due. Never blocks. */
static void limits_work(struct step_limits *limits)
{
    if (limits->period_ns) {
        limits_hear(limits);
        if (deadline_now() >= limits->next_ns) {
            limits_look(limits);
        }
    }
}

/* @return when to call limits_work() again [ms from now]; -1: no need to */
static int limits_pause_ms(const struct step_limits *limits)
{
    return limits->period_ns ? clock_left_ms(limits->next_ns) : -1;
}

/* @return a descriptor that is readable when there is work, too; -1: none. */
static int limits_fd(const struct step_limits *limits)
{
    return limits->period_ns ? limits->crossings.fd : -1;
}

/* End the limits: srun has ended, or soon will. The actor ends by itself, after its last work. */
static void limits_end(struct step_limits *limits)
{
    limits->ending = true;
    if (limits->period_ns) {
        limits_look(limits);
        folder_close(limits->crossings.fd);
        limits->crossings.fd = -1;
    }
    limits->period_ns = 0;
    speaker_close(limits);
}

/* --- the job's table ------------------------------------------------------------------------ */

#define PLUGIN_PATIENCE_NS (10000 * DEADLINE_MS)

static int collect_job(const char *token, struct message *message)
{
    static struct parts parts;
    bool only = message_value(message, "job_only") != NULL;
    int result = -1;

    if (parts_open(&parts, APAPI_LISTEN_FD, token, APAPI_UNKNOWN) == 0) {
        parts.only = only;
        result = parts_serve(&parts, message);
        parts_close(&parts);
    }
    return result;
}

/* --- the program ---------------------------------------------------------------------------- */

#define PART_BYTES 65536
#define ORPHAN_NS (2000 * DEADLINE_MS) /* wait for the records of a step whose srun was killed */

struct collector {
    char step[64];
    char name[APAPI_TEXT_SIZE];
    struct receiver receiver;
    struct forward forward;
    size_t nodes; /* of the step; 0: not known */
    struct apapi_merge *merge;
    size_t silent;  /* nodes that have nothing to report */
    char *nodelist; /* the last one received; NULL: none */
    bool whole_job; /* started by salloc: collects what other sruns forward */
    bool alone;     /* srun has ended */
    bool ending;    /* the step has ended; give up at `end_ns` */
    bool launched;  /* the step was launched on all nodes, as far as srun knows */
    uint64_t end_ns;
    enum config_format format;
    bool verbose;
    struct step_limits limits;
};

/* Too large for the stack. */
static struct message message;

/* --- the nodes' records --- */

static size_t collect_known(const struct collector *collector)
{
    return apapi_merge_count(collector->merge) + apapi_merge_awaited(collector->merge);
}

static bool collect_is_complete(const struct collector *collector)
{
    return apapi_merge_awaited(collector->merge) == 0 &&
           apapi_merge_count(collector->merge) >= collector->nodes;
}

static void collect_expect(struct collector *collector, const char *nodelist)
{
    if (!*nodelist || (collector->nodelist && strcmp(collector->nodelist, nodelist) == 0)) {
        return;
    }
    free(collector->nodelist);
    collector->nodelist = strdup(nodelist);
    apapi_merge_expect(collector->merge, nodelist);
    if (collector->nodes > 0 && collect_known(collector) > collector->nodes) {
        collector->nodes = collect_known(collector);
    }
}

static void collect_damaged(struct collector *collector, const char *node, const char *reason)
{
    collector->receiver.refused.damaged++;
    apapi_merge_absent(collector->merge, node, reason);
}

static void collect_record(struct collector *collector, const struct delivery *delivery)
{
    struct apapi_record record;
    struct apapi_error err = {""};
    char reason[sizeof err.text + 16];

    if (apapi_record_decode(delivery->payload, delivery->size, &record, &err)) {
        snprintf(reason, sizeof reason, "unreadable %s", err.text);
        collect_damaged(collector, delivery->node, reason);
        return;
    }
    if (strcmp(record.id.node, delivery->node) != 0) {
        collect_damaged(collector, delivery->node, "its record is of another node");
        apapi_record_clear(&record);
        return;
    }
    limits_take_record(&collector->limits, &record);
    if (apapi_merge_add(collector->merge, &record) == 0) {
        limits_take_end(&collector->limits, delivery->node,
                        apapi_measurement_total_j(&record.measurement));
        if (step_report_needs_lines(collector->format)) {
            step_report_keep(collector->merge, delivery->payload, delivery->size);
        }
        forward_record(&collector->forward, delivery->payload, delivery->size);
    }
    apapi_record_clear(&record);
}

static void collect_take(void *context, const struct delivery *delivery)
{
    struct collector *collector = context;

    if (delivery->fd >= 0 && collector->limits.begun_ns) {
        limits_take_total(&collector->limits, delivery);
        return;
    }
    collect_expect(collector, delivery->nodelist);
    if (apapi_merge_has(collector->merge, delivery->node)) {
        collector->receiver.refused.twice++;
    } else if (collector->nodes > 0 && collect_known(collector) >= collector->nodes &&
               !apapi_merge_awaits(collector->merge, delivery->node)) {
        collector->receiver.refused.surplus++;
    } else if (!delivery->whole) {
        collect_damaged(collector, delivery->node, "its record was cut off");
    } else if (strcmp(delivery->word, APAPI_WORD_RECORD) == 0) {
        collect_record(collector, delivery);
    } else if (strcmp(delivery->word, APAPI_WORD_ABSENT) == 0) {
        collector->silent += delivery->size == 0;
        limits_take_end(&collector->limits, delivery->node, NAN);
        apapi_merge_absent(collector->merge, delivery->node, delivery->payload);
    } else {
        collector->receiver.refused.damaged++;
    }
}

/* A text about refused messages. @return `text`; NULL: there are none. */
static const char *collect_describe(const struct receiver_refused *refused, char *text, size_t size)
{
    const struct {
        size_t count;
        const char *one, *many;
    } parts[] = {
        {refused->foreign, "foreign connection refused", "foreign connections refused"},
        {refused->damaged, "damaged record", "damaged records"},
        {refused->twice, "record came twice", "records came twice"},
        {refused->surplus, "record of an unexpected node", "records of unexpected nodes"},
    };
    size_t length = 0;

    for (size_t i = 0; i < COUNT_OF(parts) && length < size; i++) {
        if (parts[i].count > 0) {
            length += (size_t)snprintf(text + length, size - length, "%s%zu %s", length ? ", " : "",
                                       parts[i].count,
                                       parts[i].count == 1 ? parts[i].one : parts[i].many);
        }
    }
    return length ? text : NULL;
}

/* --- the plugin's messages --- */

static void copy_value(const char *key, char *text, size_t size)
{
    const char *value = message_value(&message, key);

    snprintf(text, size, "%s", value ? value : "");
}

static int collect_configure(struct collector *collector)
{
    const char *format;

    if (message_receive(APAPI_CHANNEL_FD, &message, deadline_now() + PLUGIN_PATIENCE_NS) ||
        !message_is(&message, APAPI_WORD_CONFIG)) {
        return -1;
    }
    format = message_value(&message, "format");
    copy_value("token", collector->receiver.token, sizeof collector->receiver.token);
    copy_value("step", collector->step, sizeof collector->step);
    copy_value("name", collector->name, sizeof collector->name);
    collector->verbose = message_value(&message, "verbose");
    if (format && config_format_parse(format, &collector->format, NULL)) {
        return -1;
    }
    forward_open(&collector->forward, message_value(&message, "job"));
    collector->nodes = message_number(&message, "nodes");
    collector->whole_job = message_value(&message, "whole_job");
    if (collector->whole_job) {
        return 0;
    }
    collector->receiver.take = collect_take;
    collector->receiver.context = collector;
    collector->merge = apapi_merge_create();
    if (strlen(collector->receiver.token) != APAPI_TOKEN_LENGTH || !collector->merge ||
        receiver_open(&collector->receiver, APAPI_LISTEN_FD)) {
        return -1;
    }
    limits_begin(&collector->limits, &message, &collector->forward);
    forward_begin(&collector->forward, collector->step);
    return 0;
}

/* @param alone  srun has ended: records that its step may still send go into the job's table */
static void begin_end(struct collector *collector, bool alone)
{
    const char *nodelist = alone ? NULL : message_value(&message, "nodelist");
    uint64_t orphan_ns = forward_is_open(&collector->forward) ? ORPHAN_NS : 0;
    uint64_t wait_ns = alone ? orphan_ns : message_number(&message, "wait_ms") * DEADLINE_MS;

    limits_end(&collector->limits);
    collector->alone = alone;
    collector->ending = true;
    collector->launched = alone || wait_ns > 0;
    collector->end_ns = deadline_now() + wait_ns;
    collect_expect(collector, nodelist ? nodelist : "");
}

/* Pass on the totals, too: the energy of short steps is known only now. */
static void collect_end_forward(struct collector *collector)
{
    limits_pass(&collector->limits);
    forward_end(&collector->forward);
}

/* Wait for an event and handle it. */
static void wait_and_handle(struct collector *collector)
{
    struct pollfd watched[] = {{.fd = collector->alone ? -1 : APAPI_CHANNEL_FD, .events = POLLIN},
                               {.fd = collector->receiver.poll, .events = POLLIN},
                               {.fd = limits_fd(&collector->limits), .events = POLLIN}};
    int wait_ms = clock_sooner_ms(receiver_patience_ms(&collector->receiver),
                                  limits_pause_ms(&collector->limits));

    wait_ms = clock_sooner_ms(wait_ms, collector->ending ? clock_left_ms(collector->end_ns) : -1);
    if (poll(watched, 3, wait_ms) < 0) {
        return;
    }
    receiver_work(&collector->receiver);
    limits_work(&collector->limits);
    if (collect_is_complete(collector)) {
        collect_end_forward(collector); /* srun may take long to end, or may be killed */
    }
    if (!watched[0].revents) {
        return;
    }
    if (message_receive(APAPI_CHANNEL_FD, &message, deadline_now() + PLUGIN_PATIENCE_NS)) {
        begin_end(collector, true);
    } else if (message_is(&message, APAPI_WORD_END)) {
        begin_end(collector, false);
    }
}

/* A report may be longer than a message. */
static ssize_t send_some(void *cookie, const char *bytes, size_t size)
{
    static char part[PART_BYTES + 1];

    (void)cookie;
    for (size_t sent = 0, length; sent < size; sent += length) {
        length = size - sent < PART_BYTES ? size - sent : PART_BYTES;
        memcpy(part, bytes + sent, length);
        part[length] = '\0';
        if (message_send_text(APAPI_CHANNEL_FD, &message, APAPI_WORD_TABLE, part,
                              deadline_now() + PLUGIN_PATIENCE_NS)) {
            return 0;
        }
    }
    return (ssize_t)size;
}

/* @return 0; -1: not all of the report has reached srun. */
static int send_step_report(const struct collector *collector)
{
    const cookie_io_functions_t calls = {.write = send_some};
    static char buffer[PART_BYTES];
    FILE *out = fopencookie(NULL, "w", calls);
    char note[256];
    const struct apapi_table_head head = {
        .step = collector->step,
        .name = collector->name,
        .user_s = NAN,
        .system_s = NAN,
        .elapsed_s = NAN,
        .note = collect_describe(&collector->receiver.refused, note, sizeof note),
        .nodes = collector->nodes,
        .verbose = collector->verbose};
    int result = -1;

    if (out) {
        setvbuf(out, buffer, _IOFBF, sizeof buffer);
        result = step_report_write(collector->merge, collector->format, &head, out);
        result = ferror(out) ? -1 : result;
        result = fclose(out) == EOF ? -1 : result;
    }
    return result;
}

/* Without the end, srun says that the report is incomplete. @return as send_step_report(). */
static int send_report(struct collector *collector)
{
    bool ran = collector->launched || apapi_merge_count(collector->merge) > 0;

    limits_report(&collector->limits, collector->merge);
    apapi_merge_give_up(collector->merge, collector->launched ? "it did not answer in time"
                                                              : "the step was not launched");
    if (collector->format != CONFIG_NONE && ran && collector->silent < collector->nodes &&
        send_step_report(collector)) {
        return -1;
    }
    message_start(&message, APAPI_WORD_END);
    return message_send(APAPI_CHANNEL_FD, &message, deadline_now() + PLUGIN_PATIENCE_NS);
}

static int collect_run(void)
{
    static struct collector collector;
    int result;
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    fcntl(APAPI_CHANNEL_FD, F_SETFD, FD_CLOEXEC);
    fcntl(APAPI_LISTEN_FD, F_SETFD, FD_CLOEXEC);
    prctl(PR_SET_DUMPABLE, 0); /* this process's memory holds the token */
    if (collect_configure(&collector)) {
        return EXIT_FAILURE;
    }
    if (collector.whole_job) {
        return collect_job(collector.receiver.token, &message) ? EXIT_FAILURE : EXIT_SUCCESS;
    }
    while (!collector.ending ||
           (!collect_is_complete(&collector) && deadline_now() < collector.end_ns)) {
        wait_and_handle(&collector);
    }
    if (collector.alone && !collect_is_complete(&collector)) {
        forward_flush(&collector.forward); /* the step of a killed srun may still run */
    } else {
        collect_end_forward(&collector);
    }
    result = collector.alone ? 0 : send_report(&collector);
    receiver_close(&collector.receiver);
    free(collector.nodelist);
    apapi_merge_destroy(collector.merge);
    return result ? EXIT_FAILURE : EXIT_SUCCESS;
}

static bool is_socket(int fd)
{
    struct stat file;

    return fstat(fd, &file) == 0 && S_ISSOCK(file.st_mode);
}

static const struct option_table table = {
    .program = "apapi-collect",
    .head = "apapi-collect is started by spank_apapi.so in srun and salloc.\n",
    .foot = "",
    .rows = (const struct option_row[]){{0}}};

int main(int argc, char **argv)
{
    int status;

    if (argc == 1 && is_socket(APAPI_CHANNEL_FD) && is_socket(APAPI_LISTEN_FD)) {
        unsetenv("LANG"); /* the plugin has set it: the language of the reader is not known */
        return collect_run();
    }
    status = option_table_read(&table, argc, argv, NULL);
    if (status >= 0) {
        return status;
    }
    option_table_help(&table, stderr);
    return USAGE_ERROR;
}
