/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/job_budget.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/number.h"
#include "budget/budget_site.h"
#include "channel/deadline.h"
#include "config/config.h"

#define SILENT_PERIODS 3
#define BATCH "batch"

/* --- actions ---------------------------------------------------------------------------------- */

/* Beside slurmstepd, or in bin beside its sbin; else by PATH. */
static void job_budget_find_scancel(pid_t slurmstepd, char *path, size_t size)
{
    static const char *const places[] = {"", "/../bin"};
    char link[64], folder[PATH_MAX];
    ssize_t length;

    snprintf(link, sizeof link, "/proc/%d/exe", (int)slurmstepd);
    length = slurmstepd ? readlink(link, folder, sizeof folder - 1) : -1;
    folder[length > 0 ? length : 0] = '\0';
    if (strrchr(folder, '/')) {
        *strrchr(folder, '/') = '\0';
    }
    for (size_t i = 0; length > 0 && i < 2; i++) {
        if (snprintf(path, size, "%s%s/scancel", folder, places[i]) < (int)size &&
            access(path, X_OK) == 0 && !strpbrk(path, " '\"$`\\")) {
            return;
        }
    }
    snprintf(path, size, "scancel");
}

/* As the user. The controller may be away for a while. */
static int job_budget_command(const struct step *step, pid_t slurmstepd, const char *options,
                              char *command, size_t size)
{
    char scancel[512], conf[PATH_MAX + 16] = "";

    job_budget_find_scancel(slurmstepd, scancel, sizeof scancel);
    if (*step->slurm_conf && !strchr(step->slurm_conf, '\'')) {
        snprintf(conf, sizeof conf, "SLURM_CONF='%s' ", step->slurm_conf);
    }
    return snprintf(command, size,
                    "i=0; until %s%s --quiet%s %" PRIu32
                    "; do i=$((i + 1)); [ $i -lt 10 ] || exit 1; sleep 2; done",
                    conf, scancel, options, step->id.job) < (int)size
               ? 0
               : -1;
}

/* @param options  of scancel; NULL: a line is all */
static int job_budget_add(const struct job_budget *budget, pid_t slurmstepd, const char *options,
                          struct threshold_list *list, size_t *index)
{
    struct threshold *threshold = &list->thresholds[list->count];

    if (list->count == THRESHOLDS_MAX) {
        errno = E2BIG;
        return -1;
    }
    *threshold = (struct threshold){
        .meter = THRESHOLD_TOTAL_NAME, .unit = THRESHOLD_ENERGY, .elsewhere = true};
    threshold->actions = THRESHOLD_LOG;
    if (options) {
        threshold->actions |= THRESHOLD_EXEC;
        if (job_budget_command(budget->step, slurmstepd, options, threshold->command,
                               sizeof threshold->command)) {
            errno = ENAMETOOLONG;
            return -1;
        }
    }
    *index = list->count++;
    return 0;
}

/* The texts are those of the record, too. */
static void job_budget_name(const struct budget *budget, bool warning, char *text, size_t size)
{
    char part[32] = "";

    if (warning) {
        snprintf(part, sizeof part, ", warn=%g%%", budget->warn * 100);
    }
    snprintf(text, size, "budget of %s of the job%s", budget->text, part);
}

/*
 * A signal is for the steps, as Slurm sends them before a time limit; a script without steps gets
 * it itself. SIGTERM ends the job, as at a time limit.
 */
static int job_budget_add_acts(const struct job_budget *budget, const struct budget *watched,
                               pid_t slurmstepd, struct threshold_list *list,
                               struct job_budget_acts *acts)
{
    const bool sends = watched->action == BUDGET_SIGNAL;
    const char *name = budget_signal_name(watched);
    char steps[64] = "", alone[64] = "";

