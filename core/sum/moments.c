/* SPDX-License-Identifier: BSD-3-Clause */
/* The energy and the power of nodes, whose records overlap: each moment counts once. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "record/record.h"
#include "sum/sum.h"

/* --- curves, packed --------------------------------------------------------------------------- */

/* A curve as it is used. */
struct sum_curve {
    uint32_t at;  /* in the store */
    double scale; /* its domain's energy by that of the bins, which are rounded */
    struct apapi_timeline timeline;
};

/* Before the packed energies of the bins, and their coverage if it is not whole. */
struct curve_head {
    uint64_t bin_ns, length_ns;
    double scale;
    uint32_t count, whole; /* whole: 0 or 1. There is no padding: it may be written to a file */
};
#define HEAD_FLOATS (sizeof(struct curve_head) / sizeof(float))

uint32_t sum_put_curve(struct sum_store *store, const struct apapi_timeline *timeline,
                       double energy_j, bool *failed)
{
    double whole_j = store->curveless ? 0 : apapi_timeline_energy_j(timeline);
    struct curve_head head = {timeline->bin_ns, timeline->length_ns, energy_j / whole_j,
                              (uint32_t)timeline->count, true};
    size_t at = store->curve_count, floats;

    if (!(whole_j > 0)) {
        return SUM_NO_CURVE;
    }
    for (size_t i = 0; i < timeline->count; i++) {
        head.whole = head.whole && timeline->covered_pct[i] == 100;
    }
    floats = HEAD_FLOATS + timeline->count * (head.whole ? 1 : 2);
    if (at + floats >= SUM_NO_CURVE ||
        (store->curve_max && (at + floats) * sizeof(float) > store->curve_max)) {
        free(store->curves);
        store->curves = NULL;
        store->curve_count = store->curve_room = 0;
        store->curveless = true;
        return SUM_NO_CURVE;
    }
    if (array_extend(&store->curves, at, floats, &store->curve_room, sizeof(float))) {
        *failed = true;
        return SUM_NO_CURVE;
    }
    memcpy(store->curves + at, &head, sizeof head);
    memcpy(store->curves + at + HEAD_FLOATS, timeline->energy_j, head.count * sizeof(float));
    if (!head.whole) {
        memcpy(store->curves + at + HEAD_FLOATS + head.count, timeline->covered_pct,
               head.count * sizeof(float));
    }
    store->curve_count += floats;
    return (uint32_t)at;
}

/* NULL: it has none. */
static const struct sum_curve *sum_curve_load(const struct sum_store *store,
                                              const struct sum_domain *domain,
                                              struct sum_curve *curve)
{
    const float *from = store->curves + domain->curve;
    struct curve_head head;

    if (store->curveless || domain->curve == SUM_NO_CURVE) {
        return NULL;
    }
    memcpy(&head, from, sizeof head);
    curve->at = domain->curve;
    curve->scale = head.scale;
    curve->timeline.bin_ns = head.bin_ns;
    curve->timeline.length_ns = head.length_ns;
    curve->timeline.count = head.count;
    from += HEAD_FLOATS;
    memcpy(curve->timeline.energy_j, from, head.count * sizeof(float));
    for (size_t i = 0; i < head.count; i++) {
        curve->timeline.covered_pct[i] = head.whole ? 100 : from[head.count + i];
    }
    return curve;
}

/* --- the energy of one node ------------------------------------------------------------------- */

#define CANDIDATES 8 /* records compared for one moment */
#define SLACK 500    /* 1/500 of a moment may be missing if it counts as fully known */
#define NOT_COUNTED UINT64_MAX
#define CURVES 8 /* that are unpacked at a time */

/* Equal parts of the time, and what curves know of each. */
struct columns {
    const int64_t *edges; /* one more than `count` */
    size_t count;
    double *energy_j;
    uint64_t *known_ns;
};

/* A piece's figures of an interval. */
struct part {
    double energy_j;
    uint64_t known_ns;
};

