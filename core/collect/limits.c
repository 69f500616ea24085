/* SPDX-License-Identifier: BSD-3-Clause */
#include "collect/limits.h"

#include <errno.h>
#include <fcntl.h>
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
#include "base/text.h"
#include "base/units.h"
#include "channel/deadline.h"

#define SILENT_PERIODS 3
#define UNHEARD_PERIODS 30            /* for the first total: the step may begin late */
#define TOLD_MAX 3                    /* nodes that are named at once */
#define GRACE_NS (5000 * DEADLINE_MS) /* for scancel, after the step's end */
#define PLACE_NUMBER UINT64_MAX       /* of the answer that has partition and QOS */

/* --- what srun's user reads ------------------------------------------------------------------- */

/*
 * The flags of descriptor 2 belong to srun, so pipes and terminals are opened again. Files do not
 * block, and have one offset with srun.
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

/* Its reader may wait for its end. */
static void speaker_close(struct collect_limits *limits)
{
    if (limits->speaker > STDERR_FILENO) {
        close(limits->speaker);
    }
    if (limits->speaker >= 0) {
        close(STDERR_FILENO);
    }
    limits->speaker = -1;
}

/* "apapi: step 17.0: " and a line. One that would have to wait is dropped. */
static void __attribute__((format(printf, 2, 3)))
speak(const struct collect_limits *limits, const char *format, ...)
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

/* In ascending order. One that is there already, or has no room, is not added. */
static void limits_add_job(struct collect_limits *limits, uint32_t job)
{
    if (limits->job_count < COLLECT_JOBS_MAX &&
        !bsearch(&job, limits->jobs, limits->job_count, sizeof job, compare_uint32)) {
        limits->jobs[limits->job_count++] = job;
        qsort(limits->jobs, limits->job_count, sizeof job, compare_uint32);
    }
}