    if (sends) {
        snprintf(steps, sizeof steps, " --signal=%s", name);
        snprintf(alone, sizeof alone, " --full --signal=%s", name);
    }
    if (job_budget_add(budget, slurmstepd, NULL, list, &acts->warning) ||
        job_budget_add(budget, slurmstepd, *name ? steps : NULL, list, &acts->steps) ||
        job_budget_add(budget, slurmstepd, *name ? alone : NULL, list, &acts->alone)) {
        return -1;
    }
    job_budget_name(watched, true, list->thresholds[acts->warning].text, THRESHOLD_TEXT_SIZE);
    job_budget_name(watched, false, list->thresholds[acts->steps].text, THRESHOLD_TEXT_SIZE);
    job_budget_name(watched, false, list->thresholds[acts->alone].text, THRESHOLD_TEXT_SIZE);
    return 0;
}

/* --- budgets ---------------------------------------------------------------------------------- */

/* The batch step knows partition and QOS. */
static void job_budget_watch_site(struct job_budget *budget)
{
    const struct config *config = &budget->step->config;
    const struct budget_place place = {budget->step->id.partition, budget->step->id.qos};
    const struct budget_site site = {
        .max = config_section_value(config, BUDGET_SECTION, BUDGET_MAX_KEY),
        .standard = config_section_value(config, BUDGET_SECTION, BUDGET_DEFAULT_KEY),
        .action = config_section_value(config, BUDGET_SECTION, BUDGET_ACTION_KEY)};
    struct budget found;

    if (budget_site_find(&site, &place, *budget->step->budget != '\0', &found)) {
        budget_watch_add(&budget->watch, &found);
    }
}

static int job_budget_watch(struct job_budget *budget, struct apapi_error *err)
{
    struct budget asked;

    if (*budget->step->budget) {
        if (budget_parse(budget->step->budget, &asked, err)) {
            return -1;
        }
        budget_watch_add(&budget->watch, &asked);
    }
    job_budget_watch_site(budget);
    return 0;
}

int job_budget_prepare(struct job_budget *budget, const struct step *step, pid_t slurmstepd,
                       struct threshold_list *thresholds, struct apapi_error *err)
{
    if (!step_watches_job(step)) {
        return 0;
    }
    *budget = (struct job_budget){.step = step, .run = 1};
    budget->period_ns = (uint64_t)step->totals_ms * DEADLINE_MS;
    budget->sum.silent_ns = SILENT_PERIODS * budget->period_ns;
    if (job_budget_watch(budget, err)) {
        budget->step = NULL;
        return -1;
    }
    for (size_t i = 0; i < budget->watch.count; i++) {
        if (job_budget_add_acts(budget, &budget->watch.budgets[i], slurmstepd, thresholds,
                                &budget->acts[i])) {
            budget->step = NULL;
            return apapi_fail(err, errno, "the budget of the job has no effect: %s",
                              errno == E2BIG ? "too many thresholds" : "paths are too long");
        }
    }
    if (budget->watch.count == 0) {
        budget->step = NULL;
    }
    return 0;
}

/* --- watching --------------------------------------------------------------------------------- */

/* The words of the option. */
static void job_budget_describe(const struct budget *budget, char *text, size_t size)
{
    const char *name = budget_signal_name(budget);

    if (budget->action == BUDGET_SIGNAL) {
        snprintf(text, size, "signal=%s@job", name);
    } else {
        snprintf(text, size, "%s", *name ? "term@job" : "log");
    }
}

static void job_budget_cross(struct job_budget *budget, const struct budget_crossing *crossed)
{
    const struct job_budget_acts *acts = &budget->acts[crossed->budget - budget->watch.budgets];
    bool alone = !budget->parts || budget->parts->running_count == 0;
    int64_t unix_ns = clock_unix_ns() - (int64_t)(deadline_now() - crossed->reached_ns);
    struct apapi_crossing crossing = {
        .unix_ns = unix_ns, .value = crossed->sum_j, .unit = "J", .count = 1, .action = "log"};

    job_budget_name(crossed->budget, crossed->warning, crossing.threshold,
                    sizeof crossing.threshold);
    if (!crossed->warning) {
        job_budget_describe(crossed->budget, crossing.action, sizeof crossing.action);
    }
    crossings_cross(budget->crossings,
                    crossed->warning ? acts->warning
                    : alone          ? acts->alone
                                     : acts->steps,
                    &crossing);
}

