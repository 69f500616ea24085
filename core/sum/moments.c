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

/* An unpacked curve. */
struct sum_curve {
    double scale; /* energy of its domain divided by the energy of the bins, which are rounded */
    struct timeline_bins bins;
};

/* The head of a packed curve. The bins' energies follow, and their coverage if it is not whole. */
struct curve_head {
    uint64_t bin_ns, length_ns;
    double scale;
    uint32_t count, whole; /* whole: 0 or 1. There is no padding: it may be written to a file */
};
#define HEAD_FLOATS (sizeof(struct curve_head) / sizeof(float))

/* @return number of floats that a curve takes with its head; 0: the curve has no energy */
static size_t curve_floats(const struct apapi_timeline *timeline, double whole_j, bool *whole)
{
    *whole = true;
    for (size_t i = 0; i < timeline->count && *whole; i++) {
        *whole = timeline->covered_pct[i] == 100;
    }
    return whole_j > 0 ? HEAD_FLOATS + timeline->count * (*whole ? 1 : 2) : 0;
}

size_t sum_curves_size(const struct apapi_record *record)
{
    size_t floats = 0;
    bool whole;

    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        const struct apapi_domain_result *domain = &record->measurement.domains[d];

        if (domain->measured && !isnan(domain->energy_j)) {
            floats +=
                curve_floats(&domain->timeline, apapi_timeline_energy_j(&domain->timeline), &whole);
        }
    }
    return floats * sizeof(float);
}

uint32_t sum_put_curve(struct sum_store *store, const struct apapi_timeline *timeline,
                       double energy_j, bool *failed)
{
    double whole_j = store->curveless ? 0 : apapi_timeline_energy_j(timeline);
    struct curve_head head = {.bin_ns = timeline->bin_ns,
                              .length_ns = timeline->length_ns,
                              .scale = energy_j / whole_j,
                              .count = (uint32_t)timeline->count};
    size_t at = store->curve_count, floats;
    bool whole;

    floats = curve_floats(timeline, whole_j, &whole);
    if (floats == 0) {
        return SUM_NO_CURVE;
    }
    head.whole = whole;
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
    if (!whole) {
        memcpy(store->curves + at + HEAD_FLOATS + head.count, timeline->covered_pct,
               head.count * sizeof(float));
    }
    store->curve_count += floats;
    return (uint32_t)at;
}

/* @return the curve of a domain; no bins: it has none. @param domain  NULL: not known */
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

#define CANDIDATES 8 /* records that are compared for one moment */
#define SLACK 500    /* a moment counts as fully known even if 1/500 of it is missing */
#define NOT_COUNTED UINT64_MAX

/* The energy of a piece in an interval. */
struct part {
    double energy_j;
    uint64_t known_ns;
};

/*
 * A node's time is cut into moments at each start and end of a piece; the last element only ends
 * the moment before it. From known_ns on: of one domain only, as steps may have GPUs of their own.
 */
struct moment {
    int64_t from_ns;   /* the first member, as moments are sorted by compare_int64() */
    uint64_t least_ns; /* time that is known of all domains that add up; NOT_COUNTED */
    uint64_t known_ns;
    uint64_t taken; /* GPUs whose energy is counted */
    uint64_t seen;  /* GPUs of all records */
};

/* One pass over the moments for each domain, and for each set of GPUs. */
struct sweep {
    const struct sum_store *store;
    const struct sum_extent *extent;
    struct sum_entry *entries;
    size_t count;
    struct moment *moments;
    size_t moment_count;
    struct sum_entry **running; /* the preferred entry is the last one; some have ended */
    size_t running_count;
    int domain;
    uint64_t gpus;                /* of the pieces in this pass; all bits: any GPUs, or no GPUs */
    double share;                 /* part of a piece's energy that is of GPUs not taken yet */
    const struct sum_entry *last; /* entry whose energy was counted last, up to last_ns; or NULL */
    int64_t last_ns;
    struct sum_node *total;
};

/* --- what one piece knows ------------------------------------------------------------------- */

/* @return time from the beginning of the entry's curve [ns]. */
static uint64_t moments_since(const struct sum_entry *entry, int64_t at_ns)
{
    return entry->piece->before_ns + (uint64_t)(at_ns - entry->start_ns);
}

