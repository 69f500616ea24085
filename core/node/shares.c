/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/shares.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <syslog.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/folder.h"
#include "config/config.h"
#include "measure/share.h"
#include "node/cgroups.h"
#include "node/folder.h"
#include "node/gpus.h"
#include "node/hours.h"
#include "node/rest.h"
#include "node/share_claims.h"
#include "node/share_page.h"
#include "node/share_rows.h"

#define FIRST_LOOKS_NS (10 * NS_PER_S) /* a step's own sampler needs a moment to show its GPUs */

_Static_assert(SHARE_GPUS_MAX == NODE_GPUS, "each GPU of a reading is divided");

struct node_shares {
    struct node_shares_settings settings;
    struct share_rule rule;
    struct cgroups groups;
    bool found, told; /* whether there are control groups; that there are none was said */
    bool fresh;       /* nothing was read yet: steps that run have run before */
    bool blind;       /* steps run, and it is not known which */
    struct share_page *page;
    int file;
    const struct node_reading *reading; /* during a division */
    struct share_row rows[SHARE_PAGE_ROWS];
    struct share_step steps[SHARE_PAGE_ROWS]; /* those that run */
    unsigned of[SHARE_PAGE_ROWS];             /* their rows */
    size_t count, begun, lost;
    struct share_claims claims;
    uint64_t root_cpu_ns;
    double since_s[APAPI_DOMAINS]; /* the domain's meter moved */
    struct node_rest rest;
    struct hours hours;
};

static void shares_configure(struct node_shares *shares)
{
    const struct config *config = shares->settings.config;
    const char *method = config_section_value(config, "shares", "method");
    const char *idle = config_section_value(config, "shares", "idle");

    shares->rule.method = method ? share_method_find(method) : NULL;
    if (!shares->rule.method) {
        shares->rule.method = share_methods;
    }
    shares->rule.idle = idle && strcmp(idle, "cores") == 0 ? SHARE_IDLE_CORES : SHARE_IDLE_APART;
}

/* Go on from what the sampler before has left. */
static int shares_map(struct node_shares *shares, struct apapi_error *err)
{
    shares->page = node_folder_map(shares->settings.folder, NODE_SHARES, sizeof *shares->page,
                                   &shares->file, err);
    if (!shares->page) {
        return -1;
    }
    shares->fresh = !share_page_is_valid(shares->page);
    if (shares->fresh) {
        share_page_init(shares->page);
    }
    shares->claims.taken = shares->fresh ? 0 : shares->page->head.claims;
    for (int i = 0; i < SHARE_PAGE_ROWS; i++) {
        if (!share_row_read(&shares->page->rows[i], &shares->rows[i])) {
            shares->rows[i].flags = 0; /* its writer was killed in it */
        }
    }
    shares->page->head.writer = (uint64_t)getpid();
    snprintf(shares->page->head.method, sizeof shares->page->head.method, "%s",
             shares->rule.method->name);
    snprintf(shares->page->head.idle, sizeof shares->page->head.idle, "%s",
             share_idle_name(shares->rule.idle));
    return 0;
}

struct node_shares *node_shares_new(const struct node_shares_settings *settings)
{
    struct node_shares *shares = calloc(1, sizeof *shares);
    struct apapi_error err;

    if (!shares) {
        return NULL;
    }
    shares->settings = *settings;
    shares->root_cpu_ns = CGROUP_CPU_UNKNOWN;
    shares_configure(shares);
    if (shares_map(shares, &err)) {
        settings->say(LOG_NOTICE, "node %s: no shares: %s", settings->node, err.text);
        free(shares);
        return NULL;
    }
    node_rest_load(&shares->rest, settings->config->spool_dir, settings->node);
    hours_open(&shares->hours, &shares->settings, shares->rule.method->name);
    return shares;
}

static void shares_begin(struct node_shares *shares, struct share_row *row,
                         const struct cgroup_step *step)
{
    *row = (struct share_row){.inode = step->inode, .job = step->job, .flags = SHARE_ROW_USED};
    snprintf(row->step, sizeof row->step, "%s", step->step);
    row->begin_ns = shares->reading->begin_ns;
    row->cpu_ns = shares->fresh ? step->cpu_ns : 0;
    row->cores = cgroups_cores(&shares->groups, step);
    shares->begun++;
}

