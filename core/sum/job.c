/* SPDX-License-Identifier: BSD-3-Clause */
#include "apapi/job.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "record/record.h"
#include "sum/busy.h"
#include "sum/job_piece.h"

#define KNOWN_STEPS 1000 /* of the known share of a record's time */

struct apapi_job {
    struct piece **pieces;
    size_t count, room;
};

/* What the nodes have in common while they are added up. */
struct sum {
    struct busy busy[2];           /* of domains that do not add up, that do */
    double whole_j[APAPI_DOMAINS]; /* as if no time that has a record were unknown */
};

struct apapi_job *apapi_job_create(void)
{
    return calloc(1, sizeof(struct apapi_job));
}

static void piece_destroy(struct piece *piece)
{
    if (piece) {
        for (int d = 0; d < APAPI_DOMAINS; d++) {
            free(piece->timelines[d]);
        }
        free(piece->node);
        free(piece);
    }
}

void apapi_job_destroy(struct apapi_job *job)
{
    int saved = errno;

    if (job) {
        for (size_t i = 0; i < job->count; i++) {
            piece_destroy(job->pieces[i]);
        }
        free(job->pieces);
        free(job);
    }
    errno = saved;
}

static int copy_timeline(struct piece *piece, int domain, const struct apapi_timeline *timeline)
{
    double whole_j = apapi_timeline_energy_j(timeline);

    if (!(whole_j > 0)) {
        return 0;
    }
    piece->timelines[domain] = malloc(sizeof *timeline);
    if (!piece->timelines[domain]) {
        return -1;
    }
    *piece->timelines[domain] = *timeline;
    piece->scale[domain] = piece->energy_j[domain] / whole_j;
    return 0;
}

/*
 * The mean power applies to the known time. Both figures are rounded in a record. The share is
 * rounded, too: otherwise their last digits would decide which record counts.
 */
static double job_known_share(const struct apapi_domain_result *domain, uint64_t elapsed_ns)
{
    double share = domain->energy_j * NS_PER_S / (domain->power_w.mean * (double)elapsed_ns);

    return share > 0 && share < 1 ? round(share * KNOWN_STEPS) / KNOWN_STEPS : 1;
}

/* How far the power leaves the mean at most. */
static double swing_w(const struct apapi_summary *power_w)
{
    return fmax(fmax(power_w->max - power_w->mean, power_w->mean - power_w->min), 0);
}

static uint32_t known_or_zero(uint32_t number)
{
    return number == APAPI_UNKNOWN ? 0 : number;
}

static void piece_place(struct piece *piece, const struct timing *timing)
{
    piece->start_ns = timing->start_ns;
    piece->end_ns = timing->start_ns + (int64_t)timing->elapsed_ns;
}

static struct piece *piece_create(const struct apapi_record *record)
{
    const struct apapi_measurement *m = &record->measurement;
    struct piece *piece = calloc(1, sizeof *piece);
    int failed = !piece || !(piece->node = strdup(record->id.node));

    for (int d = 0; d < APAPI_DOMAINS && !failed; d++) {
        piece->energy_j[d] = m->domains[d].measured ? m->domains[d].energy_j : NAN;
        piece->known[d] = job_known_share(&m->domains[d], m->elapsed_ns);
        piece->uncertainty_j[d] = m->domains[d].uncertainty_j;
        piece->swing_w[d] = swing_w(&m->domains[d].power_w);
        failed = copy_timeline(piece, d, &m->domains[d].timeline);
    }
    if (failed) {
        piece_destroy(piece);
        errno = ENOMEM;
        return NULL;
    }
    memcpy(piece->step, record->id.step, sizeof piece->step);
    piece->complete = record->complete;
    piece->unknown_domains = m->unknown_domains;
    piece->cores = known_or_zero(record->id.cores);
    piece->node_cores = known_or_zero(record->id.node_cores);
    piece->window_ns = window_shortest_ns(m);
    memcpy(piece->boot, m->boot, sizeof piece->boot);
    piece->timing = timing_of(record);
    piece->timing.node = piece->node;
    piece->timing.step = piece->step;
    piece->timing.boot = piece->boot;
    piece_place(piece, &piece->timing);
    return piece;
}