static void job_budget_look(struct job_budget *budget, uint64_t now_ns)
{
    struct budget_crossing crossings[BUDGET_WATCHED];
    size_t count;

    budget_job_look(&budget->sum, now_ns);
    count = budget_watch_look(&budget->watch, budget_job_total_j(&budget->sum, now_ns), now_ns,
                              crossings);
    for (size_t i = 0; i < count; i++) {
        job_budget_cross(budget, &crossings[i]);
    }
}

void job_budget_begin(struct job_budget *budget, struct crossings *crossings)
{
    budget->crossings = crossings;
}

void job_budget_work(struct job_budget *budget, struct apapi_session *session)
{
    uint64_t now_ns = deadline_now();
    struct apapi_measurement measurement;

    if (!budget->crossings || now_ns < budget->due_ns) {
        return;
    }
    budget->due_ns = now_ns + budget->period_ns;
    if (apapi_session_snapshot(session, &measurement, NULL) == 0) {
        const struct budget_report own = {budget->run, measurement.elapsed_ns,
                                          apapi_measurement_total_j(&measurement)};

        budget_job_report(&budget->sum, budget->step->id.node, BATCH, &own, now_ns);
        apapi_measurement_clear(&measurement);
    }
    job_budget_look(budget, now_ns);
}

int job_budget_pause_ms(const struct job_budget *budget)
{
    uint64_t now_ns = deadline_now();

    if (!budget->crossings) {
        return -1;
    }
    return budget->due_ns > now_ns ? (int)((budget->due_ns - now_ns) / DEADLINE_MS) + 1 : 0;
}

/* --- sruns ------------------------------------------------------------------------------------ */

/* "RUN ELAPSED_NS JOULES[ ended]" @return 0; -1: malformed. */
static int job_budget_parse(const char *text, struct budget_report *report, bool *ended)
{
    struct whole_number run, elapsed;
    struct real_number total;
    const char *rest;

    if (whole_number_parse(text, &run) || run.negative || *run.rest != ' ' ||
        whole_number_parse(run.rest + 1, &elapsed) || elapsed.negative || *elapsed.rest != ' ') {
        return -1;
    }
    *report = (struct budget_report){run.value, elapsed.value, NAN};
    rest = elapsed.rest + 1;
    if (*rest == '-') {
        rest++;
    } else if (real_number_parse(rest, &total) || !(total.value >= 0) || isinf(total.value)) {
        return -1;
    } else {
        report->total_j = total.value;
        rest = total.rest;
    }
    *ended = strcmp(rest, " ended") == 0;
    return *rest == '\0' || *ended ? 0 : -1;
}

static bool job_budget_has_room(const struct job_budget *budget)
{
    uint32_t nodes = budget->step->job_nodes;

    return nodes == APAPI_UNKNOWN || budget->sum.count <= nodes;
}

static void job_budget_take_line(struct job_budget *budget, const char *step, char *line)
{
    char *rest = strchr(line, ' ');
    struct budget_report report;
    uint64_t now_ns = deadline_now();
    bool ended;

    if (!rest || !job_budget_has_room(budget)) {
        return;
    }
    *rest++ = '\0';
    if (job_budget_parse(rest, &report, &ended)) {
        return;
    }
    if (ended) {
        budget_job_end(&budget->sum, line, step, &report, now_ns);
    } else {
        budget_job_report(&budget->sum, line, step, &report, now_ns);
    }
}

static void job_budget_take(void *context, const char *step, const char *lines)
{
    struct job_budget *budget = context;
    char line[APAPI_TEXT_SIZE + 128];

    if (!lines) {
        budget_job_end_step(&budget->sum, step, deadline_now());
        return;
    }
    for (size_t length; *lines; lines += length + (lines[length] != '\0')) {
        length = strcspn(lines, "\n");
        if (length > 0 && length < sizeof line) {
            snprintf(line, sizeof line, "%.*s", (int)length, lines);
            job_budget_take_line(budget, step, line);
        }
    }
}

void job_budget_hear(struct job_budget *budget, struct parts *parts)
{
    if (budget->step && parts->job) {
        budget->parts = parts;
        parts->totals = job_budget_take;
        parts->totals_context = budget;
    }
}

void job_budget_close(struct job_budget *budget)
{
    budget_job_clear(&budget->sum);
}