/* @return what a piece knows of an interval. Without a curve, its power is taken as constant. */
static struct part moments_part(const struct sweep *sweep, const struct sum_entry *entry,
                                int64_t from_ns, int64_t to_ns)
{
    const struct sum_domain *domain = entry->domain;
    const struct sum_curve curve = sum_curve_of(sweep->store, domain);
    double length_ns = (double)(to_ns - from_ns);
    struct part part;

    if (!domain ||
        (!curve.bins.count && sweep->extent->curves && !(domain->drawn && domain->energy_j == 0))) {
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

/* @return the end of the piece's bin at `from_ns`; INT64_MAX: this is the last bin, or no bin. */
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

/* --- pieces that run at the same time --------------------------------------------------------- */

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

/* Add a running piece. Of two equally good pieces, the one that began first is preferred. */
static void moments_put(struct sweep *sweep, struct sum_entry *entry)
{
    struct sum_entry **running = sweep->running;
    size_t at = 0, end = sweep->running_count++;

    while (at < end) {
        size_t middle = at + (end - at) / 2;

        if (comes_before(entry, running[middle])) {
            at = middle + 1;
        } else {
            end = middle;
        }
    }
    memmove(running + at + 1, running + at,
            (sweep->running_count - 1 - at) * sizeof(struct sum_entry *));
    running[at] = entry;
}

/* Remove pieces that have ended by `at_ns`, as far as they would be candidates. */
static void moments_drop(struct sweep *sweep, int64_t at_ns)
{
    struct sum_entry **running = sweep->running;

    for (size_t i = sweep->running_count, left = CANDIDATES; i-- > 0 && left > 0;) {
        if (running[i]->end_ns <= at_ns) {
            sweep->running_count--;
            memmove(running + i, running + i + 1,
                    (sweep->running_count - i) * sizeof(struct sum_entry *));
        } else {
            left--;
        }
    }
}

static bool is_all(uint64_t known_ns, int64_t from_ns, int64_t to_ns)
{
    uint64_t length_ns = (uint64_t)(to_ns - from_ns);

    return known_ns + length_ns / SLACK >= length_ns;
}

/* @return candidate `number`, 0: the preferred one; NULL: there are no more. */
static struct sum_entry *candidate(const struct sweep *sweep, size_t number)
{
    return number < sweep->running_count && number < CANDIDATES
               ? sweep->running[sweep->running_count - 1 - number]
               : NULL;
}

/* @return the first candidate that knows all of an interval, else the one that knows most. */
static struct sum_entry *best_of(const struct sweep *sweep, int64_t from_ns, int64_t to_ns,
                                 struct part *best)
{
    struct sum_entry *found = NULL, *entry;

    *best = (struct part){0, 0};
    for (size_t i = 0; (entry = candidate(sweep, i)) && !is_all(best->known_ns, from_ns, to_ns);
         i++) {
        struct part part = moments_part(sweep, entry, from_ns, to_ns);

        if (!found || part.known_ns > best->known_ns) {
            *best = part;
            found = entry;
        }
    }
    return found;
}

/* --- uncertainty ---------------------------------------------------------------------------- */

double sum_cut_j(double swing_w, uint64_t bin_ns, uint64_t before_ns, uint64_t after_ns)
{
    if (bin_ns > 0) {
        before_ns %= bin_ns;
        after_ns = after_ns < bin_ns - before_ns ? after_ns : bin_ns - before_ns;
    }
    return before_ns > 0 && after_ns > 0
               ? swing_w / NS_PER_S / (1 / (double)before_ns + 1 / (double)after_ns)
               : 0;
}

static double moments_cut_j(const struct sweep *sweep, const struct sum_entry *entry, int64_t at_ns)
{
    if (at_ns == entry->start_ns || at_ns == entry->end_ns) {
        return 0; /* the uncertainty of a part of a record includes its ends */
    }
    return sum_cut_j((double)entry->domain->swing_w,
                     sum_curve_of(sweep->store, entry->domain).bins.bin_ns,
                     moments_since(entry, at_ns), (uint64_t)(entry->end_ns - at_ns));
}

/* Stop counting the last piece: another piece follows, or none. */
static void moments_leave(struct sweep *sweep)
{
    if (sweep->last) {
        sweep->total->uncertainty_j[sweep->domain] +=
            moments_cut_j(sweep, sweep->last, sweep->last_ns);
    }
    sweep->last = NULL;
}

/* Count a piece from here. Its uncertainty arises mainly at its ends: a part may have all of it. */
static void use(struct sweep *sweep, struct sum_entry *entry, int64_t from_ns, int64_t to_ns)
{
    double *uncertainty_j = &sweep->total->uncertainty_j[sweep->domain];

    if (sweep->last != entry || sweep->last_ns != from_ns) {
        moments_leave(sweep);
        *uncertainty_j += moments_cut_j(sweep, entry, from_ns);
    }
    if (!entry->used) {
        *uncertainty_j += entry->domain->uncertainty_j;
        entry->used = true;
    }
    sweep->last = entry;
    sweep->last_ns = to_ns;
}

/* --- a moment ------------------------------------------------------------------------------- */

/* Use the piece that knows the whole time, else go bin by bin: pieces may know others' gaps. */
static struct part moments_take(struct sweep *sweep, int64_t from_ns, int64_t to_ns)
{
    struct part sum = {0, 0}, part;
    struct sum_entry *entry = best_of(sweep, from_ns, to_ns, &part);
    bool one = !candidate(sweep, 1) || is_all(part.known_ns, from_ns, to_ns);

    for (int64_t until_ns = to_ns; from_ns < to_ns; from_ns = until_ns, until_ns = to_ns) {
        for (size_t i = 0; candidate(sweep, i) && !one; i++) {
            int64_t edge_ns = next_bin_ns(sweep, candidate(sweep, i), from_ns);

            until_ns = edge_ns < until_ns ? edge_ns : until_ns;
        }
        entry = one ? entry : best_of(sweep, from_ns, until_ns, &part);
        if (part.known_ns > 0) {
            use(sweep, entry, from_ns, until_ns);
        }
        sum.energy_j += part.energy_j;
        sum.known_ns += part.known_ns;
    }
    return sum;
}

/* Note how much of the moment is known of these GPUs. If other GPUs are known for a longer or
 * shorter time, the mean is noted. */
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

/* If some of a step's GPUs are counted already with another step, its other GPUs are taken to draw
 * as much as these, but may have drawn anything. */
static void moments_add(struct sweep *sweep, struct moment *moment)
{
    uint64_t others = sweep->gpus & ~moment->taken;
    struct part part;

    moments_drop(sweep, moment->from_ns);
    if (!others || sweep->running_count == 0) {
        return;
    }
    sweep->share = (double)__builtin_popcountll(others) / (double)__builtin_popcountll(sweep->gpus);
    part = moments_take(sweep, moment[0].from_ns, moment[1].from_ns);
    sweep->total->energy_j[sweep->domain] += part.energy_j;
    sweep->total->uncertainty_j[sweep->domain] +=
        sweep->share < 1 ? part.energy_j / sweep->share : 0;
    moment_note(moment, sweep->gpus, others, part.known_ns);
    moment->taken |= part.known_ns > 0 ? sweep->gpus : 0;
}

/* --- a node --------------------------------------------------------------------------------- */

static struct span span_common(const struct span *time, int64_t start_ns, int64_t end_ns)
{
    return (struct span){time->start_ns > start_ns ? time->start_ns : start_ns,
                         time->end_ns < end_ns ? time->end_ns : end_ns};
}

static void moments_divide(struct sweep *sweep)
{
    struct moment *moments = sweep->moments;
    size_t count = 0, kept = 0;

    for (size_t i = 0; i < sweep->count; i++) {
        const struct span part =
            span_common(&sweep->extent->time, sweep->entries[i].start_ns, sweep->entries[i].end_ns);

        if (part.start_ns <= part.end_ns) {
            moments[count++].from_ns = part.start_ns;
            moments[count++].from_ns = part.end_ns;
        }
    }
    qsort(moments, count, sizeof *moments, compare_int64);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || moments[i].from_ns != moments[kept - 1].from_ns) {
            moments[kept++] =
                (struct moment){.from_ns = moments[i].from_ns, .least_ns = NOT_COUNTED};
        }
    }
    sweep->moment_count = kept ? kept - 1 : 0;
}

