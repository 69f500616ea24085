/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/limits.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <syslog.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hostlist.h"
#include "base/text.h"
#include "channel/deadline.h"
#include "config/slurm_conf.h"
#include "sampler/beside.h"
#include "sampler/process.h"
#include "session/live.h"

#define PAUSE_MS 1000 /* between attempts to set a limit of a component that is being opened */

/* Keep the first problem, without its caret: "... on n1: unknown event: 'X >= 5J'". */
static void limits_trouble(struct limits *limits, const char *text)
{
    size_t length = strcspn(text, "\n");
    const char *marked = text[length] ? text + length + 1 + strspn(text + length + 1, " ") : "";

    if (limits->trouble.text[0] == '\0') {
        apapi_fail(&limits->trouble, EINVAL, "--apapi-overflow on %.64s: %.*s%s%.*s%s",
                   limits->step->id.node, (int)length, text, *marked ? " ('" : "",
                   (int)strcspn(marked, "\n"), marked, *marked ? "')" : "");
    }
}

/* --- the actor -------------------------------------------------------------------------------- */

/* Become the user with nothing left of root: no descriptor, no variable, no memory. */
static void limits_launch(const struct job_launch *launch, const void *context)
{
    const struct user *user = context;
    const struct process *task = processes_any(launch->tasks);
    struct rlimit limits[RLIM_NLIMITS];

    while (task && beside_enter(task, limits)) {
        task = process_lives(task) ? NULL : processes_any(launch->tasks);
    }
    if (!task) {
        _exit(JOB_NOT_DONE);
    }
    shell_plug(-1);
    if (user_become(user) == 0) {
        beside_become(task, launch, limits);
    }
}

static uint64_t limits_kill_wait_ns(const struct step *step)
{
    char text[16];
    unsigned long seconds;

    config_slurm_value(step->slurm_conf, "KillWait", text, sizeof text);
    seconds = *text ? strtoul(text, NULL, 10) : KILL_WAIT_S;
    return seconds < UINT32_MAX ? seconds * NS_PER_S : KILL_WAIT_S * NS_PER_S;
}

/* @return the process ID of slurmstepd, which made the channel and is the parent of all tasks. */
static pid_t limits_slurmstepd(void)
{
    struct ucred peer = {.pid = 0};
    socklen_t size = sizeof peer;

    return getsockopt(APAPI_CHANNEL_FD, SOL_SOCKET, SO_PEERCRED, &peer, &size) ? 0 : peer.pid;
}

/* --- the limits of a job ---------------------------------------------------------------------- */

/* @return how many nodes the job has; `job_nodes` counts those of the first component. */
static size_t limits_nodes(const struct step *step)
{
    ssize_t count = hostlist_each(step->job_nodelist, NULL, NULL);

    if (count > 0) {
        return (size_t)count;
    }
    return step->id.job_nodes == APAPI_UNKNOWN || step->id.het_job != APAPI_UNKNOWN
               ? HOSTLIST_MAX
               : step->id.job_nodes;
}

/* The batch step knows partition and QOS. */
static void limits_add_job(struct limits *limits)
{
    const struct step *step = limits->step;
    struct limit_site site = limit_site_of(&step->config);
    struct limit_list *list = &limits->crossings.limits;

    site.partition = step->id.partition;
    site.qos = step->id.qos;
    limit_list_add_site(list, LIMIT_JOB, &site);
    limits->of_job = limit_list_has(list, LIMIT_JOB);
    limits->period_ns = (uint64_t)step->totals_ms * DEADLINE_MS;
    limits->sum.silent_ns = LIMIT_SILENT_PERIODS * limits->period_ns;
    limits->sum.most = limits_nodes(step) + 1;
}

/* Signals go to the steps, as Slurm's before a time limit. @param over  nothing runs any more */
static void limits_look_at_job(struct limits *limits, const struct apapi_measurement *measurement,
                               bool over)
{
    const struct limit_report own = {.run = 1,
                                     .elapsed_ns = measurement->elapsed_ns,
                                     .total_j = apapi_measurement_total_j(measurement)};
    const struct reach reach = {.job = limits->step->id.job,
                                .script = !limits->parts || limits->parts->running_count == 0};
    struct limit *crossed[LIMITS_ROOM];
    uint64_t now_ns = deadline_now();
    size_t count;

    limit_sum_report(&limits->sum, limits->step->id.node, "batch", &own, now_ns);
    count = limit_list_look(&limits->crossings.limits, LIMIT_JOB,
                            limit_sum_value(&limits->sum, now_ns), crossed);
    for (size_t i = 0; i < count; i++) {
        crossings_cross_sum(&limits->crossings, crossed[i], over ? NULL : &reach);
    }
}