int apapi_job_add(struct apapi_job *job, const struct apapi_record *record)
{
    struct piece *piece;

    if (array_add(&job->pieces, job->count, &job->room, sizeof(struct piece *))) {
        return -1;
    }
    piece = piece_create(record);
    if (!piece) {
        return -1;
    }
    job->pieces[job->count++] = piece;
    return 0;
}

/* Sorts duplicates so that the one to keep comes first: the longer one, then the complete one. */
static int compare_pieces(const void *left, const void *right)
{
    const struct piece *a = *(struct piece *const *)left, *b = *(struct piece *const *)right;
    int order = strcmp(a->node, b->node);

    order = order ? order : COMPARE(a->start_ns, b->start_ns);
    order = order ? order : strcmp(a->step, b->step);
    order = order ? order : COMPARE(b->end_ns, a->end_ns);
    return order ? order : b->complete - a->complete;
}

static bool job_is_same_piece(const struct piece *a, const struct piece *b)
{
    return a->start_ns == b->start_ns && strcmp(a->step, b->step) == 0 &&
           strcmp(a->node, b->node) == 0;
}

/* Sort by node and start, and remove duplicates. */
static void job_tidy(struct apapi_job *job)
{
    size_t kept = 0;

    for (size_t i = 0; i < job->count; i++) { /* an earlier sum has moved them */
        piece_place(job->pieces[i], &job->pieces[i]->timing);
    }
    qsort(job->pieces, job->count, sizeof(struct piece *), compare_pieces);
    for (size_t i = 0; i < job->count; i++) {
        if (kept > 0 && job_is_same_piece(job->pieces[kept - 1], job->pieces[i])) {
            piece_destroy(job->pieces[i]);
        } else {
            job->pieces[kept++] = job->pieces[i];
        }
    }
    job->count = kept;
}

/* Put them where they belong in time, and find out how long the job ran. */
static int job_align(struct apapi_job *job, struct apapi_job_total *total)
{
    struct timing *timings = calloc(job->count + 1, sizeof *timings);
    struct job_time time;
    int result = timings ? 0 : -1;

    for (size_t i = 0; i < job->count && result == 0; i++) {
        timings[i] = job->pieces[i]->timing;
        timings[i].index = i;
    }
    result = result ? -1 : timings_align(timings, job->count);
    for (size_t i = 0; i < job->count && result == 0; i++) {
        uint64_t jump_ns = (uint64_t)llabs(timings[i].jumped_ns);
        uint64_t apart_ns = (uint64_t)llabs(timings[i].apart_ns);

        piece_place(job->pieces[i], &timings[i]);
        total->clock_jump_ns = jump_ns > total->clock_jump_ns ? jump_ns : total->clock_jump_ns;
        total->clock_apart_ns = apart_ns > total->clock_apart_ns ? apart_ns : total->clock_apart_ns;
    }
    if (result == 0) {
        timings_find_runs(timings, job->count);
        time = timings_sum(timings, job->count);
        total->runs = time.runs;
        total->job_nodes = time.nodes;
        total->elapsed_ns = (uint64_t)fmin(time.elapsed_ns, 9e18);
        total->node_s = time.node_ns / NS_PER_S;
        qsort(job->pieces, job->count, sizeof(struct piece *), compare_pieces);
    }
    free(timings);
    return result;
}

/* --- the nodes together --------------------------------------------------------------------- */

