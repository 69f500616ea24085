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

#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "channel/deadline.h"

#define SILENT_PERIODS 3
#define UNHEARD_PERIODS 30 /* for the first total: the step may begin late */
#define TOLD_MAX 3         /* nodes that are named at once */
#define KILL_WAIT_S 30     /* Slurm's default, if scontrol does not say it */
#define KILL_WAIT_MAX_S 3600
#define LATE_NS (2000 * DEADLINE_MS)  /* for scancel: then the first attempt has failed */
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

/* Who reads it may wait for its end. */
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
    char line[512];
    va_list arguments;
    size_t length;
    int written;

    if (limits->speaker < 0 || poll(&ready, 1, 0) != 1) {
        return;
    }
    length = (size_t)snprintf(line, sizeof line, "apapi: step %s: ", limits->step);
    va_start(arguments, format);
    written = vsnprintf(line + length, sizeof line - 1 - length, format, arguments);
    va_end(arguments);
    length +=
        (size_t)written < sizeof line - 1 - length ? (size_t)written : sizeof line - 2 - length;
    line[length++] = '\n';
    if (send(limits->speaker, line, length, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno == ENOTSOCK) {
        (void)!write(limits->speaker, line, length);
    }
}

/* --- totals ----------------------------------------------------------------------------------- */

/* In ascending order. One that is there already, or has no room, is not added. */
static void limits_add_job(struct collect_limits *limits, uint32_t job)
{
    size_t place = limits->job_count;

    while (place > 0 && limits->jobs[place - 1] > job) {
        place--;
    }
    if (limits->job_count == COLLECT_JOBS_MAX || (place > 0 && limits->jobs[place - 1] == job)) {
        return;
    }
    memmove(&limits->jobs[place + 1], &limits->jobs[place],
            (limits->job_count++ - place) * sizeof *limits->jobs);
    limits->jobs[place] = job;
}

static bool limits_have_room(const struct collect_limits *limits, const char *name)
{
    for (size_t i = 0; i < limits->sum.count; i++) {
        if (strcmp(limits->sum.nodes[i].name, name) == 0) {
            return true;
        }
    }
    return limits->nodes == 0 || limits->sum.count < limits->nodes;
}

/* What a reader of the record would not expect of an action. */
static const char *limits_pending(const void *context, uint64_t number)
{
    const struct collect_limits *limits = context;

    for (size_t i = 0; i < limits->act_count; i++) {
        const struct collect_act *act = &limits->acts[i];

        if (act->crossing == number && act->stage == ACT_FAILED) {
            return "not sent";
        }
        if (act->crossing == number && act->stage == ACT_SENDING &&
            deadline_now() > act->begun_ns + LATE_NS) {
            return "not sent yet";
        }
    }
    return "";
}