/*
 * Take lines of "NODE AGE_NS REPORT" from an srun, which is its user's: this node is left out, as
 * the batch step itself measures it. @param lines  NULL: the step has ended
 */
static void limits_take(void *context, const char *step, const char *lines)
{
    struct limits *limits = context;
    char line[APAPI_TEXT_SIZE + LIMIT_REPORT_SIZE + 24], *text;
    const char *rest;
    struct limit_report report;
    uint64_t age_ns;

    if (!lines) {
        limit_sum_end_step(&limits->sum, step, deadline_now());
        return;
    }
    while (limits->of_job && text_next_line(&lines, line, sizeof line)) {
        text = strchr(line, ' ');
        rest = text ? text_digits(text + 1, UINT64_MAX, &age_ns) : NULL;
        if (rest && *rest == ' ' && limit_report_read(rest + 1, &report) == 0) {
            *text = '\0';
            report.age_ns = age_ns;
            if (strcmp(line, limits->step->id.node) != 0) {
                limit_sum_report(&limits->sum, line, step, &report, deadline_now());
            }
        }
    }
}

void limits_hear(struct limits *limits, struct parts *parts)
{
    if (limits->of_job && parts->job) {
        limits->parts = parts;
        parts->totals = limits_take;
        parts->totals_context = limits;
    }
}

/* --- all of them ------------------------------------------------------------------------------ */

static int limits_start(struct limits *limits, const struct step *step, struct apapi_error *err)
{
    char program[64], slurm_bin[PATH_MAX];
    const struct actor_config config = {.node = step->id.node,
                                        .said_by = "apapi",
                                        .line_fd = -1,
                                        .uid = step->id.uid,
                                        .parent = limits_slurmstepd(),
                                        .grouped = true,
                                        .bare = true,
                                        .kill_wait_ns = limits_kill_wait_ns(step),
                                        .settle = process_settle_actor,
                                        .launch = limits_launch,
                                        .context = &limits->user,
                                        .slurm_bin = slurm_bin,
                                        .slurm_conf = step->slurm_conf};
    ssize_t length;

    snprintf(program, sizeof program, "/proc/%d/exe", (int)config.parent);
    length = readlink(program, slurm_bin, sizeof slurm_bin - 1);
    slurm_bin[length > 0 ? length : 0] = '\0';
    *(strrchr(slurm_bin, '/') ? strrchr(slurm_bin, '/') : slurm_bin) = '\0';
    if (user_parse(step, &limits->user, err) ||
        limit_list_fill(&limits->crossings.limits, LIMIT_JOB, step->overflow,
                        step_watches_job(step) ? step->budget : NULL, err)) {
        return -1;
    }
    if (step_watches_job(step)) {
        limits_add_job(limits);
    }
    return crossings_open(&limits->crossings, &config, err);
}

bool limits_open(struct limits *limits, const struct step *step)
{
    struct apapi_error err;

    limits->step = step;
    if ((*step->overflow || step_watches_job(step)) && limits_start(limits, step, &err)) {
        limits_trouble(limits, err.text);
        limits->of_job = false;
    }
    return limits->crossings.open;
}

void limits_set(struct limits *limits, struct apapi_session *session)
{
    struct apapi_error err;

    if (crossings_set(&limits->crossings, session, &err)) {
        limits_trouble(limits, err.text);
    }
}

/* --- the node's total on its way to the collector --------------------------------------------- */

#define SEND_LIMIT_NS (2000 * DEADLINE_MS)
#define LAST_LIMIT_NS (300 * DEADLINE_MS)

void limits_begin(struct limits *limits, struct apapi_live_page *page,
                  const struct message *message)
{
    const char *where = message_value(message, "collect");
    const char *address = message_value(message, "collect_address");
    size_t nodes = limits->step->id.nodes == APAPI_UNKNOWN ? 1 : limits->step->id.nodes;

    if (!where || !address || report_parse(where, &limits->collector) ||
        limits->collector.totals_ms == 0) {
        return;
    }
    limits->sends = true;
    limits->page = page;
    limits->run = deadline_now();
    limits->period_ns = limit_period_ns(limits->collector.totals_ms * DEADLINE_MS, nodes);
    limits->due_ns = limits->run + limits->period_ns;
    snprintf(limits->address, sizeof limits->address, "%s", address);
}

