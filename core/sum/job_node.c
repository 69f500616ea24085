/* SPDX-License-Identifier: BSD-3-Clause */
/* The energy of one node of a job. Its steps overlap, and each moment counts once. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/clock.h"
#include "record/record.h"
#include "sum/job_piece.h"

#define CANDIDATES 8 /* records compared for one moment */
#define SLACK 500    /* 1/500 of a moment may be missing if it counts as fully known */
#define NOT_COUNTED UINT64_MAX

/* What a piece knows of an interval. */
struct part {
    double energy_j;
    uint64_t known_ns;
};

/*
 * A node's time is cut at each start and end of a piece. A heap holds the running pieces with the
 * preferred one on top. Ended pieces are removed when they get to the top.
 */
struct sweep {
    struct piece *const *pieces;
    size_t count, next;
    int64_t *edges;
    size_t edge_count;
    uint64_t *least_ns; /* of each moment: how much all domains know of it; NOT_COUNTED */
    struct piece **heap;
    size_t heap_count;
    int domain;
    const struct piece *last; /* whose energy was counted last, and until when; NULL: none */
    int64_t last_ns;
};

/* --- what one piece knows ------------------------------------------------------------------- */

static struct part constant_part(const struct piece *piece, int domain, int64_t from_ns,
                                 int64_t to_ns)
{
    double length_ns = (double)(to_ns - from_ns);
    double share = length_ns / (double)(piece->end_ns - piece->start_ns);

    return (struct part){share * piece->energy_j[domain],
                         (uint64_t)(length_ns * piece->known[domain] + 0.5)};
}

/* Bins are rounded when written: the record's total counts. */
static struct part piece_part(const struct piece *piece, int domain, int64_t from_ns, int64_t to_ns)
{
    const struct apapi_timeline *timeline = piece->timelines[domain];
    struct part part;

    if (isnan(piece->energy_j[domain])) {
        return (struct part){0, 0};
    }
    if (!timeline) {
        return constant_part(piece, domain, from_ns, to_ns);
    }
    part.energy_j = apapi_timeline_between_j(timeline, (uint64_t)(from_ns - piece->start_ns),
                                             (uint64_t)(to_ns - piece->start_ns), &part.known_ns) *
                    piece->scale[domain];
    return part;
}

/* The end of the piece's next bin; INT64_MAX: no more bins. */
static int64_t next_bin_ns(const struct piece *piece, int domain, int64_t from_ns)
{
    const struct apapi_timeline *timeline = piece->timelines[domain];
    uint64_t bin;
    int64_t end_ns;

    if (!timeline) {
        return INT64_MAX;
    }
    bin = (uint64_t)(from_ns - piece->start_ns) / timeline->bin_ns + 1;
    if (bin >= timeline->count ||
        __builtin_add_overflow(piece->start_ns, bin * timeline->bin_ns, &end_ns)) {
        return INT64_MAX;
    }
    return end_ns;
}

/* --- the heap ------------------------------------------------------------------------------- */

static bool is_whole(const struct piece *piece, int domain)
{
    return piece->known[domain] >= 1 && !isnan(piece->energy_j[domain]);
}

/* A piece without gaps is preferred to one with gaps, then the longer one. */
static bool comes_before(const struct piece *a, const struct piece *b, int domain)
{
    if (is_whole(a, domain) != is_whole(b, domain)) {
        return is_whole(a, domain);
    }
    return a->end_ns - a->start_ns > b->end_ns - b->start_ns;
}

static void swap(struct piece **a, struct piece **b)
{
    struct piece *held = *a;

    *a = *b;
    *b = held;
}

