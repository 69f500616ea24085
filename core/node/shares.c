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
#include "base/shared_page.h"
#include "node/share_page.h"

#define NO_ROW SHARE_PAGE_ROWS
#define FIRST_LOOKS_NS (10 * NS_PER_S) /* a step's own sampler needs a moment to show its GPUs */

_Static_assert(SHARE_GPUS_MAX == NODE_GPUS, "each GPU of a reading is divided");

/* Claims of steps that have ended, and the energy that is still owed for the claims. */
struct share_claims {
    uint64_t settled, unready; /* numbers: the last settled claim; an incomplete one */
    size_t begun;              /* in this interval: claims of steps that no reading has seen */
    bool any;                  /* there are claims in this interval */
    double cpu_s;              /* CPU time that the claims of this interval state [s] */
    double owed_j[APAPI_DOMAINS];
    double returned_j[APAPI_DOMAINS]; /* from rows that had more than the record says */
};

struct node_shares {
    struct node_shares_settings settings;
    struct share_rule rule;
    struct cgroups groups;
    bool found, warned; /* there are control groups; the log says that there are none */
    bool refused;       /* the log says that the site's idle power is too high */
    bool fresh;         /* a new page, nothing read yet: CPU time of running steps is from before */
    bool blind;         /* steps run, but it is not known which ones */
    struct share_page *page;
    const struct node_reading *reading; /* during a division */
    struct share_row rows[SHARE_PAGE_ROWS];
    struct share_step steps[SHARE_PAGE_ROWS]; /* the running steps */
    unsigned of[SHARE_PAGE_ROWS];             /* the rows of `steps` */
    size_t count, begun, lost;
    struct share_claims claims;
    uint64_t root_cpu_ns;
    double since_s[APAPI_DOMAINS]; /* time since the domain's meter moved */
    struct node_idle idle;
    struct node_hours hours;
};

/* --- shares ----------------------------------------------------------------------------------- */

struct node_shares *node_shares_new(const struct node_shares_settings *settings)
{
    const char *method = config_section_value(settings->config, "shares", "method");
    const char *idle = config_section_value(settings->config, "shares", "idle");
    struct node_shares *shares = calloc(1, sizeof *shares);
    struct share_page *page;
    struct apapi_error err;

    if (!shares) {
        return NULL;
    }
    shares->page = page = node_folder_map(settings->folder, NODE_SHARES, sizeof *page, NULL, &err);
    if (!page) {
        settings->say(LOG_NOTICE, "node %s: no shares: %s", settings->node, err.text);
        free(shares);
        return NULL;
    }
    shares->settings = *settings;
    shares->root_cpu_ns = CGROUP_CPU_UNKNOWN;
    shares->rule.method = method ? share_method_find(method) : NULL;
    if (!shares->rule.method) {
        shares->rule.method = share_methods;
    }
    shares->rule.idle = idle && strcmp(idle, "cores") == 0 ? SHARE_IDLE_CORES : SHARE_IDLE_APART;
    shares->fresh = !share_page_is_valid(page);
    if (shares->fresh) {
        share_page_init(page);
    }
    shares->claims.settled = page->head.claims; /* earlier claims count as settled */
    for (int i = 0; i < SHARE_PAGE_ROWS; i++) {
        if (!shared_record_read(&page->rows[i], &shares->rows[i], sizeof shares->rows[i])) {
            shares->rows[i].flags = 0; /* its writer was killed while writing */
        }
    }
    page->head.writer = (uint64_t)getpid();
    snprintf(page->head.method, sizeof page->head.method, "%s", shares->rule.method->name);
    snprintf(page->head.idle, sizeof page->head.idle, "%s", share_idle_name(shares->rule.idle));
    node_idle_load(&shares->idle, settings->config->spool_dir, settings->node,
                   config_section_value(settings->config, "shares", "idle_w"));
    shares->hours = (struct node_hours){
        .settings = &shares->settings, .idle = &shares->idle, .method = shares->rule.method->name};
    node_hours_open(&shares->hours);
    return shares;
}