uint32_t sum_domains_of(const struct sum_store *store, const struct sum_piece *piece)
{
    uint32_t domains = 0;

    for (size_t i = 0; i < piece->domain_count; i++) {
        domains |= domain_bit(store->domains[piece->domain_at + i].domain);
    }
    return domains;
}

/* @return NULL: the domain is not known. */
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

/* @return GPUs of a piece in the domain; all bits: it is no domain of GPUs; 0: it is not there. */
static uint64_t gpus_of(const struct sweep *sweep, const struct sum_entry *entry)
{
    if (!entry->domain && !(entry->piece->unknown_domains & domain_bit(sweep->domain))) {
        return 0;
    }
    return sweep->domain == APAPI_DOMAIN_GPU ? entry->piece->gpus : UINT64_MAX;
}

/* More GPUs come first. */
static bool gpus_before(uint64_t a, uint64_t b)
{
    int order = __builtin_popcountll(a) - __builtin_popcountll(b);

    return order > 0 || (order == 0 && a > b);
}

/* Go to the next set of GPUs that a record has the domain for. @return false: there is none */
static bool next_gpus(struct sweep *sweep)
{
    uint64_t next = 0;

    for (size_t i = 0; i < sweep->count; i++) {
        uint64_t gpus = gpus_of(sweep, &sweep->entries[i]);

        if ((!sweep->gpus || gpus_before(sweep->gpus, gpus)) && gpus_before(gpus, next)) {
            next = gpus;
        }
    }
    sweep->gpus = next;
    return next != 0;
}