static unsigned shares_find_row(struct node_shares *shares, const struct cgroup_step *step)
{
    unsigned at = share_rows_find(shares->rows, step);

    if (at == SHARE_ROWS_NONE) {
        at = share_rows_free(shares->rows);
        if (at != SHARE_ROWS_NONE) {
            shares_begin(shares, &shares->rows[at], step);
        }
    }
    return at;
}

static double shares_seconds(const struct node_reading *reading)
{
    return (double)(reading->end_ns - reading->begin_ns) / NS_PER_S;
}

/* How much of the interval a step ran that began in it. */
static double shares_present_s(const struct node_reading *reading, const struct cgroup_step *step)
{
    double since_s = (double)(reading->end_unix_ns - step->born_unix_ns) / NS_PER_S;

    return fmax(0, fmin(since_s, shares_seconds(reading)));
}

static double shares_cpu_s(const struct share_row *row, uint64_t cpu_ns)
{
    if (cpu_ns == CGROUP_CPU_UNKNOWN) {
        return NAN;
    }
    return cpu_ns > row->cpu_ns ? (double)(cpu_ns - row->cpu_ns) / NS_PER_S : 0;
}

static void shares_take_gpus(struct node_shares *shares, struct share_row *row,
                             const struct node_gpus *gpus)
{
    row->gpus = gpus->bits;
    memcpy(row->slices, gpus->slices, sizeof row->slices);
    for (int i = 0; i < NODE_GPUS; i++) {
        if (gpus->slices_all[i]) {
            shares->page->head.gpu_slices[i] = gpus->slices_all[i];
        }
    }
}

static void shares_look_for_gpus(struct node_shares *shares, struct share_row *row)
{
    struct node_gpus gpus;

    if (row->gpus == 0 && shares->reading->gpus > 0 &&
        shares->reading->end_ns - row->begin_ns < (uint64_t)FIRST_LOOKS_NS) {
        node_gpus_of(shares->settings.folder, row->job, row->step, &gpus);
        shares_take_gpus(shares, row, &gpus);
    }
}

static void shares_visit(const struct cgroup_step *step, void *context)
{
    struct node_shares *shares = context;
    unsigned at = shares_find_row(shares, step);
    struct share_row *row = &shares->rows[at < SHARE_ROWS_NONE ? at : 0];

    if (at == SHARE_ROWS_NONE || shares->count == SHARE_PAGE_ROWS) {
        shares->lost++;
        return;
    }
    if (row->flags & SHARE_ROW_ENDED) {
        return;
    }
    shares_look_for_gpus(shares, row);
    shares->of[shares->count] = at;
    shares->steps[shares->count++] =
        (struct share_step){.cpu_s = shares_cpu_s(row, step->cpu_ns),
                            .cores = row->cores,
                            .seconds = shares_present_s(shares->reading, step),
                            .gpus = row->gpus,
                            .slices = row->slices};
    row->flags = SHARE_ROW_USED | SHARE_ROW_RUNNING | (row->flags & SHARE_ROW_SLICES);
    if (step->cpu_ns != CGROUP_CPU_UNKNOWN) {
        row->flags |= SHARE_ROW_COUNTED;
        row->cpu_ns = step->cpu_ns;
    }
}

/* Cores of a job count once: those that a step has are not those of the script that started it. */
static void shares_count_cores_once(struct node_shares *shares, size_t number)
{
    const struct share_row *row = &shares->rows[shares->of[number]];
    double *cores = &shares->steps[number].cores;

    if (strcmp(row->step, "extern") == 0) {
        *cores = 0;
    } else if (strcmp(row->step, "batch") == 0 || strcmp(row->step, "interactive") == 0) {
        for (size_t i = 0; i < shares->count; i++) {
            const struct share_row *other = &shares->rows[shares->of[i]];

            if (other->job == row->job && other->step[0] >= '0' && other->step[0] <= '9') {
                *cores = fmax(0, *cores - other->cores);
            }
        }
    }
}