/* @return the number of the row with this job, step and inode; NO_ROW: there is none. */
static unsigned shares_find(const struct share_row *rows, uint32_t job, const char *step,
                            uint64_t inode)
{
    unsigned at = 0;

    while (at < SHARE_PAGE_ROWS &&
           !(rows[at].flags & SHARE_ROW_USED && rows[at].inode == inode && rows[at].job == job &&
             strncmp(rows[at].step, step, sizeof rows[at].step) == 0)) {
        at++;
    }
    return at;
}

/* Clear a free row, or that of the step that ended first. @return its number; NO_ROW: all run. */
static unsigned shares_begin(struct share_row *rows, uint32_t job, const char *step, uint64_t inode)
{
    unsigned oldest = NO_ROW;

    for (unsigned i = 0; i < SHARE_PAGE_ROWS; i++) {
        if (!(rows[i].flags & SHARE_ROW_USED)) {
            oldest = i;
            break;
        }
        if (!(rows[i].flags & SHARE_ROW_RUNNING) &&
            (oldest == NO_ROW || rows[i].time_ns < rows[oldest].time_ns)) {
            oldest = i;
        }
    }
    if (oldest != NO_ROW) {
        rows[oldest] = (struct share_row){.inode = inode, .job = job};
        snprintf(rows[oldest].step, sizeof rows[oldest].step, "%.*s", SHARE_PAGE_STEP - 1, step);
    }
    return oldest;
}

/* --- steps that have ended -------------------------------------------------------------------- */

/*
 * Set the row to the claim. A reading after the claim was made has added a part to the row already.
 * A record may say less than the row: no step has more than the node used while the step ran.
 */
static void claims_settle_one(struct share_claims *claims, const struct share_claim *claim,
                              struct share_row *rows, const struct node_reading *reading)
{
    unsigned at = shares_find(rows, claim->job, claim->step, claim->inode);
    struct share_row *row;

    claims->any = true;
    claims->cpu_s += claim->cpu_s > 0 ? claim->cpu_s : 0;
    if (at == NO_ROW) { /* no reading has seen the step */
        at = shares_begin(rows, claim->job, claim->step, claim->inode);
        if (at == NO_ROW) {
            return;
        }
        rows[at].begin_ns = reading->begin_ns;
        claims->begun++;
    }
    row = &rows[at];
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        double more_j = claim->energy_j[d] - row->energy_j[d];

        if (isfinite(more_j)) {
            *(more_j > 0 ? &claims->owed_j[d] : &claims->returned_j[d]) += fabs(more_j);
            row->energy_j[d] = claim->energy_j[d];
            row->idle_j[d] = claim->idle_j[d];
        }
    }
    row->flags |= SHARE_ROW_USED | SHARE_ROW_ENDED;
    row->time_ns = reading->end_ns;
}

/*
 * Settle the claims of an interval: the rows of the steps get the energy of the claims, and none
 * later. An incomplete claim gets one more look, as its writer may have been killed.
 */
static void claims_settle(struct share_claims *claims, const struct share_page *page,
                          struct share_row *rows, const struct node_reading *reading)
{
    uint64_t made = __atomic_load_n(&page->head.claims, __ATOMIC_ACQUIRE);
    struct share_claim claim;

    claims->any = false;
    claims->cpu_s = 0;
    claims->begun = 0;
    for (; claims->settled < made; claims->settled++) {
        if (share_page_claimed(page, claims->settled + 1, &claim)) {
            claims_settle_one(claims, &claim, rows, reading);
        } else if (claims->unready != claims->settled + 1 &&
                   made - claims->settled < SHARE_PAGE_CLAIMS) {
            claims->unready = claims->settled + 1;
            return;
        }
    }
}

/* --- steps that run --------------------------------------------------------------------------- */

static double shares_seconds(const struct node_reading *reading)
{
    return (double)(reading->end_ns - reading->begin_ns) / NS_PER_S;
}

static void shares_look_for_gpus(struct node_shares *shares, struct share_row *row)
{
    uint8_t *slices_all = shares->page->head.gpu_slices;
    struct node_gpus gpus;

    if (row->gpus != 0 || shares->reading->gpus == 0 ||
        shares->reading->end_ns - row->begin_ns >= (uint64_t)FIRST_LOOKS_NS) {
        return;
    }
    node_gpus_of(shares->settings.config->live_dir, shares->settings.node, row->job, row->step,
                 &gpus);
    row->gpus = gpus.bits;
    memcpy(row->slices, gpus.slices, sizeof row->slices);
    for (int i = 0; i < NODE_GPUS; i++) {
        slices_all[i] = gpus.slices_all[i] ? gpus.slices_all[i] : slices_all[i];
    }
}