static void limits_answer(const struct collect_limits *limits, int fd)
{
    double least_j = INFINITY;
    char text[8192];
    size_t length = 0;

    for (size_t i = 0; i < limits->list.count; i++) {
        const struct limit *limit = &limits->list.limits[i];

        if (limit->scope == LIMIT_STEP && limit->condition == LIMIT_TOTAL && !limit->warning) {
            least_j = fmin(least_j, limit->amount);
        }
    }
    if (isfinite(least_j)) {
        length = (size_t)snprintf(text, sizeof text, APAPI_ANSWER_BUDGET "%.9g %.9g\n", least_j,
                                  limit_sum_total_j(&limits->sum, deadline_now()));
    }
    length += crossings_write(&limits->crossings, limits_pending, limits, text + length,
                              sizeof text - length);
    send(fd, text, length, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* "RUN ELAPSED_NS JOULES JOB" */
static void limits_take_total(void *context, const struct delivery *delivery, int fd)
{
    struct collect_limits *limits = context;
    uint64_t now_ns = deadline_now();
    struct limit_report report;
    struct whole_number job;
    const char *rest = limit_report_read(delivery->payload, &report);

    if (!rest || *rest != ' ' || whole_number_parse(rest + 1, &job) || job.negative || *job.rest ||
        job.value == 0 || job.value > UINT32_MAX || !limits_have_room(limits, delivery->node)) {
        return;
    }
    limits_add_job(limits, (uint32_t)job.value);
    limits->heard_ns = limits->heard_ns ? limits->heard_ns : now_ns;
    limit_sum_report(&limits->sum, delivery->node, &report, now_ns);
    limits->next_ns = now_ns;
    limits_answer(limits, fd);
}

static void limits_take_end(void *context, const char *node, double total_j)
{
    struct collect_limits *limits = context;

    if (limits_have_room(limits, node)) {
        limit_sum_end(&limits->sum, node, total_j);
        limits->next_ns = deadline_now();
    }
}

/* A node whose step was too short for a total has none. */
void collect_limits_pass(const struct collect_limits *limits)
{
    char *lines = NULL, text[96];
    size_t size = 0;
    FILE *out = limits->forward && forward_is_open(limits->forward) && limits->sum.count > 0
                    ? open_memstream(&lines, &size)
                    : NULL;

    if (!out) {
        return;
    }
    for (size_t i = 0; i < limits->sum.count; i++) {
        const struct limit_node *node = &limits->sum.nodes[i];
        struct limit_report report = node->latest;

        report.run = report.run ? report.run : 1;
        limit_report_write(&report, text, sizeof text);
        fprintf(out, "%s %s%s\n", node->name, text, node->ended ? " ended" : "");
    }
    if (fclose(out) != EOF) {
        forward_totals(limits->forward, lines, size);
    }
    free(lines);
}

/* --- the actor -------------------------------------------------------------------------------- */

/* Nobody who reads srun's output, and nobody who waits for the collector, waits for the actor. */
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

static void limits_start_actor(struct collect_limits *limits, const struct message *message)
{
    const char *slurm_bin = message_value(message, "slurm_bin");
    const char *slurm_conf = message_value(message, "slurm_conf");
    char bin[PATH_MAX + 32], conf[PATH_MAX + 16];
    char *const variables[] = {bin, slurm_conf ? conf : NULL, NULL};
    const struct actor_config config = {.limits = &limits->list,
                                        .node = "",
                                        .line_fd = -1,
                                        .uid = getuid(),
                                        .captures = true,
                                        .grace_ns = GRACE_NS,
                                        .settle = limits_settle,
                                        .launch = limits_launch,
                                        .variables = variables};

    snprintf(bin, sizeof bin, "APAPI_SLURM_BIN=%s%s", slurm_bin ? slurm_bin : "",
             slurm_bin && *slurm_bin ? "/" : "");
    snprintf(conf, sizeof conf, "SLURM_CONF=%s", slurm_conf ? slurm_conf : "");
    limits->actor = ACTOR_NONE;
    actor_start(&limits->actor, &config, NULL);
    crossings_init(&limits->crossings, &limits->list, &limits->actor);
}

/* --- beginning -------------------------------------------------------------------------------- */

/* The site's budget, as soon as partition and QOS are known. */
static void limits_add_site(struct collect_limits *limits, const struct limit_place *place)
{
    struct limit found;

    if (limit_site_find(&limits->site, place, limits->asked_budget, &found)) {
        limit_list_add_budget(&limits->list, &found, LIMIT_STEP);
    }
}

static void limits_ask_place(struct collect_limits *limits)
{
    struct order order = {.kind = ORDER_RUN, .number = PLACE_NUMBER};

    snprintf(order.command, sizeof order.command,
             "\"${APAPI_SLURM_BIN}squeue\" --noheader \"--format=%%P %%q\" --job %.*s",
             (int)strcspn(limits->step, "."), limits->step);
    actor_order(&limits->actor, &order);
}

static void limits_take_place(struct collect_limits *limits, struct order_answer *answer)
{
    char *qos = strchr(answer->text, ' ');
    struct limit_place place = {"", ""};

    if (answer->status == 0 && qos) {
        *qos++ = '\0';
        qos[strcspn(qos, " \n")] = '\0';
        place = (struct limit_place){answer->text, qos};
    } else {
        speak(limits, "partition and QOS are not known: %.200s", answer->text);
    }
    limits_add_site(limits, &place);
}

/* The step's own limits, as the nodes have theirs; what is wrong was said at the prompt. */
static void limits_add_user(struct collect_limits *limits, const struct message *message)
{
    const char *lines = message_value(message, "overflow");
    const char *text = message_value(message, "budget");
    static struct limit_list all; /* large */
    struct limit budget;

    if (lines && limit_list_parse(&all, lines, NULL) == 0) {
        for (size_t i = 0; i < all.count; i++) {
            if (all.limits[i].scope == LIMIT_STEP) {
                limits->list.limits[limits->list.count++] = all.limits[i];
            }
        }
    }
    limits->asked = limits->list.count > 0;
    limits->asked_budget = text && limit_parse_budget(text, &budget, NULL) == 0;
    if (limits->asked_budget) {
        limit_list_add_budget(&limits->list, &budget, LIMIT_STEP);
        limits->asked = true;
    }
}

void collect_limits_begin(struct collect_limits *limits, const struct message *message,
                          struct receiver *receiver)
{
    uint64_t totals_ms = message_number(message, "totals_ms");
    const char *step = message_value(message, "step"), *path = message_value(message, "config");

    limits->speaker = -1;
    limits->actor = ACTOR_NONE;
    if (totals_ms == 0) {
        return;
    }
    limits->active = true;
    limits->forward = receiver->forward;
    limits->of_job = message_value(message, "job_budget") != NULL;
    limits->begun_ns = deadline_now();
    limits->nodes = receiver->nodes;
    limits->period_ns = limit_period_ns(totals_ms * DEADLINE_MS, limits->nodes);
    limits->sum.silent_ns = SILENT_PERIODS * limits->period_ns;
    limits->watch = (struct limit_watch){.limits = &limits->list, .scope = LIMIT_STEP};
    snprintf(limits->step, sizeof limits->step, "%s", step ? step : "");
    limits_add_job(limits, (uint32_t)strtoul(limits->step, NULL, 10));
    config_defaults(&limits->config);
    if (path) {
        config_read(&limits->config, path, NULL);
    }
    limits->site = limit_site_of(&limits->config);
    limits_add_user(limits, message);
    limits_start_actor(limits, message);
    limits->speaker = speaker_open();
    if (message_value(message, "quiet")) {
        speaker_close(limits);
    }
    if (limit_site_varies(&limits->site)) {
        limits_ask_place(limits);
    } else {
        limits_add_site(limits, &(struct limit_place){"", ""});
    }
    receiver->total = limits_take_total;
    receiver->ended = limits_take_end;
    receiver->budget_context = limits;
}

/* --- signals ---------------------------------------------------------------------------------- */

/* Slurm passes a signal for a heterogeneous job on to all its components. */
static int limits_cancel(struct collect_limits *limits, size_t number, const char *signal)
{
    const struct collect_act *act = &limits->acts[number];
    bool whole_job = limits->list.limits[act->limit].whole_job;
    const char *dot = strchr(limits->step, '.'), *then = "";
    char arguments[COLLECT_JOBS_MAX * 80 + 32] = "";
    size_t length = 0, jobs = whole_job ? 1 : limits->job_count;

    if (signal) {
        length = (size_t)snprintf(arguments, sizeof arguments, " --signal=%s", signal);
    }
    for (size_t i = 0; i < jobs && i < limits->job_count; i++) {
        length += (size_t)snprintf(arguments + length, sizeof arguments - length, " %u%.64s",
                                   limits->jobs[i],
                                   whole_job ? ""
                                   : dot     ? dot
                                             : "");
    }
    if (act->terminates && act->stage == ACT_SENDING) {
        then = "; \"${APAPI_SLURM_BIN}scontrol\" show config | sed -n 's/^KillWait *= *//p'";
    }
    return crossings_cancel(&limits->crossings, number, arguments, then);
}

static void limits_fail(struct collect_limits *limits, struct collect_act *act, char *reason)
{
    reason[strcspn(reason, "\n")] = '\0';
    act->stage = ACT_FAILED;
    speak(limits, "the budget of %s has no effect: %.200s", limits->list.limits[act->limit].text,
          reason);
}

static void limits_send(struct collect_limits *limits, size_t limit, uint64_t crossing,
                        bool terminates)
{
    const struct limit *of = &limits->list.limits[limit];
    struct collect_act *act = &limits->acts[limits->act_count];
    bool ends_job = terminates && of->whole_job;
    char reason[64];

    if (limits->act_count == COLLECT_ACTS_MAX) {
        return;
    }
    *act = (struct collect_act){.stage = ACT_SENDING,
                                .limit = limit,
                                .crossing = crossing,
                                .begun_ns = deadline_now(),
                                .terminates = terminates && !of->whole_job};
    limits->ending |= terminates;
    if (limits_cancel(limits, limits->act_count++,
                      ends_job     ? NULL
                      : terminates ? "TERM"
                                   : limit_signal_name(of->signal))) {
        snprintf(reason, sizeof reason, "%s", strerror(errno));
        limits_fail(limits, act, reason);
    }
}

/* KillWait of Slurm, "30 sec", comes with the answer to SIGTERM. */
static void limits_hear_act(struct collect_limits *limits, struct order_answer *answer)
{
    struct collect_act *act = &limits->acts[answer->number];
    unsigned long seconds;

    if (answer->status != 0) {
        limits_fail(limits, act, answer->text);
    } else if (act->stage == ACT_SENDING && act->terminates) {
        seconds = strtoul(answer->text, NULL, 10);
        seconds = seconds > 0 && seconds <= KILL_WAIT_MAX_S ? seconds : KILL_WAIT_S;
        act->stage = ACT_WAITING;
        act->kill_ns = deadline_now() + seconds * 1000 * DEADLINE_MS;
    } else {
        act->stage = ACT_DONE;
    }
}

static void limits_hear(struct collect_limits *limits)
{
    struct order_answer answer;

    while (actor_hear(&limits->actor, &answer)) {
        if (!answer.ran) {
            crossings_note(&answer, &limits->crossings);
        } else if (answer.number == PLACE_NUMBER) {
            limits_take_place(limits, &answer);
        } else if (answer.number < limits->act_count) {
            limits_hear_act(limits, &answer);
        }
    }
    for (size_t i = 0; i < limits->act_count; i++) {
        struct collect_act *act = &limits->acts[i];

        if (act->stage == ACT_WAITING && deadline_now() >= act->kill_ns) {
            act->stage = ACT_KILLING;
            limits_cancel(limits, i, "KILL");
        }
    }
}

/* --- crossings -------------------------------------------------------------------------------- */

/* Signals go before what may take longer. A step that has ended, or is being ended, needs none. */
static void limits_cross(struct collect_limits *limits, const struct limit_crossed *crossed,
                         double sum_j)
{
    const struct limit *limit = &limits->list.limits[crossed->limit];
    const char *signal = limit_first_signal(limit);
    bool over = limits->nodes > 0 && limit_sum_ended(&limits->sum) >= limits->nodes;
    bool acts = *signal && !over && !limits->ending;
    struct apapi_crossing crossing = {
        .unix_ns = clock_unix_ns() - (int64_t)(deadline_now() - crossed->crossing.time_ns),
        .value = sum_j,
        .unit = "J",
        .count = limits->watch.counts[crossed->limit],
        .action = ""};
    char sum[UNITS_SIZE], action[64] = "";
    uint64_t number;

    if (*signal && !acts) {
        strcpy(crossing.action, "log");
    }
    number = crossings_cross(&limits->crossings, crossed->limit, &crossing);
    if (acts && (limit->actions & LIMIT_SIGNAL)) {
        limits_send(limits, crossed->limit, number, false);
    }
    if (acts && (limit->actions & LIMIT_TERM)) {
        limits_send(limits, crossed->limit, number, true);
    }
    if (acts) {
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
    char power[UNITS_SIZE];

    units_quantity(power, sizeof power, node->power_w, "W");
    if (node->silent && isnan(node->power_w)) {
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
        if (!node->ended && (limits->list.count > 0 || limits->of_job) && told++ < TOLD_MAX) {
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

    if (limits->counted || !limits->asked || now_ns < due_ns) {
        return;
    }
    limits->counted = true;
    if (known < limits->nodes) {
        speak(limits, "the energy of %zu of %zu nodes is not known: the budget is without them",
              limits->nodes - known, limits->nodes);
    }
}

static void limits_look(struct collect_limits *limits)
{
    struct limit_crossed crossed[LIMITS_ROOM];
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
    count = limit_watch_look(&limits->watch, sum_j, now_ns, crossed);
    for (size_t i = 0; i < count; i++) {
        limits_cross(limits, &crossed[i], sum_j);
    }
}

void collect_limits_work(struct collect_limits *limits)
{
    if (limits->active) {
        limits_hear(limits);
        if (deadline_now() >= limits->next_ns) {
            limits_look(limits);
        }
    }
}

int collect_limits_pause_ms(const struct collect_limits *limits)
{
    uint64_t due_ns = limits->next_ns, now_ns = deadline_now();

    if (!limits->active) {
        return -1;
    }
    for (size_t i = 0; i < limits->act_count; i++) {
        const struct collect_act *act = &limits->acts[i];

        if (act->stage == ACT_WAITING && act->kill_ns < due_ns) {
            due_ns = act->kill_ns;
        }
    }
    return due_ns > now_ns ? (int)((due_ns - now_ns) / DEADLINE_MS) + 1 : 0;
}

int collect_limits_fd(const struct collect_limits *limits)
{
    return limits->active ? limits->actor.fd : -1;
}

/* The actor ends by itself, when it has nothing to do any more. */
void collect_limits_end(struct collect_limits *limits)
{
    speaker_close(limits);
    if (limits->actor.fd >= 0) {
        close(limits->actor.fd);
        limits->actor = ACTOR_NONE;
    }
    limits->active = false;
}
