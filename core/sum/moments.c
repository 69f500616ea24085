/* SPDX-License-Identifier: BSD-3-Clause */
/* The energy and the power of nodes, whose records overlap: each moment counts once. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "measure/domain.h"
#include "record/record.h"
#include "sum/sum.h"

/* --- curves, packed --------------------------------------------------------------------------- */

/* A curve as it is used. */
struct sum_curve {
    double scale; /* its domain's energy by that of the bins, which are rounded */
    struct timeline_bins bins;
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

/* Without bins: it has none. @param domain  NULL: not known */
static struct sum_curve sum_curve_of(const struct sum_store *store, const struct sum_domain *domain)
{
    struct curve_head head;
    const float *bins;

    if (!domain || store->curveless || domain->curve == SUM_NO_CURVE) {
        return (struct sum_curve){.scale = 0};
    }
    memcpy(&head, store->curves + domain->curve, sizeof head);
    bins = store->curves + domain->curve + HEAD_FLOATS;
    return (struct sum_curve){.scale = head.scale,
                              .bins = {.bin_ns = head.bin_ns,
                                       .length_ns = head.length_ns,
                                       .count = head.count,
                                       .energy_j = bins,
                                       .covered_pct = head.whole ? NULL : bins + head.count}};
}

/* --- the energy of one node ------------------------------------------------------------------- */

#define CANDIDATES 8 /* records compared for one moment */
#define SLACK 500    /* 1/500 of a moment may be missing if it counts as fully known */
#define NOT_COUNTED UINT64_MAX

/* Parts of the time, and what curves know of each. */
struct sum_columns {
    int domain;
    const int64_t *edges; /* one more than `count` */
    size_t count;
    double *energy_j;
    uint64_t *known_ns;
};

/* The part of a time that is in the column that begins at `edges`. */
static struct span span_common(const int64_t *edges, int64_t from_ns, int64_t to_ns)
{
    return (struct span){from_ns > edges[0] ? from_ns : edges[0],
                         to_ns < edges[1] ? to_ns : edges[1]};
}

/* A piece's figures of an interval. */
struct part {
    double energy_j;
    uint64_t known_ns;
};

/* A domain in a moment, as far as it is counted. Steps may have GPUs of their own, which add up. */
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
    const struct sum_columns *columns; /* NULL: only the sum is wanted */
    size_t column;                     /* where the time is in them */
};

/* --- what one piece knows ------------------------------------------------------------------- */

/* Since the beginning of its curve. */
static uint64_t moments_since(const struct sum_entry *entry, int64_t at_ns)
{
    return entry->piece->before_ns + (uint64_t)(at_ns - entry->start_ns);
}

/* Without a curve, the power is constant. */
static struct part moments_part(const struct sweep *sweep, const struct sum_entry *entry,
                                int64_t from_ns, int64_t to_ns)
{
    const struct sum_domain *domain = entry->domain;
    const struct sum_curve curve = sum_curve_of(sweep->store, domain);
    double length_ns = (double)(to_ns - from_ns);
    struct part part;

    if (!domain ||
        (!curve.bins.count && sweep->columns && !(domain->drawn && domain->energy_j == 0))) {
        return (struct part){0, 0};
    }
    if (!curve.bins.count) {
        double share = length_ns / (double)(entry->end_ns - entry->start_ns);
        double known = (double)domain->known / SUM_KNOWN_ALL;

        return (struct part){sweep->share * share * domain->energy_j,
                             (uint64_t)(length_ns * known + 0.5)};
    }
    part.energy_j = timeline_bins_between_j(&curve.bins, moments_since(entry, from_ns),
                                            moments_since(entry, to_ns), &part.known_ns) *
                    curve.scale * sweep->share;
    return part;
}