static void shares_visit(const struct cgroup_step *step, void *context)
{
    struct node_shares *shares = context;
    const struct node_reading *reading = shares->reading;
    unsigned at = shares_find(shares->rows, step->job, step->step, step->inode);
    bool begins = at == NO_ROW, counted = step->cpu_ns != CGROUP_CPU_UNKNOWN;
    double interval_s = shares_seconds(reading), born_s;
    struct share_row *row;

    at = begins ? shares_begin(shares->rows, step->job, step->step, step->inode) : at;
    row = &shares->rows[at < NO_ROW ? at : 0];
    if (begins && at < NO_ROW) {
        born_s = (double)(reading->end_unix_ns - step->born_unix_ns) / NS_PER_S;
        row->begin_ns = reading->end_ns - (uint64_t)(fmax(0, fmin(born_s, interval_s)) * NS_PER_S);
        row->cpu_ns = shares->fresh ? step->cpu_ns : 0;
        row->cores = cgroups_cores(&shares->groups, step);
        shares->begun++;
    }
    if (at == NO_ROW || shares->count == SHARE_PAGE_ROWS) {
        shares->lost++;
        return;
    }
    if (row->flags & SHARE_ROW_ENDED) {
        return;
    }
    shares_look_for_gpus(shares, row);
    shares->of[shares->count] = at;
    shares->steps[shares->count++] = (struct share_step){
        .cpu_s = !counted                     ? NAN
                 : step->cpu_ns > row->cpu_ns ? (double)(step->cpu_ns - row->cpu_ns) / NS_PER_S
                                              : 0,
        .cores = row->cores,
        .seconds = fmin((double)(reading->end_ns - row->begin_ns) / NS_PER_S, interval_s),
        .gpus = row->gpus,
        .slices = row->slices};
    row->flags = SHARE_ROW_USED | SHARE_ROW_RUNNING | (row->flags & SHARE_ROW_SLICES);
    if (counted) {
        row->flags |= SHARE_ROW_COUNTED;
        row->cpu_ns = step->cpu_ns;
    }
}

/* Count each core of a job once: the cores of a step are not counted for the job's script, too. */
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

static void shares_mark_slices(struct node_shares *shares)
{
    static const uint8_t none[NODE_GPUS];
    uint64_t once = 0, twice = 0;

    for (size_t i = 0; i < shares->count; i++) {
        twice |= once & shares->steps[i].gpus;
        once |= shares->steps[i].gpus;
    }
    for (size_t i = 0; i < shares->count; i++) {
        struct share_row *row = &shares->rows[shares->of[i]];

        if (shares->steps[i].gpus & twice || memcmp(row->slices, none, sizeof none) != 0) {
            row->flags |= SHARE_ROW_SLICES;
        }
    }
}

static void shares_scan(struct node_shares *shares)
{
    claims_settle(&shares->claims, shares->page, shares->rows, shares->reading);
    shares->count = shares->lost = 0;
    shares->begun = shares->claims.begun;
    shares->blind = false;
    for (int i = 0; i < SHARE_PAGE_ROWS; i++) {
        shares->rows[i].flags &= ~(uint32_t)SHARE_ROW_RUNNING;
    }
    shares->found = cgroups_find(&shares->groups, shares->settings.node) &&
                    cgroups_scan(&shares->groups, shares_visit, shares);
    if (!shares->found) { /* live pages show whether any step runs */
        shares->blind =
            node_any_step_is_live(shares->settings.config->live_dir, shares->settings.node);
        if (shares->blind && !shares->warned) {
            shares->settings.say(LOG_NOTICE,
                                 "node %s: steps have no control groups, so their energy is not "
                                 "attributed; proctrack/cgroup with jobacct_gather/cgroup makes "
                                 "them",
                                 shares->settings.node);
            shares->warned = true;
        }
    }
    for (size_t i = 0; i < shares->count; i++) {
        shares_count_cores_once(shares, i);
    }
    shares_mark_slices(shares);
}

