/* SPDX-License-Identifier: BSD-3-Clause */
#include "apapi/job.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "record/end.h"

/* One record: where and when, and the energy over that time. */
struct piece {
    char *node;
    char step[32];
    int64_t start_ns, end_ns; /* unix time */
    bool complete;
    double energy_j[APAPI_DOMAINS];                  /* NaN: unknown */
    double known[APAPI_DOMAINS];                     /* share of the time, 0..1 */
    struct apapi_timeline *timelines[APAPI_DOMAINS]; /* NULL: the power is taken for constant */
};

struct apapi_job {
    struct piece **pieces;
    size_t count, room;
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
    if (timeline->count == 0) {
        return 0;
    }
    piece->timelines[domain] = malloc(sizeof *timeline);
    if (!piece->timelines[domain]) {
        return -1;
    }
    *piece->timelines[domain] = *timeline;
    return 0;
}

/* The mean power is that of the time that is known. */
static double known_share(const struct apapi_domain_result *domain, uint64_t elapsed_ns)
{
    double share = domain->energy_j * 1e9 / (domain->power_w.mean * (double)elapsed_ns);

    return share > 0 && share < 1 ? share : 1;
}

static struct piece *piece_create(const struct apapi_record *record)
{
    const struct apapi_measurement *m = &record->measurement;
    struct piece *piece = calloc(1, sizeof *piece);
    int failed = !piece || !(piece->node = strdup(record->id.node));

    for (int d = 0; d < APAPI_DOMAINS && !failed; d++) {
        piece->energy_j[d] = m->domains[d].measured ? m->domains[d].energy_j : NAN;
        piece->known[d] = known_share(&m->domains[d], m->elapsed_ns);
        failed = copy_timeline(piece, d, &m->domains[d].timeline);
    }
    if (failed) {
        piece_destroy(piece);
        errno = ENOMEM;
        return NULL;
    }
    memcpy(piece->step, record->id.step, sizeof piece->step);
    piece->complete = record->complete;
    piece->start_ns = m->start_unix_ns;
    piece->end_ns = record_end_ns(m);
    return piece;
}

int apapi_job_add(struct apapi_job *job, const struct apapi_record *record)
{
    struct piece **pieces = array_grow(job->pieces, job->count, &job->room, sizeof(struct piece *));
    struct piece *piece;

    if (!pieces) {
        return -1;
    }
    job->pieces = pieces;
    piece = piece_create(record);
    if (!piece) {
        return -1;
    }
    job->pieces[job->count++] = piece;
    return 0;
}

static int compare_pieces(const void *left, const void *right)
{
    const struct piece *a = *(struct piece *const *)left, *b = *(struct piece *const *)right;
    int order = strcmp(a->node, b->node);

    if (order == 0 && a->start_ns != b->start_ns) {
        order = a->start_ns < b->start_ns ? -1 : 1;
    }
    return order ? order : strcmp(a->step, b->step);
}

static bool is_same(const struct piece *a, const struct piece *b)
{
    return compare_pieces(&a, &b) == 0;
}

/* Sort by node and start; of twins the longer one stays. */
static void tidy(struct apapi_job *job)
{
    size_t kept = 0;

    qsort(job->pieces, job->count, sizeof(struct piece *), compare_pieces);
    for (size_t i = 0; i < job->count; i++) {
        struct piece *last = kept ? job->pieces[kept - 1] : NULL;

        if (last && is_same(last, job->pieces[i])) {
            struct piece *shorter = last->end_ns < job->pieces[i]->end_ns ? last : job->pieces[i];

            job->pieces[kept - 1] = shorter == last ? job->pieces[i] : last;
            piece_destroy(shorter);
        } else {
            job->pieces[kept++] = job->pieces[i];
        }
    }
    job->count = kept;
}

/* What a piece knows of a stretch of time. */
struct part {
    double energy_j;
    uint64_t known_ns;
};

static struct part constant_part(const struct piece *piece, int domain, int64_t from_ns,
                                 int64_t to_ns)
{
    double share = (double)(to_ns - from_ns) / (double)(piece->end_ns - piece->start_ns);
    double known_ns = (double)(to_ns - from_ns) * piece->known[domain];

    return (struct part){share * piece->energy_j[domain], (uint64_t)llround(known_ns)};
}

/* Bins are rounded when they are written: the record's total is what counts. */
static struct part piece_part(const struct piece *piece, int domain, int64_t from_ns, int64_t to_ns)
{
    const struct apapi_timeline *timeline = piece->timelines[domain];
    double whole_j = timeline ? apapi_timeline_energy_j(timeline) : NAN;
    struct part part;

    if (!(whole_j > 0)) {
        return constant_part(piece, domain, from_ns, to_ns);
    }
    part.energy_j = apapi_timeline_between_j(timeline, (uint64_t)(from_ns - piece->start_ns),
                                             (uint64_t)(to_ns - piece->start_ns), &part.known_ns) *
                    (piece->energy_j[domain] / whole_j);
    return part;
}

/* The pieces of one node, and those of them that are running at the moment of the sweep. */
struct sweep {
    struct piece *const *pieces;
    size_t count, next;
    const struct piece **running;
    size_t running_count;
    int domain;
};

static bool is_longer(const struct piece *a, const struct piece *b)
{
    return a->end_ns - a->start_ns > b->end_ns - b->start_ns;
}