/* What is counted of a domain in a moment. Steps may have GPUs of their own, which add up. */
struct moment {
    uint64_t known_ns;
    uint64_t taken; /* GPUs whose energy is counted */
    uint64_t seen;  /* GPUs of all records */
};

/*
 * A node's time is cut at each start and end of a piece. A heap holds the running pieces with the
 * preferred one on top. Ended pieces are removed when they get to the top.
 */
struct sweep {
    const struct sum_store *store;
    struct sum_entry *entries;
    size_t count, next;
    int64_t *edges;
    size_t edge_count;
    uint64_t *least_ns;     /* of each moment: how much all domains know of it; NOT_COUNTED */
    struct moment *moments; /* what is counted of a domain */
    uint64_t gpus;          /* of the pieces that are looked at; all bits: any, or no GPUs */
    double share;           /* of a piece's energy that is of GPUs not taken yet */
    bool again;             /* something was counted in the moment */
    struct sum_entry **heap;
    size_t heap_count;
    int domain;
    const struct sum_entry *last; /* whose energy was counted last, and until when; NULL: none */
    int64_t last_ns;
    struct sum_curve *curves;
    struct columns *columns; /* NULL: only the sum is wanted */
    size_t column;           /* where the time is in them */
};

/* --- what one piece knows ------------------------------------------------------------------- */

/* NULL: it has none. */
static const struct sum_curve *moments_curve(struct sweep *sweep, const struct sum_entry *entry)
{
    struct sum_curve *slot = &sweep->curves[entry->domain->curve % CURVES];

    if (entry->domain->curve != SUM_NO_CURVE && slot->at == entry->domain->curve) {
        return slot;
    }
    return sum_curve_load(sweep->store, entry->domain, slot);
}

/* Since the beginning of its curve. */
static uint64_t moments_since(const struct sum_entry *entry, int64_t at_ns)
{
    return entry->piece->before_ns + (uint64_t)(at_ns - entry->start_ns);
}

/* Without a curve, the power is constant. */
static struct part moments_part(struct sweep *sweep, const struct sum_entry *entry, int64_t from_ns,
                                int64_t to_ns)
{
    const struct sum_domain *domain = entry->domain;
    const struct sum_curve *curve = domain ? moments_curve(sweep, entry) : NULL;
    double length_ns = (double)(to_ns - from_ns);
    struct part part;

    if (!domain || (!curve && sweep->columns && !(domain->drawn && domain->energy_j == 0))) {
        return (struct part){0, 0};
    }
    if (!curve) {
        double share = length_ns / (double)(entry->end_ns - entry->start_ns);
        double known = (double)domain->known / SUM_KNOWN_ALL;

        return (struct part){sweep->share * share * domain->energy_j,
                             (uint64_t)(length_ns * known + 0.5)};
    }
    part.energy_j = apapi_timeline_between_j(&curve->timeline, moments_since(entry, from_ns),
                                             moments_since(entry, to_ns), &part.known_ns) *
                    curve->scale * sweep->share;
    return part;
}

/* The end of the piece's next bin; INT64_MAX: no more bins. */
static int64_t next_bin_ns(struct sweep *sweep, const struct sum_entry *entry, int64_t from_ns)
{
    const struct sum_curve *curve = entry->domain ? moments_curve(sweep, entry) : NULL;
    uint64_t since_ns = moments_since(entry, from_ns), bin;
    int64_t end_ns;

    if (!curve) {
        return INT64_MAX;
    }
    bin = since_ns / curve->timeline.bin_ns + 1;
    if (bin >= curve->timeline.count ||
        __builtin_add_overflow(from_ns, bin * curve->timeline.bin_ns - since_ns, &end_ns)) {
        return INT64_MAX;
    }
    return end_ns;
}

/* --- the heap ------------------------------------------------------------------------------- */

static bool is_whole(const struct sum_entry *entry)
{
    return entry->domain && entry->domain->known >= SUM_KNOWN_ALL;
}

/* A piece without gaps is preferred to one with gaps, then the longer one. */
static bool comes_before(const struct sum_entry *a, const struct sum_entry *b)
{
    if (is_whole(a) != is_whole(b)) {
        return is_whole(a);
    }
    return a->end_ns - a->start_ns > b->end_ns - b->start_ns;
}