static void shares_refuse_idle(struct node_shares *shares)
{
    const struct node_idle *idle = &shares->idle;

    if (!isnan(idle->refuse_w) && !shares->refused) {
        shares->settings.say(LOG_WARNING,
                             "node %s: idle_w = %g in [shares] is not used: packages and memory "
                             "have drawn only %.4g W",
                             shares->settings.node, idle->site_w, idle->refuse_w);
        shares->refused = true;
    }
}

static void shares_describe(struct node_shares *shares, struct share_interval *interval)
{
    const struct node_reading *reading = shares->reading;
    uint64_t before_ns = shares->root_cpu_ns;
    double cpu_s = NAN, seconds = shares_seconds(reading); /* cpu_s: of all processes */

    shares->root_cpu_ns = shares->found ? cgroups_root_cpu_ns(&shares->groups) : CGROUP_CPU_UNKNOWN;
    if (before_ns != CGROUP_CPU_UNKNOWN && shares->root_cpu_ns != CGROUP_CPU_UNKNOWN &&
        shares->root_cpu_ns >= before_ns) {
        cpu_s = (double)(shares->root_cpu_ns - before_ns) / NS_PER_S;
    }
    interval->seconds = seconds;
    memcpy(interval->energy_j, reading->energy_j, sizeof interval->energy_j);
    memcpy(interval->gpu_j, reading->gpu_energy_j, sizeof interval->gpu_j);
    interval->gpu_slices = shares->page->head.gpu_slices;
    interval->cores = (double)sysconf(_SC_NPROCESSORS_ONLN);
    if (shares->count > 0 || shares->blind || shares->lost > 0 || shares->claims.any ||
        reading->unseen) {
        node_idle_interrupt(&shares->idle);
    } else {
        node_idle_add(&shares->idle, reading->energy_j, cpu_s, seconds);
    }
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        shares->since_s[d] += seconds;
        interval->span_s[d] = shares->since_s[d];
        shares->since_s[d] = reading->energy_j[d] > 0 ? 0 : shares->since_s[d];
    }
    if (!reading->unseen) {
        node_idle_bound(&shares->idle, reading->energy_j, cpu_s, interval->span_s);
        shares_refuse_idle(shares);
    }
    memcpy(interval->idle_w, shares->idle.idle_w, sizeof interval->idle_w);
    interval->cpu_s = cpu_s - shares->idle.cores * seconds - shares->claims.cpu_s;
}

/* @return whether a domain's idle power is unknown; for psys and node, that of the parts inside. */
static bool shares_idle_is_open(const struct share_interval *interval, int domain)
{
    bool inner = false, open = false;

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        if (apapi_domain_adds_up(d) && interval->energy_j[d] > 0) {
            inner = true;
            open = open || (d != APAPI_DOMAIN_GPU && isnan(interval->idle_w[d]));
        }
    }
    return inner && (domain == APAPI_DOMAIN_PSYS || domain == APAPI_DOMAIN_NODE)
               ? open
               : isnan(interval->idle_w[domain]);
}

static void shares_keep_open(const struct share_interval *interval, const struct share_step *step,
                             const double error_w[APAPI_DOMAINS], struct share_row *row)
{
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        double dynamic_s = step->dynamic_s[d], cores_s = step->cores_s[d];

        if (shares_idle_is_open(interval, d)) {
            row->open_s[d] += dynamic_s;
            row->open_cores_s[d] += cores_s;
        } else if (error_w[d] > 0) {
            row->error_j[d] += error_w[d] * fabs(dynamic_s - cores_s);
        }
    }
}

/* When idle power has become known, turn what running steps have too much into idle energy. */
static void shares_settle_idle(struct node_shares *shares, struct share_totals *totals)
{
    for (size_t i = 0; i < shares->count * APAPI_DOMAINS; i++) {
        struct share_row *row = &shares->rows[shares->of[i / APAPI_DOMAINS]];
        size_t d = i % APAPI_DOMAINS;
        double idle_w = shares->idle.idle_w[d], open_s = row->open_s[d];
        double cores_s = row->open_cores_s[d], back_j;

        if (isnan(idle_w) || (open_s == 0 && cores_s == 0)) {
            continue;
        }
        back_j = fmin(idle_w * (open_s - cores_s), row->energy_j[d]);
        row->energy_j[d] -= back_j;
        row->idle_j[d] += idle_w * cores_s;
        row->error_j[d] += shares->idle.error_w[d] * fabs(open_s - cores_s);
        row->open_s[d] = row->open_cores_s[d] = 0;
        totals->steps_j[d] -= back_j;
        totals->idle_j[d] += back_j;
    }
}