static void limits_answer(struct collect_limits *limits, int fd)
{
    double least_j = INFINITY;
    char text[64], *crossed = crossings_encode(&limits->crossings);

    for (size_t i = 0; i < limits->crossings.limits.count; i++) {
        const struct limit *limit = &limits->crossings.limits.limits[i];

        if (limit->scope == LIMIT_STEP && limit->condition == LIMIT_TOTAL && !limit->warning) {
            least_j = fmin(least_j, limit->amount);
        }
    }
    if (isfinite(least_j)) {
        snprintf(text, sizeof text, APAPI_ANSWER_BUDGET "%.9g %.9g\n", least_j,
                 limit_sum_total_j(&limits->sum, deadline_now()));
        send(fd, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    if (crossed) {
        send(fd, crossed, strlen(crossed), MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    free(crossed);
}

static void limits_take_total(void *context, const struct delivery *delivery, int fd)
{
    struct collect_limits *limits = context;
    uint64_t now_ns = deadline_now();
    struct limit_report report;

    if (limit_report_read(delivery->payload, &report) || report.job == 0 ||
        limit_sum_report(&limits->sum, delivery->node, limits->step, &report, now_ns)) {
        return;
    }
    limits_add_job(limits, report.job);
    limits->heard_ns = limits->heard_ns ? limits->heard_ns : now_ns;
    limits->next_ns = now_ns;
    limits_answer(limits, fd);
}

static void limits_take_end(void *context, const char *node, double total_j)
{
    struct collect_limits *limits = context;
    const struct limit_report record = {.total_j = total_j, .last = true};
    uint64_t now_ns = deadline_now();

    if (limit_sum_report(&limits->sum, node, limits->step, &record, now_ns) == 0) {
        limits->next_ns = now_ns;
    }
}

/* A node whose step was too short for a total has none. */
void collect_limits_pass(const struct collect_limits *limits)
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

/* Readers of srun's output, and those that wait for the collector, do not wait for the actor. */
static void limits_settle(void)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

    dup2(nothing, STDERR_FILENO);
    close(APAPI_CHANNEL_FD);
    close(APAPI_LISTEN_FD);
}

/* Slurm's commands know what the collector says; a command of the user has srun's environment. */
static void limits_launch(const struct job_launch *launch, const void *context)
{
    static char path[] = "PATH=/usr/local/bin:/usr/bin:/bin", lang[] = "LANG=C";
    static char *environment[] = {path, lang, NULL};

    (void)context;
    environ = launch->output >= 0 ? environment : environ;
    shell_plug(launch->output);
    shell_become(launch->text, launch->variables);
}

/* --- beginning -------------------------------------------------------------------------------- */

static void limits_ask_place(struct collect_limits *limits)
{
    struct order order = {.kind = ORDER_RUN, .number = PLACE_NUMBER};

    snprintf(order.text, sizeof order.text, "squeue --noheader \"--format=%%P %%q\" --job %.*s",
             (int)strcspn(limits->step, "."), limits->step);
    actor_order(&limits->crossings.actor, &order);
}

static void limits_take_place(struct collect_limits *limits, struct order_answer *answer)
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

void collect_limits_begin(struct collect_limits *limits, const struct message *message,
                          struct receiver *receiver)
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
    struct limit_site site;
    const char *step = message_value(message, "step"), *path = message_value(message, "config");

    limits->speaker = -1;
    limits->crossings.actor = ACTOR_NONE;
    if (totals_ms == 0) {
        return;
    }
    limits->forward = receiver->forward;
    limits->of_job = message_value(message, "job_budget") != NULL;
    limits->begun_ns = deadline_now();
    limits->sum.most = receiver->nodes;
    limits->period_ns = limit_period_ns(totals_ms * DEADLINE_MS, receiver->nodes);
    limits->sum.silent_ns = SILENT_PERIODS * limits->period_ns;
    snprintf(limits->step, sizeof limits->step, "%s", step ? step : "");
    limits_add_job(limits, (uint32_t)strtoul(limits->step, NULL, 10));
    config_defaults(&limits->config);
    if (path) {
        config_read(&limits->config, path, NULL);
    }
    site = limit_site_of(&limits->config);
    limit_list_fill(&limits->crossings.limits, LIMIT_STEP, message_value(message, "overflow"),
                    message_value(message, "budget"), NULL); /* mistakes were told at the prompt */
    limits->counted =
        !limit_list_has(&limits->crossings.limits, LIMIT_STEP); /* who asked is told */
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
    receiver->total = limits_take_total;
    receiver->ended = limits_take_end;
    receiver->budget_context = limits;
}

/* --- crossings -------------------------------------------------------------------------------- */

/* The step's parts, as arguments of scancel. */
static void limits_steps(const struct collect_limits *limits, char *text, size_t size)
{
    const char *dot = strchr(limits->step, '.');
    size_t length = 0;

    for (size_t i = 0; i < limits->job_count; i++) {
        length += (size_t)snprintf(text + length, size - length, " %u%.64s", limits->jobs[i],
                                   dot ? dot : "");
    }
}

static void limits_fail(struct collect_limits *limits, const struct limit *limit,
                        const char *reason)
{
    speak(limits, "the budget of %s has no effect: %.*s", limit->text, (int)strcspn(reason, "\n"),
          reason);
}

static void limits_hear(struct collect_limits *limits)
{
    struct order_answer answer;

    while (actor_hear(&limits->crossings.actor, &answer)) {
        if (answer.number == PLACE_NUMBER) {
            limits_take_place(limits, &answer);
            continue;
        }
        crossings_note(&answer, &limits->crossings);
        if (answer.ran && answer.status != 0) {
            limits_fail(limits, &limits->crossings.limits.limits[answer.limit], answer.text);
        }
    }
}

/* A step that has ended, or is being ended, needs no signals. */
static void limits_cross(struct collect_limits *limits, const struct limit *limit, double sum_j)
{
    const char *signal = limit_first_signal(limit);
    bool over = limits->sum.most > 0 && limits->sum.ended >= limits->sum.most;
    bool acts = *signal && !over && !limits->ending;
    char sum[UNITS_SIZE], action[64] = "";
    struct order reach = {.job = limits->jobs[0]};

    limits_steps(limits, reach.text, sizeof reach.text);
    if (crossings_cross_sum(&limits->crossings, limit, sum_j, acts ? &reach : NULL)) {
        limits_fail(limits, limit, strerror(errno));
    }
    if (acts) {
        limits->ending |= (limit->actions & LIMIT_TERM) != 0;
        snprintf(action, sizeof action, ", SIG%s to the %s", signal,
                 limit->whole_job ? "job" : "step");
    }
    units_quantity(sum, sizeof sum, sum_j, "J");
    if (limit->warning) {
        speak(limits, "%g %% of the energy budget of %s used: %s", limit->warn * 100, limit->text,
              sum);
    } else if (limit->budget) {
        speak(limits, "energy budget of %s reached: %s%s", limit->text, sum, action);
    } else if (limit->actions & LIMIT_LOG) {
        speak(limits, "%s crossed with %s%s", limit->text, sum, action);
    }
}

static void limits_tell_node(const struct collect_limits *limits, const struct limit_node *node)
{
    double power_w = node->steps.nodes[0].power_w;
    char power[UNITS_SIZE];

    units_quantity(power, sizeof power, power_w, "W");
    if (node->silent && isnan(power_w)) {
        speak(limits, "%s is silent, and its power is not known", node->name);
    } else if (node->silent) {
        speak(limits, "%s is silent: it counts as drawing %s, as before", node->name, power);
    } else {
        speak(limits, "%s is heard again", node->name);
    }
}

/* A network that fails concerns all nodes at once. */
static void limits_look_at_nodes(struct collect_limits *limits, uint64_t now_ns)
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

/* Once, for who asked for a limit: nodes of which nothing is known. */
static void limits_count_nodes(struct collect_limits *limits, uint64_t now_ns)
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

static void limits_look(struct collect_limits *limits)
{
    struct limit *crossed[LIMITS_ROOM];
    uint64_t now_ns = deadline_now();
    double sum_j;
    size_t count;

    limits->next_ns = now_ns + limits->period_ns;
    if (now_ns >= limits->pass_ns) {
        limits->pass_ns = now_ns + limits->period_ns;
        collect_limits_pass(limits);
    }
    limits_look_at_nodes(limits, now_ns);
    limits_count_nodes(limits, now_ns);
    sum_j = limit_sum_total_j(&limits->sum, now_ns);
    count = limit_list_look(&limits->crossings.limits, LIMIT_STEP, sum_j, now_ns, crossed);
    for (size_t i = 0; i < count; i++) {
        limits_cross(limits, crossed[i], sum_j);
    }
}

void collect_limits_work(struct collect_limits *limits)
{
    if (limits->period_ns) {
        limits_hear(limits);
        if (deadline_now() >= limits->next_ns) {
            limits_look(limits);
        }
    }
}

int collect_limits_pause_ms(const struct collect_limits *limits)
{
    return limits->period_ns ? clock_left_ms(limits->next_ns) : -1;
}

int collect_limits_fd(const struct collect_limits *limits)
{
    return limits->period_ns ? limits->crossings.actor.fd : -1;
}

/* The actor ends by itself, when it has nothing to do any more. */
void collect_limits_end(struct collect_limits *limits)
{
    speaker_close(limits);
    if (limits->period_ns && limits->crossings.actor.fd >= 0) {
        close(limits->crossings.actor.fd);
        limits->crossings.actor = ACTOR_NONE;
    }
    limits->period_ns = 0;
}