/* The end of the piece's next bin; INT64_MAX: no more bins. */
static int64_t next_bin_ns(const struct sweep *sweep, const struct sum_entry *entry,
                           int64_t from_ns)
{
    const struct timeline_bins bins = sum_curve_of(sweep->store, entry->domain).bins;
    uint64_t since_ns = moments_since(entry, from_ns), next;
    int64_t end_ns;

    if (!bins.count) {
        return INT64_MAX;
    }
    next = since_ns / bins.bin_ns + 1;
    if (next >= bins.count ||
        __builtin_add_overflow(from_ns, next * bins.bin_ns - since_ns, &end_ns)) {
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

static void push(struct sweep *sweep, struct sum_entry *piece)
{
    struct sum_entry **heap = sweep->heap;
    size_t at = sweep->heap_count++;

    for (; at > 0 && comes_before(piece, heap[(at - 1) / 2]); at = (at - 1) / 2) {
        heap[at] = heap[(at - 1) / 2];
    }
    heap[at] = piece;
}

static struct sum_entry *pop(struct sweep *sweep)
{
    size_t count = --sweep->heap_count, at = 0;
    struct sum_entry **heap = sweep->heap, *top = heap[0], *last = heap[count];

    for (size_t child = 1; child < count; child = 2 * at + 1) {
        child += child + 1 < count && comes_before(heap[child + 1], heap[child]);
        if (!comes_before(heap[child], last)) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
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
static struct sum_entry *best_of(const struct sweep *sweep, const struct choice *choice,
                                 int64_t from_ns, int64_t to_ns, struct part *best)
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

static double moments_cut_j(const struct sweep *sweep, const struct sum_entry *entry, int64_t at_ns)
{
    if (at_ns == entry->start_ns || at_ns == entry->end_ns) {
        return 0; /* a part of a record has it already */
    }
    return sum_cut_j((double)entry->domain->swing_w,
                     sum_curve_of(sweep->store, entry->domain).bins.bin_ns,
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
    const struct sum_columns *columns = sweep->columns;

    while (sweep->column < columns->count && columns->edges[sweep->column + 1] <= from_ns) {
        sweep->column++;
    }
    for (size_t c = sweep->column; c < columns->count && columns->edges[c] < to_ns; c++) {
        const struct span part_of = span_common(columns->edges + c, from_ns, to_ns);

        if (part_of.start_ns < part_of.end_ns) {
            struct part part = moments_part(sweep, entry, part_of.start_ns, part_of.end_ns);

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

uint32_t sum_domains_of(const struct sum_store *store, const struct sum_piece *piece)
{
    uint32_t domains = 0;

    for (size_t i = 0; i < piece->domain_count; i++) {
        domains |= domain_bit(store->domains[piece->domain_at + i].domain);
    }
    return domains;
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

static void moments_add_all(struct sweep *sweep, struct sum_node *total)
{
    *total = (struct sum_node){.total_ns = 0};
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        if (!sweep->columns || sweep->columns->domain == d) {
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

int sum_moments(const struct sum_store *store, const struct sum_entries *node,
                const struct sum_columns *columns, struct sum_node *total)
{
    size_t edges = 2 * node->count + 1;
    struct sweep sweep = {.store = store,
                          .entries = node->list,
                          .count = node->count,
                          .edges = calloc(edges, sizeof *sweep.edges),
                          .least_ns = calloc(edges, sizeof *sweep.least_ns),
                          .moments = calloc(edges, sizeof *sweep.moments),
                          .heap = calloc(node->count + 1, sizeof(struct sum_entry *)),
                          .columns = columns};
    int result = sweep.edges && sweep.least_ns && sweep.moments && sweep.heap ? 0 : -1;

    if (result == 0) {
        moments_divide(&sweep);
        moments_add_all(&sweep, total);
    }
    free(sweep.edges);
    free(sweep.least_ns);
    free(sweep.moments);
    free(sweep.heap);
    errno = result ? ENOMEM : errno;
    return result;
}

/* --- power over time -------------------------------------------------------------------------- */

struct power {
    const struct sum_store *store;
    const struct sum_power_request *request;
    struct sum_columns columns;
    int64_t *busy_ns, *ran_ns; /* time in each, with any of the nodes, and with one */
    struct span *spans;        /* when a node ran, or all */
    double *power_w;
};

/* Domains that must be known of a node while it runs. */
static uint32_t power_domains(const struct power *power, const struct sum_entries *node)
{
    const struct sum_power_request *request = power->request;
    uint32_t domains = 0;

    for (size_t i = 0; i < node->count; i++) {
        domains |= sum_domains_of(power->store, node->list[i].piece);
    }
    if (request->node && strcmp(request->node, node->list->node) != 0) {
        return 0;
    }
    return domain_list_adding_up(domains) &
           (request->domain == APAPI_DOMAIN_NONE ? ~0U : domain_bit(request->domain));
}

/* When it ran. An incomplete record's step goes on. @return the number of spans */
static size_t power_put_spans(const struct sum_entries *node, struct span *spans)
{
    for (size_t i = 0; i < node->count; i++) {
        const struct sum_entry *entry = &node->list[i];

        if (__builtin_sub_overflow(entry->start_ns, entry->piece->late_ns, &spans[i].start_ns)) {
            spans[i].start_ns = INT64_MIN;
        }
        spans[i].end_ns = entry->piece->reason == POOL_NONE ? entry->end_ns : entry->until_ns;
    }
    return node->count;
}

/* How long one of the spans runs in each column. */
static void power_find_times(const struct power *power, size_t span_count, int64_t *times_ns)
{
    const struct sum_columns *columns = &power->columns;

    memset(times_ns, 0, columns->count * sizeof *times_ns);
    span_count = spans_unite(power->spans, span_count);
    for (size_t i = 0; i < span_count; i++) {
        for (size_t c = 0; c < columns->count; c++) {
            const struct span ran =
                span_common(columns->edges + c, power->spans[i].start_ns, power->spans[i].end_ns);

            times_ns[c] += ran.end_ns > ran.start_ns ? ran.end_ns - ran.start_ns : 0;
        }
    }
}

/* A node that ran in a part of a column counts for that part of the time with any node. */
static int power_add_domain(struct power *power, const struct sum_entries *node)
{
    struct sum_columns *columns = &power->columns;
    struct sum_node unused;

    memset(columns->energy_j, 0, columns->count * sizeof *columns->energy_j);
    memset(columns->known_ns, 0, columns->count * sizeof *columns->known_ns);
    if (sum_moments(power->store, node, columns, &unused)) {
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

static int power_add_node(struct power *power, const struct sum_entries *node)
{
    struct sum_columns *columns = &power->columns;
    uint32_t domains = power_domains(power, node);
    int result = 0;

    if (domains) {
        power_find_times(power, power_put_spans(node, power->spans), power->ran_ns);
    }
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS && result == 0; d++) {
        columns->domain = d;
        result = domains & domain_bit(d) ? power_add_domain(power, node) : 0;
    }
    return result;
}

static int power_add_nodes(struct power *power, const struct sum_entries *entries)
{
    struct sum_entries node;
    size_t spans = 0;
    int result = 0;

    for (size_t i = 0; i < entries->count; i += node.count) {
        node = sum_node_at(entries, i);
        spans += power_domains(power, &node) ? power_put_spans(&node, power->spans + spans) : 0;
    }
    power_find_times(power, spans, power->busy_ns);
    for (size_t c = 0; c < power->columns.count; c++) {
        power->power_w[c] = power->busy_ns[c] > 0 ? 0 : NAN;
    }
    for (size_t i = 0; i < entries->count && result == 0; i += node.count) {
        node = sum_node_at(entries, i);
        result = power_add_node(power, &node);
    }
    return result;
}

int sum_power(const struct sum_store *store, const struct sum_entries *entries,
              const struct sum_power_request *request, double *power_w)
{
    double length_ns = (double)(request->end_ns - request->start_ns);
    size_t count = request->columns;
    int64_t *edges_ns = calloc(4 * (count + 1), sizeof *edges_ns);
    double *energy_j = calloc(count + 1, sizeof *energy_j);
    struct power power = {.store = store,
                          .request = request,
                          .spans = calloc(entries->count + 1, sizeof *power.spans),
                          .power_w = power_w};
    int result = edges_ns && energy_j && power.spans ? 0 : -1;

    if (result == 0) {
        for (size_t c = 0; c <= count; c++) {
            edges_ns[c] = request->start_ns + (int64_t)(length_ns * (double)c / (double)count);
        }
        power.busy_ns = edges_ns + count + 1;
        power.ran_ns = power.busy_ns + count;
        power.columns = (struct sum_columns){.edges = edges_ns,
                                             .count = count,
                                             .energy_j = energy_j,
                                             .known_ns = (uint64_t *)power.ran_ns + count};
        result = power_add_nodes(&power, entries);
    }
    free(edges_ns);
    free(energy_j);
    free(power.spans);
    errno = result ? ENOMEM : errno;
    return result;
}