/* By the piece that knows most of it; if several do, by the longest. */
static struct part best_part(const struct sweep *sweep, int64_t from_ns, int64_t to_ns)
{
    struct part best = {0, 0};
    const struct piece *winner = NULL;

    for (size_t i = 0; i < sweep->running_count; i++) {
        const struct piece *piece = sweep->running[i];
        struct part part = piece_part(piece, sweep->domain, from_ns, to_ns);

        if (!winner || part.known_ns > best.known_ns ||
            (part.known_ns == best.known_ns && is_longer(piece, winner))) {
            winner = piece;
            best = part;
        }
    }
    return best;
}

/* Let the pieces begin and end that do so at this moment. */
static void sweep_to(struct sweep *sweep, int64_t now_ns)
{
    size_t kept = 0;

    for (size_t i = 0; i < sweep->running_count; i++) {
        if (sweep->running[i]->end_ns > now_ns) {
            sweep->running[kept++] = sweep->running[i];
        }
    }
    sweep->running_count = kept;
    while (sweep->next < sweep->count && sweep->pieces[sweep->next]->start_ns <= now_ns) {
        const struct piece *piece = sweep->pieces[sweep->next++];

        if (!isnan(piece->energy_j[sweep->domain]) && piece->end_ns > now_ns) {
            sweep->running[sweep->running_count++] = piece;
        }
    }
}

/* When the set of running pieces changes next; INT64_MAX: never. */
static int64_t next_change(const struct sweep *sweep)
{
    int64_t next_ns = sweep->next < sweep->count ? sweep->pieces[sweep->next]->start_ns : INT64_MAX;

    for (size_t i = 0; i < sweep->running_count; i++) {
        next_ns = sweep->running[i]->end_ns < next_ns ? sweep->running[i]->end_ns : next_ns;
    }
    return next_ns;
}

static void add_node_domain(struct sweep *sweep, struct apapi_job_domain *domain)
{
    int64_t now_ns = sweep->pieces[0]->start_ns;
    struct part sum = {0, 0};

    sweep->next = sweep->running_count = 0;
    while (now_ns != INT64_MAX) {
        int64_t until_ns;

        sweep_to(sweep, now_ns);
        until_ns = next_change(sweep);
        if (sweep->running_count > 0) {
            struct part part = best_part(sweep, now_ns, until_ns);

            sum.energy_j += part.energy_j;
            sum.known_ns += part.known_ns;
        }
        now_ns = until_ns;
    }
    if (sum.known_ns > 0) {
        domain->energy_j = domain->nodes ? domain->energy_j + sum.energy_j : sum.energy_j;
        domain->covered_ns += sum.known_ns;
        domain->nodes++;
    }
}

static void add_node(struct sweep *sweep, struct apapi_job_total *total)
{
    for (sweep->domain = APAPI_DOMAIN_NONE + 1; sweep->domain < APAPI_DOMAINS; sweep->domain++) {
        add_node_domain(sweep, &total->domains[sweep->domain]);
    }
    total->nodes++;
}

static void add_up(struct apapi_job_total *total)
{
    total->energy_j = total->mean_w = NAN;
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        const struct apapi_job_domain *domain = &total->domains[d];

        if (domain->nodes == 0 || !apapi_domain_adds_up(d)) {
            continue;
        }
        if (isnan(total->energy_j) || domain->covered_ns < total->covered_ns) {
            total->covered_ns = domain->covered_ns;
        }
        total->energy_j =
            isnan(total->energy_j) ? domain->energy_j : total->energy_j + domain->energy_j;
    }
    if (total->covered_ns > 0) {
        total->mean_w = total->energy_j * 1e9 / (double)total->covered_ns * (double)total->nodes;
    }
}

static int compare_steps(const void *left, const void *right)
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
    qsort(sorted, job->count, sizeof(struct piece *), compare_steps);
    *steps = 0;
    for (size_t i = 0; i < job->count; i++) {
        *steps += i == 0 || compare_steps(&sorted[i - 1], &sorted[i]) != 0;
    }
    free(sorted);
    return 0;
}

static size_t same_node(const struct apapi_job *job, size_t first)
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
    }
    total->records = job->count;
}

int apapi_job_total(struct apapi_job *job, struct apapi_job_total *total)
{
    struct apapi_job_total sum = {0};
    const struct piece **running = calloc(job->count + 1, sizeof(struct piece *));

    if (job->count > 0) {
        tidy(job);
    }
    if (!running || count_steps(job, &sum.steps)) {
        free(running);
        errno = ENOMEM;
        return -1;
    }
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        sum.domains[d].energy_j = NAN;
    }
    for (size_t first = 0; first < job->count; first += same_node(job, first)) {
        struct sweep sweep = {
            .pieces = job->pieces + first, .count = same_node(job, first), .running = running};

        add_node(&sweep, &sum);
    }
    note_times(job, &sum);
    add_up(&sum);
    free(running);
    *total = sum;
    return 0;
}

double apapi_job_measured(const struct apapi_job_total *total, size_t nodes, int64_t start_unix_ns,
                          int64_t end_unix_ns)
{
    int64_t start_ns = start_unix_ns ? start_unix_ns : total->start_unix_ns;
    int64_t end_ns = end_unix_ns ? end_unix_ns : total->end_unix_ns;
    double node_time_ns = (double)(nodes ? nodes : total->nodes) * (double)(end_ns - start_ns);

    return node_time_ns > 0 ? fmin((double)total->covered_ns / node_time_ns, 1) : NAN;
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