/* Write the rows and the head of the page. */
static void shares_show(struct node_shares *shares, const struct share_interval *interval)
{
    const struct node_reading *reading = shares->reading;
    struct share_head *head = &shares->page->head;

    for (size_t i = 0; i < shares->count; i++) {
        const struct share_step *step = &shares->steps[i];
        struct share_row *row = &shares->rows[shares->of[i]];
        double weight = shares->rule.method->weight(step);

        shares_keep_open(interval, step, shares->idle.error_w, row);
        row->time_ns = reading->end_ns;
        for (int d = 0; d < APAPI_DOMAINS; d++) {
            row->energy_j[d] += step->energy_j[d];
            row->idle_j[d] += step->idle_j[d];
            row->power_w[d] = step->energy_j[d] / interval->seconds;
            if (weight > 0) { /* the rate is the same for all steps */
                head->rate[d] = (step->energy_j[d] - step->idle_j[d]) / weight;
            }
        }
    }
    for (int i = 0; i < SHARE_PAGE_ROWS; i++) {
        if (shares->rows[i].time_ns == reading->end_ns ||
            (shares->page->rows[i].flags & SHARE_ROW_RUNNING) !=
                (shares->rows[i].flags & SHARE_ROW_RUNNING)) {
            shared_record_write(&shares->page->rows[i], &shares->rows[i], sizeof shares->rows[i]);
        }
    }
    head->interval_ns = reading->end_ns - reading->begin_ns;
    memcpy(head->idle_w, shares->idle.idle_w, sizeof head->idle_w);
    memcpy(head->least_w, shares->idle.kept.least_w, sizeof head->least_w);
    memcpy(head->energy_j, interval->energy_j, sizeof head->energy_j);
    __atomic_store_n(&head->time_ns, reading->end_ns, __ATOMIC_RELEASE);
}

/* Pay the energy that is owed for claims first, and divide the rest among the running steps. */
static void shares_divide(struct node_shares *shares, struct share_interval *interval,
                          struct share_totals *totals)
{
    struct share_claims *claims = &shares->claims;
    double paid_j[APAPI_DOMAINS];
    size_t count = shares->count;

    if (count == 0 && (shares->blind || shares->lost > 0)) {
        /* Steps run that could not be identified: their energy is unattributed. */
        shares->steps[count++] = (struct share_step){.cpu_s = NAN, .cores = NAN, .seconds = NAN};
    }
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        double *energy_j = &interval->energy_j[d];

        paid_j[d] = *energy_j > 0 ? fmin(claims->owed_j[d], *energy_j) : 0;
        claims->owed_j[d] -= paid_j[d];
        *energy_j -= paid_j[d];
    }
    share_divide(&shares->rule, interval, shares->steps, count, totals);
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        totals->energy_j[d] += paid_j[d];
        totals->steps_j[d] += paid_j[d] - claims->returned_j[d];
        totals->unattributed_j[d] += claims->returned_j[d];
        claims->returned_j[d] = 0;
    }
}

void node_shares_add(struct node_shares *shares, const struct node_reading *reading)
{
    struct share_totals totals = {.energy_j = {0}};
    struct share_interval interval;

    if (!shares || reading->end_ns <= reading->begin_ns) {
        return;
    }
    shares->reading = reading;
    shares_scan(shares);
    shares_describe(shares, &interval);
    shares_divide(shares, &interval, &totals);
    shares_settle_idle(shares, &totals);
    shares_show(shares, &interval);
    node_hours_add(&shares->hours, reading, &totals, shares->count, shares->begun);
    shares->fresh = false;
}

void node_shares_free(struct node_shares *shares)
{
    if (!shares) {
        return;
    }
    munmap(shares->page, sizeof *shares->page);
    if (node_hours_close(&shares->hours, shares->claims.owed_j)) {
        free(shares);
    }
}