static bool shares_has_slices(const struct share_row *row)
{
    static const uint8_t none[NODE_GPUS];

    return memcmp(row->slices, none, sizeof none) != 0;
}

static void shares_mark_slices(struct node_shares *shares)
{
    uint64_t once = 0, twice = 0;

    for (size_t i = 0; i < shares->count; i++) {
        twice |= once & shares->steps[i].gpus;
        once |= shares->steps[i].gpus;
    }
    for (size_t i = 0; i < shares->count; i++) {
        if (shares->steps[i].gpus & twice || shares_has_slices(&shares->rows[shares->of[i]])) {
            shares->rows[shares->of[i]].flags |= SHARE_ROW_SLICES;
        }
    }
}

/* Without control groups, live pages show whether any step runs. */
static void shares_look_elsewhere(struct node_shares *shares)
{
    shares->blind = node_gpus_anyone(shares->settings.folder);
    if (shares->blind && !shares->told) {
        shares->settings.say(LOG_NOTICE,
                             "node %s: steps have no control groups, so their energy is not "
                             "attributed; proctrack/cgroup with jobacct_gather/cgroup makes them",
                             shares->settings.node);
        shares->told = true;
    }
}

static void shares_scan(struct node_shares *shares)
{
    share_claims_take(&shares->claims, shares->page, shares->rows, shares->reading);
    shares->count = shares->lost = 0;
    shares->begun = shares->claims.begun;
    shares->blind = false;
    for (int i = 0; i < SHARE_PAGE_ROWS; i++) {
        shares->rows[i].flags &= ~(uint32_t)SHARE_ROW_RUNNING;
    }
    shares->found = cgroups_find(&shares->groups, shares->settings.node) &&
                    cgroups_scan(&shares->groups, shares_visit, shares);
    if (!shares->found) {
        shares_look_elsewhere(shares);
    }
    for (size_t i = 0; i < shares->count; i++) {
        shares_count_cores_once(shares, i);
    }
    shares_mark_slices(shares);
}

/* @return CPU time of all processes since the last reading [s]; NaN: not known */
static double shares_root_cpu_s(struct node_shares *shares)
{
    uint64_t before_ns = shares->root_cpu_ns;

    shares->root_cpu_ns = shares->found ? cgroups_root_cpu_ns(&shares->groups) : CGROUP_CPU_UNKNOWN;
    if (before_ns == CGROUP_CPU_UNKNOWN || shares->root_cpu_ns == CGROUP_CPU_UNKNOWN ||
        shares->root_cpu_ns < before_ns) {
        return NAN;
    }
    return (double)(shares->root_cpu_ns - before_ns) / NS_PER_S;
}

/* A slow meter's energy is that of several intervals, and so is its idle part. */
static double shares_idle_w(struct node_shares *shares, int domain, double seconds)
{
    double *since_s = &shares->since_s[domain];
    double idle_w;

    *since_s += seconds;
    idle_w = shares->rest.idle_w[domain] * (*since_s / seconds);
    if (shares->reading->energy_j[domain] > 0) {
        *since_s = 0;
    }
    return idle_w;
}

static void shares_learn(struct node_shares *shares, double cpu_s, double seconds)
{
    bool busy = shares->count > 0 || shares->blind || shares->lost > 0 || shares->claims.any;

    if (busy || shares->reading->gap) {
        node_rest_busy(&shares->rest);
    } else {
        node_rest_add(&shares->rest, shares->reading->energy_j, cpu_s, seconds);
    }
}

static void shares_describe(struct node_shares *shares, struct share_interval *interval)
{
    const struct node_reading *reading = shares->reading;
    double cpu_s = shares_root_cpu_s(shares);

    interval->seconds = shares_seconds(reading);
    memcpy(interval->energy_j, reading->energy_j, sizeof interval->energy_j);
    memcpy(interval->gpu_j, reading->gpu_energy_j, sizeof interval->gpu_j);
    interval->gpu_slices = shares->page->head.gpu_slices;
    interval->cores = (double)sysconf(_SC_NPROCESSORS_ONLN);
    shares_learn(shares, cpu_s, interval->seconds);
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        interval->idle_w[d] = shares_idle_w(shares, d, interval->seconds);
    }
    interval->cpu_s = cpu_s - shares->rest.cores * interval->seconds - shares->claims.cpu_s;
}