static void moments_add_pieces(struct sweep *sweep)
{
    size_t next = 0;

    sweep->running_count = 0;
    for (size_t i = 0; i < sweep->moment_count; i++) {
        int64_t from_ns = sweep->moments[i].from_ns;

        for (; next < sweep->count && sweep->entries[next].start_ns <= from_ns; next++) {
            struct sum_entry *entry = &sweep->entries[next];

            if (gpus_of(sweep, entry) == sweep->gpus && entry->end_ns > from_ns) {
                moments_put(sweep, entry);
            }
        }
        moments_add(sweep, &sweep->moments[i]);
    }
    moments_leave(sweep);
}

static void moments_add_domain(struct sweep *sweep)
{
    struct sum_node *total = sweep->total;
    int d = sweep->domain;

    for (size_t i = 0; i < sweep->count; i++) {
        struct sum_entry *entry = &sweep->entries[i];

        entry->used = false;
        entry->domain = moments_domain(sweep->store, entry->piece, d);
    }
    sweep->gpus = 0;
    while (next_gpus(sweep)) {
        moments_add_pieces(sweep);
    }
    for (size_t i = 0; i < sweep->moment_count; i++) {
        struct moment *moment = &sweep->moments[i];

        if (moment->seen) {
            total->covered_ns[d] += moment->known_ns;
            total->recorded_ns[d] += (uint64_t)(moment[1].from_ns - moment[0].from_ns);
        }
        if (moment->seen && apapi_domain_adds_up(d) && moment->known_ns < moment->least_ns) {
            moment->least_ns = moment->known_ns;
        }
        moment->known_ns = moment->taken = moment->seen = 0;
    }
}

static void moments_add_all(struct sweep *sweep)
{
    const struct sum_entry *first = sweep->entries;
    bool single = sweep->count == 1 && first->piece->elapsed_ns == first->piece->whole_ns;
    struct sum_node *total = sweep->total;

    *total = (struct sum_node){.total_ns = 0};
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        if (sweep->extent->domains & domain_bit(d)) {
            sweep->domain = d;
            moments_add_domain(sweep);
        }
        if (total->covered_ns[d] > 0) { /* a single record's own figure is not known more exactly */
            total->whole_j[d] = single ? first->domain->whole_j
                                       : total->energy_j[d] * (double)total->recorded_ns[d] /
                                             (double)total->covered_ns[d];
        }
    }
    for (size_t i = 0; i < sweep->count; i++) {
        total->unknown_domains |= sweep->entries[i].piece->unknown_domains;
    }
    for (size_t i = 0; i < sweep->moment_count; i++) {
        total->total_ns +=
            sweep->moments[i].least_ns == NOT_COUNTED ? 0 : sweep->moments[i].least_ns;
    }
}

int sum_moments(const struct sum_store *store, const struct sum_entries *node,
                const struct sum_extent *extent, struct sum_node *total)
{
    struct sweep sweep = {.store = store,
                          .extent = extent,
                          .entries = node->list,
                          .count = node->count,
                          .moments = calloc(2 * node->count + 1, sizeof *sweep.moments),
                          .running = calloc(node->count + 1, sizeof(struct sum_entry *)),
                          .total = total};
    int result = sweep.moments && sweep.running ? 0 : -1;

    if (result == 0) {
        moments_divide(&sweep);
        moments_add_all(&sweep);
    }
    free(sweep.moments);
    free(sweep.running);
    errno = result ? ENOMEM : errno;
    return result;
}