static int job_add_times(struct sum *sum, struct piece *const *pieces, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool known[2] = {false, false};

        for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
            known[apapi_domain_adds_up(d)] |= !isnan(pieces[i]->energy_j[d]);
        }
        for (int adds_up = 0; adds_up < 2; adds_up++) {
            if (known[adds_up] &&
                busy_add(&sum->busy[adds_up], pieces[i]->start_ns, pieces[i]->end_ns)) {
                return -1;
            }
        }
    }
    return 0;
}

/* A step that has more of the node than the others shows what the job has. */
static void add_cores(struct piece *const *pieces, size_t count, struct apapi_job_total *total)
{
    uint32_t cores = 0, node_cores = 0;

    for (size_t i = 0; i < count; i++) {
        cores = pieces[i]->cores > cores ? pieces[i]->cores : cores;
        node_cores = pieces[i]->node_cores > node_cores ? pieces[i]->node_cores : node_cores;
    }
    total->cores = (total->nodes == 0 || total->cores) && cores ? total->cores + cores : 0;
    total->node_cores =
        (total->nodes == 0 || total->node_cores) && node_cores ? total->node_cores + node_cores : 0;
}

static int job_add_node(struct sum *sum, struct piece *const *pieces, size_t count,
                        struct apapi_job_total *total)
{
    struct node_total node;

    if (node_add_up(pieces, count, &node)) {
        return -1;
    }
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        struct apapi_job_domain *domain = &total->domains[d];

        domain->recorded_ns += node.recorded_ns[d];
        domain->unknown += (node.unknown_domains & domain_bit(d)) != 0;
        if (node.covered_ns[d] > 0) {
            domain->energy_j = (domain->nodes ? domain->energy_j : 0) + node.energy_j[d];
            domain->uncertainty_j =
                (domain->nodes ? domain->uncertainty_j : 0) + node.uncertainty_j[d];
            domain->covered_ns += node.covered_ns[d];
            domain->nodes++;
            sum->whole_j[d] +=
                node.energy_j[d] * (double)node.recorded_ns[d] / (double)node.covered_ns[d];
        }
    }
    total->covered_ns += node.total_ns;
    add_cores(pieces, count, total);
    total->nodes++;
    return job_add_times(sum, pieces, count);
}

static double job_plus(double known, double more)
{
    return isnan(known) ? more : known + more;
}

/*
 * It adds up, and some of the energy lacks it. Every node has a package; memory and GPUs lack on a
 * node only if it has meters for them.
 */
static bool is_missing(const struct apapi_job_total *total, int d)
{
    const struct apapi_job_domain *domain = &total->domains[d];
    uint64_t unknown_ns = domain->recorded_ns - domain->covered_ns;

    return apapi_domain_adds_up(d) &&
           ((d == APAPI_DOMAIN_PACKAGE && domain->nodes > 0 && domain->nodes < total->nodes) ||
            (domain->unknown > 0 && unknown_ns > domain->recorded_ns / KNOWN_STEPS));
}

static void job_add_up(const struct sum *sum, struct apapi_job_total *total)
{
    double busy_ns[2] = {busy_length_ns(&sum->busy[false]), busy_length_ns(&sum->busy[true])};

    total->energy_j = total->mean_w = total->uncertainty_j = NAN;
    total->busy_ns = (uint64_t)(busy_ns[true] > 0 ? busy_ns[true] : busy_ns[false]);
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        struct apapi_job_domain *domain = &total->domains[d];

        total->missing_domains |= is_missing(total, d) ? domain_bit(d) : 0;
        domain->mean_w =
            domain->nodes > 0 ? sum->whole_j[d] * NS_PER_S / busy_ns[apapi_domain_adds_up(d)] : NAN;
        if (domain->nodes > 0 && apapi_domain_adds_up(d)) {
            total->uncertainty_j = isnan(total->energy_j)
                                       ? domain->uncertainty_j
                                       : total->uncertainty_j + domain->uncertainty_j;
            total->energy_j = job_plus(total->energy_j, domain->energy_j);
            total->mean_w = job_plus(total->mean_w, domain->mean_w);
        }
    }
}