static void swap(struct sum_entry **a, struct sum_entry **b)
{
    struct sum_entry *held = *a;

    *a = *b;
    *b = held;
}

static void push(struct sweep *sweep, struct sum_entry *piece)
{
    size_t at = sweep->heap_count++;

    sweep->heap[at] = piece;
    while (at > 0 && comes_before(piece, sweep->heap[(at - 1) / 2])) {
        swap(&sweep->heap[at], &sweep->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
}

static struct sum_entry *pop(struct sweep *sweep)
{
    struct sum_entry **heap = sweep->heap, *top = heap[0];
    size_t count = --sweep->heap_count, at = 0;

    heap[0] = heap[count];
    for (size_t child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && comes_before(heap[child + 1], heap[child])) {
            child++;
        }
        if (!comes_before(heap[child], heap[at])) {
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
    struct sum_entry *entries[CANDIDATES];
    size_t count;
    struct part part; /* of the moment, if there is one piece */
};

static bool is_all(uint64_t known_ns, int64_t from_ns, int64_t to_ns)
{
    uint64_t length_ns = (uint64_t)(to_ns - from_ns);

    return known_ns + length_ns / SLACK >= length_ns;
}

/* The piece that knows most of it; NULL: there is none. */
static struct sum_entry *best_of(struct sweep *sweep, const struct choice *choice, int64_t from_ns,
                                 int64_t to_ns, struct part *best)
{
    struct sum_entry *entry = NULL;

    *best = (struct part){0, 0};
    for (size_t i = 0; i < choice->count && !is_all(best->known_ns, from_ns, to_ns); i++) {
        struct part part = moments_part(sweep, choice->entries[i], from_ns, to_ns);

        if (i == 0 || part.known_ns > best->known_ns) {
            *best = part;
            entry = choice->entries[i];
        }
    }
    return entry;
}

/* --- uncertainty ---------------------------------------------------------------------------- */

double sum_cut_j(double swing_w, uint64_t bin_ns, uint64_t before_ns, uint64_t after_ns)
{
    if (bin_ns > 0) {
        before_ns %= bin_ns;
        after_ns = after_ns < bin_ns - before_ns ? after_ns : bin_ns - before_ns;
    }
    return swing_w * (double)(before_ns < after_ns ? before_ns : after_ns) / NS_PER_S;
}

static double moments_cut_j(struct sweep *sweep, const struct sum_entry *entry, int64_t at_ns)
{
    const struct sum_curve *curve = moments_curve(sweep, entry);

    if (at_ns == entry->start_ns || at_ns == entry->end_ns) {
        return 0; /* a part of a record has it already */
    }
    return sum_cut_j((double)entry->domain->swing_w, curve ? curve->timeline.bin_ns : 0,
                     moments_since(entry, at_ns), (uint64_t)(entry->end_ns - at_ns));
}

/* Another piece goes on, or none. */
static void moments_leave(struct sweep *sweep, struct sum_node *total)
{
    if (sweep->last) {
        total->uncertainty_j[sweep->domain] += moments_cut_j(sweep, sweep->last, sweep->last_ns);
    }
    sweep->last = NULL;
}

/* Divide it into the columns. What is used comes in the order of time. */
static void moments_spread(struct sweep *sweep, const struct sum_entry *entry, int64_t from_ns,
                           int64_t to_ns)
{
    const struct columns *columns = sweep->columns;
    const int64_t *edges = columns->edges;

    while (sweep->column < columns->count && edges[sweep->column + 1] <= from_ns) {
        sweep->column++;
    }
    for (size_t c = sweep->column; c < columns->count && edges[c] < to_ns; c++) {
        int64_t begin_ns = from_ns > edges[c] ? from_ns : edges[c];
        int64_t end_ns = to_ns < edges[c + 1] ? to_ns : edges[c + 1];

        if (begin_ns < end_ns) {
            struct part part = moments_part(sweep, entry, begin_ns, end_ns);

            columns->energy_j[c] += part.energy_j;
            columns->known_ns[c] += sweep->again ? 0 : part.known_ns;
        }
    }
}

/* A piece's own uncertainty is of its ends mainly: each part of it may have all of it. */
static void use(struct sweep *sweep, struct sum_entry *entry, int64_t from_ns, int64_t to_ns,
                struct sum_node *total)
{
    double *uncertainty_j = &total->uncertainty_j[sweep->domain];

    if (sweep->last != entry || sweep->last_ns != from_ns) {
        moments_leave(sweep, total);
        *uncertainty_j += moments_cut_j(sweep, entry, from_ns);
    }
    if (!entry->used) {
        *uncertainty_j += entry->domain->uncertainty_j;
        entry->used = true;
    }
    sweep->last = entry;
    sweep->last_ns = to_ns;
    if (sweep->columns) {
        moments_spread(sweep, entry, from_ns, to_ns);
    }
}

/* One piece may know what is a gap of another one: bin by bin. */
static struct part fill_gaps(struct sweep *sweep, const struct choice *choice, int64_t from_ns,
                             int64_t to_ns, struct sum_node *total)
{
    struct part sum = {0, 0};

    while (from_ns < to_ns) {
        int64_t until_ns = to_ns;
        struct sum_entry *entry;
        struct part part;

        for (size_t i = 0; i < choice->count; i++) {
            int64_t edge_ns = next_bin_ns(sweep, choice->entries[i], from_ns);

            until_ns = edge_ns < until_ns ? edge_ns : until_ns;
        }
        entry = best_of(sweep, choice, from_ns, until_ns, &part);
        if (entry && part.known_ns > 0) {
            use(sweep, entry, from_ns, until_ns, total);
        }
        sum.energy_j += part.energy_j;
        sum.known_ns += part.known_ns;
        from_ns = until_ns;
    }
    return sum;
}

/* Choose the pieces to use for a moment, until one knows all of it. They stay in the heap. */
static struct choice moments_choose(struct sweep *sweep, int64_t from_ns, int64_t to_ns)
{
    struct choice choice = {.count = 0};
    bool known = false;

    while (sweep->heap_count > 0 && choice.count < CANDIDATES && !known) {
        struct sum_entry *entry = pop(sweep);

        if (entry->end_ns > from_ns) {
            choice.entries[choice.count++] = entry;
            choice.part = moments_part(sweep, entry, from_ns, to_ns);
            known = is_all(choice.part.known_ns, from_ns, to_ns);
        }
    }
    for (size_t i = 0; i < choice.count; i++) {
        push(sweep, choice.entries[i]);
    }
    if (known) {
        choice.entries[0] = choice.entries[choice.count - 1];
        choice.count = 1;
    }
    return choice;
}

/* So much of the moment is known of these GPUs: on average, if others are known longer or shorter.
 */
static void moment_note(struct moment *moment, uint64_t gpus, uint64_t others, uint64_t known_ns)
{
    double before = __builtin_popcountll(moment->seen), own = __builtin_popcountll(others);

    if (moment->seen) {
        known_ns = (uint64_t)(((double)moment->known_ns * before + (double)known_ns * own) /
                              __builtin_popcountll(moment->seen | gpus));
    }
    moment->known_ns = known_ns;
    moment->seen |= gpus;
}

/* Of a step that has some of its GPUs in common with others, the rest is taken to draw as much as
 * these, and may have drawn anything. */
static void add_moment(struct sweep *sweep, size_t number, struct sum_node *total)
{
    int64_t from_ns = sweep->edges[number], to_ns = sweep->edges[number + 1];
    struct moment *moment = &sweep->moments[number];
    uint64_t others = sweep->gpus & ~moment->taken;
    struct choice choice = {.count = 0};
    struct part part;

    sweep->share = (double)__builtin_popcountll(others) / (double)__builtin_popcountll(sweep->gpus);
    sweep->again = moment->seen != 0;
    if (others) {
        choice = moments_choose(sweep, from_ns, to_ns);
    }
    if (choice.count == 0) {
        return;
    }
    part = choice.count == 1 ? choice.part : fill_gaps(sweep, &choice, from_ns, to_ns, total);
    if (choice.count == 1 && part.known_ns > 0) {
        use(sweep, choice.entries[0], from_ns, to_ns, total);
    }
    total->energy_j[sweep->domain] += part.energy_j;
    total->uncertainty_j[sweep->domain] += sweep->share < 1 ? part.energy_j / sweep->share : 0;
    moment_note(moment, sweep->gpus, others, part.known_ns);
    moment->taken |= part.known_ns > 0 ? sweep->gpus : 0;
}

/* --- a node --------------------------------------------------------------------------------- */

static void moments_divide(struct sweep *sweep)
{
    size_t kept = 0;

    for (size_t i = 0; i < sweep->count; i++) {
        sweep->edges[2 * i] = sweep->entries[i].start_ns;
        sweep->edges[2 * i + 1] = sweep->entries[i].end_ns;
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

/* NULL: not known. */
static const struct sum_domain *moments_domain(const struct sum_store *store,
                                               const struct sum_piece *piece, int domain)
{
    const struct sum_domain *list = store->domains + piece->domain_at;

    for (size_t i = 0; i < piece->domain_count; i++) {
        if (list[i].domain == domain) {
            return &list[i];
        }
    }
    return NULL;
}

static bool has_domain(const struct sweep *sweep, const struct sum_entry *entry)
{
    return entry->domain || entry->piece->unknown_domains & domain_bit(sweep->domain);
}

static uint64_t gpus_of(const struct sweep *sweep, const struct sum_entry *entry)
{
    return sweep->domain == APAPI_DOMAIN_GPU ? entry->piece->gpus : UINT64_MAX;
}

/* More GPUs come first. */
static bool gpus_before(uint64_t a, uint64_t b)
{
    int order = __builtin_popcountll(a) - __builtin_popcountll(b);

    return order > 0 || (order == 0 && a > b);
}

/* Go to the next GPUs that a record has the domain of. @return false: there are none */
static bool next_gpus(struct sweep *sweep)
{
    uint64_t next = 0;

    for (size_t i = 0; i < sweep->count; i++) {
        uint64_t gpus = gpus_of(sweep, &sweep->entries[i]);

        if (has_domain(sweep, &sweep->entries[i]) &&
            (!sweep->gpus || gpus_before(sweep->gpus, gpus)) &&
            (!next || gpus_before(gpus, next))) {
            next = gpus;
        }
    }
    sweep->gpus = next;
    return next != 0;
}

static void moments_add_pieces(struct sweep *sweep, struct sum_node *total)
{
    sweep->next = sweep->heap_count = sweep->column = 0;
    for (size_t i = 0; i + 1 < sweep->edge_count; i++) {
        while (sweep->next < sweep->count &&
               sweep->entries[sweep->next].start_ns <= sweep->edges[i]) {
            struct sum_entry *entry = &sweep->entries[sweep->next++];

            if (has_domain(sweep, entry) && entry->end_ns > entry->start_ns &&
                gpus_of(sweep, entry) == sweep->gpus) {
                push(sweep, entry);
            }
        }
        add_moment(sweep, i, total);
    }
    moments_leave(sweep, total);
}

static void moments_add_domain(struct sweep *sweep, struct sum_node *total)
{
    for (size_t i = 0; i < sweep->count; i++) {
        struct sum_entry *entry = &sweep->entries[i];

        entry->used = false;
        entry->domain = moments_domain(sweep->store, entry->piece, sweep->domain);
    }
    memset(sweep->moments, 0, sweep->edge_count * sizeof *sweep->moments);
    sweep->gpus = 0;
    while (next_gpus(sweep)) {
        moments_add_pieces(sweep, total);
    }
    for (size_t i = 0; i + 1 < sweep->edge_count; i++) {
        const struct moment *moment = &sweep->moments[i];

        if (moment->seen) {
            total->covered_ns[sweep->domain] += moment->known_ns;
            total->recorded_ns[sweep->domain] += (uint64_t)(sweep->edges[i + 1] - sweep->edges[i]);
        }
        if (moment->seen && apapi_domain_adds_up(sweep->domain) &&
            moment->known_ns < sweep->least_ns[i]) {
            sweep->least_ns[i] = moment->known_ns;
        }
    }
}

/* Of a single record its own: it is not known more exactly than the record says. */
static double moments_whole_j(const struct sweep *sweep, const struct sum_node *total, int d)
{
    const struct sum_piece *piece = sweep->entries->piece;

    return sweep->count == 1 && piece->elapsed_ns == piece->whole_ns
               ? sweep->entries->domain->whole_j
               : total->energy_j[d] * (double)total->recorded_ns[d] / (double)total->covered_ns[d];
}

/* @param domain  APAPI_DOMAIN_NONE: all */
static void moments_add_all(struct sweep *sweep, int domain, struct sum_node *total)
{
    *total = (struct sum_node){.total_ns = 0};
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        if (domain == APAPI_DOMAIN_NONE || domain == d) {
            sweep->domain = d;
            moments_add_domain(sweep, total);
            total->whole_j[d] = total->covered_ns[d] > 0 ? moments_whole_j(sweep, total, d) : 0;
        }
    }
    for (size_t i = 0; i < sweep->count; i++) {
        total->unknown_domains |= sweep->entries[i].piece->unknown_domains;
    }
    for (size_t i = 0; i + 1 < sweep->edge_count; i++) {
        total->total_ns += sweep->least_ns[i] == NOT_COUNTED ? 0 : sweep->least_ns[i];
    }
}

/*
 * The same of the entries of a node.
 * @param columns  get the energy as far as there are curves; NULL: only the sum is wanted
 */
static int moments_sweep(const struct sum_store *store, const struct sum_entries *node, int domain,
                         struct columns *columns, struct sum_node *total)
{
    size_t edges = 2 * node->count + 1;
    struct sum_curve curves[CURVES];
    struct sweep sweep = {.store = store,
                          .entries = node->list,
                          .count = node->count,
                          .edges = calloc(edges, sizeof *sweep.edges),
                          .least_ns = calloc(edges, sizeof *sweep.least_ns),
                          .moments = calloc(edges, sizeof *sweep.moments),
                          .heap = calloc(node->count + 1, sizeof(struct sum_entry *)),
                          .curves = curves,
                          .columns = columns};
    int result = sweep.edges && sweep.least_ns && sweep.moments && sweep.heap ? 0 : -1;

    for (size_t i = 0; i < CURVES; i++) {
        curves[i].at = SUM_NO_CURVE;
    }
    if (result == 0) {
        moments_divide(&sweep);
        moments_add_all(&sweep, domain, total);
    }
    free(sweep.edges);
    free(sweep.least_ns);
    free(sweep.moments);
    free(sweep.heap);
    errno = result ? ENOMEM : errno;
    return result;
}

int sum_moments(const struct sum_store *store, struct sum_entry *entries, size_t count,
                struct sum_node *node)
{
    return moments_sweep(store, &(struct sum_entries){entries, count}, APAPI_DOMAIN_NONE, NULL,
                         node);
}

/* --- power over time -------------------------------------------------------------------------- */

struct power {
    const struct sum_store *store;
    const struct sum_power_request *request;
    struct columns columns;
    int64_t *busy_ns, *ran_ns; /* time in each, with any of the nodes, and with one */
    double *power_w;
};

/* Domains that must be known of a node while it runs. */
static uint32_t power_domains(const struct power *power, const struct sum_entries *node)
{
    int wanted = power->request->domain;
    uint32_t domains = 0;

    for (size_t i = 0; i < node->count; i++) {
        const struct sum_piece *piece = node->list[i].piece;

        for (size_t k = 0; k < piece->domain_count; k++) {
            int d = power->store->domains[piece->domain_at + k].domain;

            domains |= wanted == APAPI_DOMAIN_NONE || wanted == d ? domain_bit(d) : 0;
        }
    }
    return domain_list_adding_up(domains);
}

/* When it ran. An incomplete record's step goes on. */
static int power_add_time(const struct sum_entries *node, struct busy *busy)
{
    for (size_t i = 0; i < node->count; i++) {
        const struct sum_entry *entry = &node->list[i];
        int64_t start_ns;

        if (__builtin_sub_overflow(entry->start_ns, entry->piece->late_ns, &start_ns)) {
            start_ns = INT64_MIN;
        }
        if (busy_add(busy, start_ns,
                     entry->piece->reason == POOL_NONE ? entry->end_ns : entry->until_ns)) {
            return -1;
        }
    }
    return 0;
}

/* A node that ran in a part of a column counts for that part of the time with any node. */
static int power_add_domain(struct power *power, const struct sum_entries *node, int domain)
{
    struct columns *columns = &power->columns;
    struct sum_node unused;

    memset(columns->energy_j, 0, columns->count * sizeof *columns->energy_j);
    memset(columns->known_ns, 0, columns->count * sizeof *columns->known_ns);
    if (moments_sweep(power->store, node, domain, columns, &unused)) {
        return -1;
    }
    for (size_t c = 0; c < columns->count; c++) {
        double known_ns = columns->known_ns[c] > 0 ? (double)columns->known_ns[c] : (double)NAN;

        if (power->ran_ns[c] > 0) {
            power->power_w[c] += columns->energy_j[c] * NS_PER_S / known_ns *
                                 (double)power->ran_ns[c] / (double)power->busy_ns[c];
        }
    }
    return 0;
}

/* The nodes one after the other. @param busy  gets the time of all; NULL: add up their power */
static int power_each_node(struct power *power, const struct sum_entries *entries,
                           struct busy *busy)
{
    struct sum_entries node;
    int result = 0;

    for (size_t i = 0; i < entries->count && result == 0; i += node.count) {
        struct busy own = {0};
        uint32_t domains;

        node = (struct sum_entries){entries->list + i,
                                    sum_same_node(entries->list + i, entries->count - i)};
        domains = power->request->node && strcmp(power->request->node, node.list->node) != 0
                      ? 0
                      : power_domains(power, &node);
        if (domains) {
            result = power_add_time(&node, busy ? busy : &own);
        }
        if (!busy) {
            busy_spread(&own, power->columns.edges, power->columns.count, power->ran_ns);
        }
        for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS && !busy && result == 0; d++) {
            result = domains & domain_bit(d) ? power_add_domain(power, &node, d) : 0;
        }
        busy_clear(&own);
    }
    return result;
}

int sum_power(const struct sum_store *store, const struct sum_entries *entries,
              const struct sum_power_request *request, double *power_w)
{
    double length_ns = (double)(request->end_ns - request->start_ns),
           count = (double)request->columns;
    int64_t *times_ns = calloc(4 * (request->columns + 1), sizeof *times_ns);
    int64_t *edges_ns = times_ns, *busy_ns = times_ns + request->columns + 1;
    double *energy_j = calloc(request->columns + 1, sizeof *energy_j);
    struct power power = {.store = store,
                          .request = request,
                          .busy_ns = busy_ns,
                          .ran_ns = busy_ns + request->columns,
                          .power_w = power_w};
    struct busy busy = {0};
    int result = times_ns && energy_j ? 0 : -1;

    if (result == 0) {
        for (size_t c = 0; c <= request->columns; c++) {
            edges_ns[c] = request->start_ns + (int64_t)(length_ns * (double)c / count);
        }
        power.columns = (struct columns){edges_ns, request->columns, energy_j,
                                         (uint64_t *)power.ran_ns + request->columns};
        result = power_each_node(&power, entries, &busy);
        busy_spread(&busy, edges_ns, request->columns, busy_ns);
        for (size_t c = 0; c < request->columns; c++) {
            power_w[c] = busy_ns[c] > 0 ? 0 : NAN;
        }
        result = result ? -1 : power_each_node(&power, entries, NULL);
    }
    busy_clear(&busy);
    free(times_ns);
    free(energy_j);
    errno = result ? ENOMEM : errno;
    return result;
}