static void shares_keep(struct node_shares *shares, double seconds)
{
    for (size_t i = 0; i < shares->count; i++) {
        struct share_row *row = &shares->rows[shares->of[i]];

        row->time_ns = shares->reading->end_ns;
        for (int d = 0; d < APAPI_DOMAINS; d++) {
            row->energy_j[d] += shares->steps[i].energy_j[d];
            row->idle_j[d] += shares->steps[i].idle_j[d];
            row->power_w[d] = shares->steps[i].energy_j[d] / seconds;
        }
    }
    for (int i = 0; i < SHARE_PAGE_ROWS; i++) {
        if (shares->rows[i].time_ns == shares->reading->end_ns ||
            (shares->page->rows[i].flags & SHARE_ROW_RUNNING) !=
                (shares->rows[i].flags & SHARE_ROW_RUNNING)) {
            share_row_write(&shares->page->rows[i], &shares->rows[i]);
        }
    }
}

/* Energy for each unit of the method's weight: the same for all steps, so any of them shows it. */
static void shares_show_rate(struct node_shares *shares, struct share_head *head)
{
    for (size_t i = 0; i < shares->count; i++) {
        const struct share_step *step = &shares->steps[i];
        double weight = shares->rule.method->weight(step);

        for (int d = 0; weight > 0 && d < APAPI_DOMAINS; d++) {
            head->rate[d] = (step->energy_j[d] - step->idle_j[d]) / weight;
        }
    }
}

static void shares_show(struct node_shares *shares, const struct share_interval *interval)
{
    struct share_head *head = &shares->page->head;

    shares_show_rate(shares, head);

    head->interval_ns = shares->reading->end_ns - shares->reading->begin_ns;
    memcpy(head->idle_w, shares->rest.idle_w, sizeof head->idle_w);
    memcpy(head->energy_j, interval->energy_j, sizeof head->energy_j);
    __atomic_store_n(&head->time_ns, shares->reading->end_ns, __ATOMIC_RELEASE);
}

/* Steps that nobody knows: a single one, of which nothing is known. */
static void shares_stand_in(struct share_step *step)
{
    *step = (struct share_step){.cpu_s = NAN, .cores = NAN, .seconds = NAN};
}

void node_shares_add(struct node_shares *shares, const struct node_reading *reading)
{
    struct share_totals totals = {.energy_j = {0}};
    struct share_interval interval;
    double paid_j[APAPI_DOMAINS];
    size_t count;

    if (!shares || reading->end_ns <= reading->begin_ns) {
        return;
    }
    shares->reading = reading;
    shares_scan(shares);
    shares_describe(shares, &interval);
    count = shares->count;
    if (count == 0 && (shares->blind || shares->lost > 0)) {
        shares_stand_in(&shares->steps[count++]);
    }
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        paid_j[d] = share_claims_pay(&shares->claims, d, &interval.energy_j[d]);
    }
    share_divide(&shares->rule, &interval, shares->steps, count, &totals);
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        double returned_j = share_claims_return(&shares->claims, d);

        totals.energy_j[d] += paid_j[d];
        totals.steps_j[d] += paid_j[d] - returned_j;
        totals.unattributed_j[d] += returned_j;
    }
    shares_keep(shares, interval.seconds);
    shares_show(shares, &interval);
    hours_add(&shares->hours,
              &(struct hours_interval){reading, &totals, shares->count, shares->begun},
              &shares->rest);
    shares->fresh = false;
}

void node_shares_free(struct node_shares *shares)
{
    if (!shares) {
        return;
    }
    hours_owe(&shares->hours, shares->claims.owed_j);
    hours_close(&shares->hours, &shares->rest);
    munmap(shares->page, sizeof *shares->page);
    folder_close(shares->file);
    free(shares);
}