static int job_compare_steps(const void *left, const void *right)
{
    return strcmp((*(struct piece *const *)left)->step, (*(struct piece *const *)right)->step);
}

static int count_steps(const struct apapi_job *job, size_t *steps)
{
    struct piece **sorted = calloc(job->count + 1, sizeof(struct piece *));

    if (!sorted) {
        return -1;
    }
    for (size_t i = 0; i < job->count; i++) {
        sorted[i] = job->pieces[i];
    }
    qsort(sorted, job->count, sizeof(struct piece *), job_compare_steps);
    *steps = 0;
    for (size_t i = 0; i < job->count; i++) {
        *steps += i == 0 || job_compare_steps(&sorted[i - 1], &sorted[i]) != 0;
    }
    free(sorted);
    return 0;
}

static size_t job_same_node(const struct apapi_job *job, size_t first)
{
    size_t end = first + 1;

    while (end < job->count && strcmp(job->pieces[end]->node, job->pieces[first]->node) == 0) {
        end++;
    }
    return end - first;
}

static void note_times(const struct apapi_job *job, struct apapi_job_total *total)
{
    for (size_t i = 0; i < job->count; i++) {
        const struct piece *piece = job->pieces[i];

        if (i == 0 || piece->start_ns < total->start_unix_ns) {
            total->start_unix_ns = piece->start_ns;
        }
        if (i == 0 || piece->end_ns > total->end_unix_ns) {
            total->end_unix_ns = piece->end_ns;
        }
        total->incomplete += !piece->complete;
        total->window_ns = window_shorter_ns(total->window_ns, piece->window_ns);
    }
    total->records = job->count;
}

static int job_add_nodes(const struct apapi_job *job, struct apapi_job_total *total)
{
    struct sum sum = {0};
    int result = 0;

    for (size_t first = 0, count; first < job->count && result == 0; first += count) {
        count = job_same_node(job, first);
        result = job_add_node(&sum, job->pieces + first, count, total);
    }
    if (result == 0) {
        job_add_up(&sum, total);
    }
    busy_clear(&sum.busy[false]);
    busy_clear(&sum.busy[true]);
    return result;
}

int apapi_job_total(struct apapi_job *job, struct apapi_job_total *total)
{
    struct apapi_job_total sum = {0};

    if (job->count > 0) {
        job_tidy(job);
    }
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        sum.domains[d].energy_j = sum.domains[d].uncertainty_j = NAN;
    }
    if ((job->count > 0 && job_align(job, &sum)) || count_steps(job, &sum.steps) ||
        job_add_nodes(job, &sum)) {
        errno = ENOMEM;
        return -1;
    }
    sum.job_nodes = sum.nodes > sum.job_nodes ? sum.nodes : sum.job_nodes;
    note_times(job, &sum);
    *total = sum;
    return 0;
}

double apapi_job_measured(const struct apapi_job_total *total, size_t nodes)
{
    double node_s =
        nodes > 0 ? (double)nodes * ((double)total->elapsed_ns / NS_PER_S) : total->node_s;

    return node_s > 0 ? fmin((double)total->covered_ns / NS_PER_S / node_s, 1) : NAN;
}

static int compare_node(const void *name, const void *element)
{
    return strcmp(name, (*(struct piece *const *)element)->node);
}

bool apapi_job_has_node(const struct apapi_job *job, const char *node)
{
    return job->count > 0 &&
           bsearch(node, job->pieces, job->count, sizeof(struct piece *), compare_node);
}

const char *apapi_job_incomplete(const struct apapi_job *job, size_t number, const char **node)
{
    for (size_t i = 0; i < job->count; i++) {
        if (!job->pieces[i]->complete && number-- == 0) {
            *node = job->pieces[i]->node;
            return job->pieces[i]->step;
        }
    }
    return NULL;
}