static void totals_write(struct limits *limits, const struct apapi_measurement *measurement,
                         bool last)
{
    const struct limit_report report = {.run = limits->run,
                                        .elapsed_ns = measurement->elapsed_ns,
                                        .total_j = apapi_measurement_total_j(measurement),
                                        .last = last,
                                        .job = limits->step->id.job};

    limit_report_write(&report, limits->payload);
}

static void totals_send(struct limits *limits, uint64_t limit_ns)
{
    const struct apapi_identity *id = &limits->step->id;
    const struct report report = {.word = APAPI_WORD_TOTAL,
                                  .node = id->node,
                                  .nodelist = "",
                                  .payload = limits->payload,
                                  .answer = limits->answer,
                                  .answer_size = sizeof limits->answer};
    struct apapi_error err;

    if (report_send(&limits->collector, limits->address, &report, deadline_now() + limit_ns,
                    &err) &&
        !limits->complained) {
        limits->complained = true;
        log_write(LOG_INFO, "job %u step %s: total not sent: %s", id->job, id->step, err.text);
    }
}

static void totals_send_soon(void *context)
{
    totals_send(context, SEND_LIMIT_NS);
}

/* The collector is a process of the user: values that cannot be true are not shown. */
static void totals_show(const struct limits *limits)
{
    double budget_j, used_j;

    if (limits->page &&
        sscanf(limits->answer, APAPI_ANSWER_BUDGET "%lf %lf", &budget_j, &used_j) == 2 &&
        isfinite(budget_j) && budget_j > 0 && isfinite(used_j) && used_j >= 0) {
        live_page_set_budget(limits->page, budget_j, used_j);
    }
}

/* The step's first node, of its first component, sends its last total and gets what was crossed. */
static void totals_end(struct limits *limits, struct apapi_record *record)
{
    uint64_t deadline_ns = deadline_now() + LAST_LIMIT_NS;
    const struct apapi_identity *id = &limits->step->id;

    if (limits->sends && id->node_index == 0 &&
        (id->het_offset == 0 || id->het_offset == APAPI_UNKNOWN) &&
        task_wait(&limits->sending, deadline_ns)) {
        totals_write(limits, &record->measurement, true);
        totals_send(limits, deadline_ns - deadline_now());
        crossings_decode(limits->answer + strcspn(limits->answer, "{"), record);
    }
}

/* ---------------------------------------------------------------------------------------------- */

int limits_patience_ms(const struct limits *limits)
{
    return clock_sooner_ms(limits->of_job || limits->sends ? clock_left_ms(limits->due_ns) : -1,
                           crossings_waiting(&limits->crossings) ? PAUSE_MS : -1);
}

void limits_work(struct limits *limits, struct apapi_session *session)
{
    struct apapi_measurement measurement;
    uint64_t now_ns = deadline_now();
    bool begun;

    limits_set(limits, session);
    if (!(limits->of_job || limits->sends) || now_ns < limits->due_ns) {
        return;
    }
    limits->due_ns = now_ns + limits->period_ns;
    begun = apapi_session_snapshot(session, &measurement, NULL) == 0;
    if (!begun) {
        measurement = (struct apapi_measurement){.elapsed_ns = 0};
    }
    if (limits->of_job) {
        limits_look_at_job(limits, &measurement, false);
    }
    if (limits->sends && begun && task_wait(&limits->sending, 0)) {
        totals_show(limits);
        totals_write(limits, &measurement, false);
        task_start(&limits->sending, totals_send_soon, limits);
    }
    apapi_measurement_clear(&measurement);
}

/* A limit may still wait to be set: a short step ends before a slow component is open. */
void limits_record(struct limits *limits, struct apapi_record *record)
{
    const struct limit *waiting = crossings_waiting(&limits->crossings);
    struct apapi_error err;

    if (limits->of_job) {
        limits_look_at_job(limits, &record->measurement, true);
        limits->of_job = false;
    }
    if (waiting) {
        apapi_fail(&err, EAGAIN, "'%.80s': no component that was ready has it", waiting->text);
        limits_trouble(limits, err.text);
    }
    crossings_end(&limits->crossings);
    crossings_copy(&limits->crossings, record);
    totals_end(limits, record);
}

void limits_close(struct limits *limits)
{
    limit_sum_clear(&limits->sum);
    crossings_end(&limits->crossings);
}
