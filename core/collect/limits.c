/* SPDX-License-Identifier: BSD-3-Clause */
#include "collect/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/text.h"
#include "base/units.h"
#include "channel/deadline.h"

#define UNHEARD_PERIODS 30            /* until the first total: the step may begin late */
#define TOLD_MAX 3                    /* most nodes that are named at once */
#define LINGER_NS (200 * DEADLINE_MS) /* most time between ends of nodes that end together */
#define GRACE_NS (5000 * DEADLINE_MS) /* time for scancel after the step's end */

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
    if (limits->job_count < STEP_JOBS_MAX &&
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

void step_limits_take_total(struct step_limits *limits, const struct delivery *delivery)
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

void step_limits_take_end(struct step_limits *limits, const char *node, double total_j)
{
    const struct limit_report record = {.total_j = total_j, .last = true};
    uint64_t now_ns = deadline_now();

    if (limits->begun_ns &&
        limit_sum_report(&limits->sum, node, limits->step, &record, now_ns) == 0) {
        limits_look_soon(limits);
    }
}

void step_limits_pass(const struct step_limits *limits)
{
    char *lines = NULL, text[LIMIT_REPORT_SIZE];
    uint64_t now_ns = deadline_now();
    size_t size = 0;
    FILE *out = limits->forward && forward_is_open(limits->forward) && limits->sum.count > 0
                    ? open_memstream(&lines, &size)
                    : NULL;

    for (size_t i = 0; out && i < limits->sum.count; i++) {
        const struct limit_node *node = &limits->sum.nodes[i], *step = node->steps.nodes;
        struct limit_report report = step->latest;

        report.run = report.run ? report.run : 1; /* the step was too short for a total */
        report.last = step->ended;
        limit_report_write(&report, text);
        fprintf(out, "%s %" PRIu64 " %s\n", node->name, now_ns - step->heard_ns, text);
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
    struct limit_site site = limits->site;

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

void step_limits_begin(struct step_limits *limits, const struct message *message,
                       const struct forward *forward)
{
    const struct actor_config config = {.node = "",
                                        .line_fd = -1,
                                        .uid = getuid(),
                                        .captures = true,
                                        .grace_ns = GRACE_NS,
                                        .settle = limits_settle,
                                        .slurm_bin = message_value(message, "slurm_bin"),
                                        .slurm_conf = message_value(message, "slurm_conf")};
    uint64_t totals_ms = message_number(message, "totals_ms");
    uint64_t nodes = message_number(message, "nodes");
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
    limits->sum.silent_ns = LIMIT_SILENT_PERIODS * limits->period_ns;
    snprintf(limits->step, sizeof limits->step, "%s", step ? step : "");
    limits_add_job(limits, (uint32_t)strtoul(limits->step, NULL, 10));
    config_defaults(&limits->config);
    if (path) {
        config_read(&limits->config, path, NULL);
    }
    limits->site = limit_site_of(&limits->config);
    if (limits->of_job) { /* steps have no default if the user has given the job a budget */
        limits->site.standard = NULL;
    }
    limit_list_fill(&limits->crossings.limits, LIMIT_STEP, message_value(message, "overflow"),
                    message_value(message, "budget"), NULL); /* srun has reported mistakes */
    limits->counted =
        !limit_list_has(&limits->crossings.limits, LIMIT_STEP); /* only who set a limit is told */
    crossings_open(&limits->crossings, &config, NULL);
    limits->speaker = speaker_open();
    if (message_value(message, "quiet")) {
        speaker_close(limits);
    }
    if (limit_site_varies(&limits->site)) {
        limits_ask_place(limits);
    } else {
        limit_list_add_site(&limits->crossings.limits, LIMIT_STEP, &limits->site);
    }
}

/* --- crossings -------------------------------------------------------------------------------- */

/* Append the step's IDs, one for each component, as arguments of scancel. */
static void limits_steps(const struct step_limits *limits, char *text, size_t size)
{
    const char *dot = strchr(limits->step, '.');

    if (limits->job_count == 1) {
        text_append(text, size, "", " $task%.64s", dot ? dot : "");
    }
    for (size_t i = 0; i < limits->job_count && limits->job_count > 1; i++) {
        text_append(text, size, "", " %u%.64s", limits->jobs[i], dot ? dot : "");
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
        step_limits_pass(limits);
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

void step_limits_take_record(struct step_limits *limits, struct apapi_record *record)
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

void step_limits_report(struct step_limits *limits, struct apapi_merge *merge)
{
    if (limits->begun_ns && *limits->first.id.node) {
        limits_look(limits);
        crossings_copy(&limits->crossings, &limits->first);
        merge_add_crossings(merge, &limits->first);
    }
}

void step_limits_work(struct step_limits *limits)
{
    if (limits->period_ns) {
        limits_hear(limits);
        if (deadline_now() >= limits->next_ns) {
            limits_look(limits);
        }
    }
}

int step_limits_pause_ms(const struct step_limits *limits)
{
    return limits->period_ns ? clock_left_ms(limits->next_ns) : -1;
}

int step_limits_fd(const struct step_limits *limits)
{
    return limits->period_ns ? limits->crossings.fd : -1;
}

void step_limits_end(struct step_limits *limits)
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