static void push(struct sweep *sweep, struct piece *piece)
{
    size_t at = sweep->heap_count++;

    sweep->heap[at] = piece;
    while (at > 0 && comes_before(piece, sweep->heap[(at - 1) / 2], sweep->domain)) {
        swap(&sweep->heap[at], &sweep->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
}

static struct piece *pop(struct sweep *sweep)
{
    struct piece **heap = sweep->heap, *top = heap[0];
    size_t count = --sweep->heap_count, at = 0;

    heap[0] = heap[count];
    for (size_t child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && comes_before(heap[child + 1], heap[child], sweep->domain)) {
            child++;
        }
        if (!comes_before(heap[child], heap[at], sweep->domain)) {
            break;
        }
        swap(&heap[child], &heap[at]);
        at = child;
    }
    return top;
}

/* --- a moment ------------------------------------------------------------------------------- */

/* Pieces that run at the same time. */
struct choice {
    struct piece *pieces[CANDIDATES];
    size_t count;
};

static bool is_all(uint64_t known_ns, int64_t from_ns, int64_t to_ns)
{
    uint64_t length_ns = (uint64_t)(to_ns - from_ns);

    return known_ns + length_ns / SLACK >= length_ns;
}

/* The piece that knows most of it; NULL: there is none. */
static struct piece *best_of(const struct choice *choice, int domain, int64_t from_ns,
                             int64_t to_ns, struct part *best)
{
    struct piece *piece = NULL;

    *best = (struct part){0, 0};
    for (size_t i = 0; i < choice->count && !is_all(best->known_ns, from_ns, to_ns); i++) {
        struct part part = piece_part(choice->pieces[i], domain, from_ns, to_ns);

        if (i == 0 || part.known_ns > best->known_ns) {
            *best = part;
            piece = choice->pieces[i];
        }
    }
    return piece;
}

/* --- uncertainty ---------------------------------------------------------------------------- */

/*
 * A piece that is cut within a bin, or that has none, is taken to have its mean power on both sides
 * of the cut. It may have had any of its powers on the shorter one.
 */
static double cut_j(const struct piece *piece, int domain, int64_t at_ns)
{
    const struct apapi_timeline *timeline = piece->timelines[domain];
    uint64_t before_ns = (uint64_t)(at_ns - piece->start_ns);
    uint64_t after_ns = (uint64_t)(piece->end_ns - at_ns);

    if (timeline) {
        before_ns %= timeline->bin_ns;
        after_ns =
            after_ns < timeline->bin_ns - before_ns ? after_ns : timeline->bin_ns - before_ns;
    }
    return piece->swing_w[domain] * (double)(before_ns < after_ns ? before_ns : after_ns) /
           NS_PER_S;
}

/* Another piece goes on, or none. */
static void job_node_leave(struct sweep *sweep, struct node_total *total)
{
    if (sweep->last) {
        total->uncertainty_j[sweep->domain] += cut_j(sweep->last, sweep->domain, sweep->last_ns);
    }
    sweep->last = NULL;
}

/* A piece's own uncertainty is of its ends mainly: each part of it may have all of it. */
static void use(struct sweep *sweep, struct piece *piece, int64_t from_ns, int64_t to_ns,
                struct node_total *total)
{
    double *uncertainty_j = &total->uncertainty_j[sweep->domain];

    if (sweep->last != piece || sweep->last_ns != from_ns) {
        job_node_leave(sweep, total);
        *uncertainty_j += cut_j(piece, sweep->domain, from_ns);
    }
    if (!piece->used) {
        *uncertainty_j += piece->uncertainty_j[sweep->domain];
        piece->used = true;
    }
    sweep->last = piece;
    sweep->last_ns = to_ns;
}

static struct part use_best(struct sweep *sweep, const struct choice *choice, int64_t from_ns,
                            int64_t to_ns, struct node_total *total)
{
    struct part part;
    struct piece *piece = best_of(choice, sweep->domain, from_ns, to_ns, &part);

    if (piece && part.known_ns > 0) {
        use(sweep, piece, from_ns, to_ns, total);
    }
    return part;
}

/* One piece may know what is a gap of another one: bin by bin. */
static struct part fill_gaps(struct sweep *sweep, const struct choice *choice, int64_t from_ns,
                             int64_t to_ns, struct node_total *total)
{
    struct part sum = {0, 0};

    while (from_ns < to_ns) {
        int64_t until_ns = to_ns;
        struct part part;

        for (size_t i = 0; i < choice->count; i++) {
            int64_t edge_ns = next_bin_ns(choice->pieces[i], sweep->domain, from_ns);

            until_ns = edge_ns < until_ns ? edge_ns : until_ns;
        }
        part = use_best(sweep, choice, from_ns, until_ns, total);
        sum.energy_j += part.energy_j;
        sum.known_ns += part.known_ns;
        from_ns = until_ns;
    }
    return sum;
}

/* Choose the pieces to use for a moment, until one knows all of it. They stay in the heap. */
static struct choice job_node_choose(struct sweep *sweep, int64_t from_ns, int64_t to_ns)
{
    struct choice choice = {.count = 0};
    bool known = false;

    while (sweep->heap_count > 0 && choice.count < CANDIDATES && !known) {
        struct piece *piece = pop(sweep);

        if (piece->end_ns > from_ns) {
            choice.pieces[choice.count++] = piece;
            known =
                is_all(piece_part(piece, sweep->domain, from_ns, to_ns).known_ns, from_ns, to_ns);
        }
    }
    for (size_t i = 0; i < choice.count; i++) {
        push(sweep, choice.pieces[i]);
    }
    if (known) {
        choice.pieces[0] = choice.pieces[choice.count - 1];
        choice.count = 1;
    }
    return choice;
}

static void add_moment(struct sweep *sweep, size_t moment, struct node_total *total)
{
    int64_t from_ns = sweep->edges[moment], to_ns = sweep->edges[moment + 1];
    int domain = sweep->domain;
    struct choice choice = job_node_choose(sweep, from_ns, to_ns);
    struct part part;

    if (choice.count == 0) {
        return;
    }
    part = choice.count == 1 ? use_best(sweep, &choice, from_ns, to_ns, total)
                             : fill_gaps(sweep, &choice, from_ns, to_ns, total);
    total->energy_j[domain] += part.energy_j;
    total->covered_ns[domain] += part.known_ns;
    total->recorded_ns[domain] += (uint64_t)(to_ns - from_ns);
    if (apapi_domain_adds_up(domain) && part.known_ns < sweep->least_ns[moment]) {
        sweep->least_ns[moment] = part.known_ns;
    }
}

/* --- a node --------------------------------------------------------------------------------- */

static void job_node_cut(struct sweep *sweep)
{
    size_t kept = 0;

    for (size_t i = 0; i < sweep->count; i++) {
        sweep->edges[2 * i] = sweep->pieces[i]->start_ns;
        sweep->edges[2 * i + 1] = sweep->pieces[i]->end_ns;
    }
    qsort(sweep->edges, 2 * sweep->count, sizeof *sweep->edges, compare_int64);
    for (size_t i = 0; i < 2 * sweep->count; i++) {
        if (kept == 0 || sweep->edges[i] != sweep->edges[kept - 1]) {
            sweep->edges[kept] = sweep->edges[i];
            sweep->least_ns[kept++] = NOT_COUNTED;
        }
    }
    sweep->edge_count = kept;
}

/* Known, or not although there are meters. */
static bool has_domain(const struct piece *piece, int domain)
{
    return !isnan(piece->energy_j[domain]) || piece->unknown_domains & domain_bit(domain);
}

static void job_node_add_domain(struct sweep *sweep, struct node_total *total)
{
    sweep->next = sweep->heap_count = 0;
    for (size_t i = 0; i < sweep->count; i++) {
        sweep->pieces[i]->used = false;
    }
    for (size_t i = 0; i + 1 < sweep->edge_count; i++) {
        while (sweep->next < sweep->count &&
               sweep->pieces[sweep->next]->start_ns <= sweep->edges[i]) {
            struct piece *piece = sweep->pieces[sweep->next++];

            if (has_domain(piece, sweep->domain) && piece->end_ns > piece->start_ns) {
                push(sweep, piece);
            }
        }
        add_moment(sweep, i, total);
    }
    job_node_leave(sweep, total);
}

static struct node_total job_node_add_all(struct sweep *sweep)
{
    struct node_total total = {.total_ns = 0};

    job_node_cut(sweep);
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        sweep->domain = d;
        job_node_add_domain(sweep, &total);
    }
    for (size_t i = 0; i < sweep->count; i++) {
        total.unknown_domains |= sweep->pieces[i]->unknown_domains;
    }
    for (size_t i = 0; i + 1 < sweep->edge_count; i++) {
        total.total_ns += sweep->least_ns[i] == NOT_COUNTED ? 0 : sweep->least_ns[i];
    }
    return total;
}

int node_add_up(struct piece *const *pieces, size_t count, struct node_total *total)
{
    struct sweep sweep = {.pieces = pieces,
                          .count = count,
                          .edges = calloc(2 * count + 1, sizeof *sweep.edges),
                          .least_ns = calloc(2 * count + 1, sizeof *sweep.least_ns),
                          .heap = calloc(count + 1, sizeof(struct piece *))};
    int result = -1;

    if (sweep.edges && sweep.least_ns && sweep.heap) {
        *total = job_node_add_all(&sweep);
        result = 0;
    } else {
        errno = ENOMEM;
    }
    free(sweep.edges);
    free(sweep.least_ns);
    free(sweep.heap);
    return result;
}