/* --- power over time -------------------------------------------------------------------------- */

/* A node whose power is wanted. */
struct power_node {
    struct sum_entries entries;
    uint32_t domains; /* domains that must be known while the node runs */
};

struct power {
    const struct sum_store *store;
    struct power_node *nodes;
    size_t count;
    struct span *spans; /* times in which one node, or all nodes, ran */
};

static int power_find_nodes(struct power *power, const struct sum_entries *entries,
                            const struct sum_power_request *request)
{
    uint32_t wanted = request->domain == APAPI_DOMAIN_NONE ? ~0U : domain_bit(request->domain);

    power->nodes = calloc(entries->count + 1, sizeof *power->nodes);
    power->spans = calloc(entries->count + 1, sizeof *power->spans);
    if (!power->nodes || !power->spans) {
        return -1;
    }
    for (size_t first = 0, next; first < entries->count; first = next) {
        struct power_node *node = &power->nodes[power->count];

        *node = (struct power_node){sum_node_at(entries, first), 0};
        next = first + node->entries.count;
        for (size_t i = first; i < next; i++) {
            node->domains |= sum_domains_of(power->store, entries->list[i].piece);
        }
        node->domains = domain_list_adding_up(node->domains) & wanted;
        power->count += node->domains &&
                        (!request->node || strcmp(request->node, node->entries.list->node) == 0);
    }
    return 0;
}

/* Find when a node ran. The step of an incomplete record goes on. @return the number of spans */
static size_t power_put_spans(const struct sum_entries *node, const struct span *time,
                              struct span *spans)
{
    size_t count = 0;

    for (size_t i = 0; i < node->count; i++) {
        const struct sum_entry *entry = &node->list[i];
        int64_t start_ns;

        if (__builtin_sub_overflow(entry->start_ns, entry->piece->late_ns, &start_ns)) {
            start_ns = INT64_MIN;
        }
        spans[count] = span_common(
            time, start_ns, entry->piece->reason == POOL_NONE ? entry->end_ns : entry->until_ns);
        count += spans[count].start_ns < spans[count].end_ns;
    }
    return count;
}

/* The power is a mean over the time with any node; a node counts for the part in which it ran. */
static int power_of(const struct power *power, const struct span *time, double *power_w)
{
    size_t spans = 0;
    double busy_ns;

    for (size_t n = 0; n < power->count; n++) {
        spans += power_put_spans(&power->nodes[n].entries, time, power->spans + spans);
    }
    busy_ns = spans_length_ns(power->spans, spans);
    *power_w = busy_ns > 0 ? 0 : NAN;
    for (size_t n = 0; n < power->count; n++) {
        const struct power_node *node = &power->nodes[n];
        const struct sum_extent extent = {*time, node->domains, true};
        double ran_ns =
            spans_length_ns(power->spans, power_put_spans(&node->entries, time, power->spans));
        struct sum_node total;

        if (!(ran_ns > 0)) {
            continue;
        }
        if (sum_moments(power->store, &node->entries, &extent, &total)) {
            return -1;
        }
        for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
            double known_ns = total.covered_ns[d] > 0 ? (double)total.covered_ns[d] : (double)NAN;

            if (node->domains & domain_bit(d)) {
                *power_w += total.energy_j[d] * NS_PER_S / known_ns * ran_ns / busy_ns;
            }
        }
    }
    return 0;
}

int sum_power(const struct sum_store *store, const struct sum_entries *entries,
              const struct sum_power_request *request, double *power_w)
{
    double column_ns = (double)(request->end_ns - request->start_ns) / (double)request->columns;
    struct power power = {.store = store};
    int result = power_find_nodes(&power, entries, request);
    struct span time = {.end_ns = request->start_ns};

    for (size_t c = 0; c < request->columns && result == 0; c++) {
        time =
            (struct span){time.end_ns, request->start_ns + (int64_t)(column_ns * (double)(c + 1))};
        result = power_of(&power, &time, &power_w[c]);
    }
    free(power.nodes);
    free(power.spans);
    errno = result ? ENOMEM : errno;
    return result;
}
