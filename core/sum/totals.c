/* SPDX-License-Identifier: BSD-3-Clause */
#include "sum/sum.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/hostlist.h"
#include "record/members.h"
#include "record/record.h"
#include "sum/members.h"

#define NODELISTS_MAX (32 << 20) /* bytes */

/* --- a record ------------------------------------------------------------------------------- */

#define SUM_ROUNDING 1e-6 /* relative rounding error of figures in a record */

/* The mean power applies to the known time. @return the part of the time that is known */
static double sum_known(const struct apapi_domain_result *domain, uint64_t elapsed_ns)
{
    double share = domain->energy_j * NS_PER_S / (domain->power_w.mean * (double)elapsed_ns);

    return share > 0 && share < 1 - SUM_ROUNDING ? share : 1;
}

/* @return the greatest power less the least; 0: not known. */
static double sum_swing_w(const struct apapi_summary *power_w)
{
    return fmax(power_w->max - power_w->min, 0);
}

/* @return part of a domain's energy that is in a piece. @param cut_j  how wrong it may be [J] */
static double sum_share_of(const struct apapi_domain_result *domain, const struct sum_piece *piece,
                           double *cut_j)
{
    const struct apapi_timeline *timeline = &domain->timeline;
    uint64_t bin_ns = timeline->count ? timeline->bin_ns : 0;
    uint64_t end_ns = piece->before_ns + piece->elapsed_ns;
    double swing_w = sum_swing_w(&domain->power_w), whole_j;
    double rounded_j = bin_ns ? timeline_unit_j(timeline) / 2 : 0;

    *cut_j = 0;
    if (piece->elapsed_ns == piece->whole_ns) {
        return 1;
    }
    *cut_j = sum_cut_j(swing_w, bin_ns, piece->before_ns, piece->whole_ns - piece->before_ns) +
             sum_cut_j(swing_w, bin_ns, end_ns, piece->whole_ns - end_ns) +
             (piece->before_ns > 0 ? rounded_j : 0) + (end_ns < piece->whole_ns ? rounded_j : 0);
    whole_j = apapi_timeline_energy_j(timeline);
    return whole_j > 0
               ? apapi_timeline_between_j(timeline, piece->before_ns, end_ns, NULL) / whole_j
               : (double)piece->elapsed_ns / (double)piece->whole_ns;
}

static int sum_put_domain(struct sum_store *store, const struct apapi_record *record, int d,
                          struct sum_piece *piece)
{
    const struct apapi_domain_result *domain = &record->measurement.domains[d];
    const struct apapi_share_energy *given = &record->share.domains[d];
    double energy_j = domain->measured ? domain->energy_j : NAN, time = 1, share, cut_j;
    bool failed = false;
    struct sum_domain known = {.uncertainty_j = domain->uncertainty_j,
                               .covered = (float)domain->covered,
                               .curve = SUM_NO_CURVE,
                               .domain = (uint8_t)d,
                               .drawn = domain->timeline.count > 0};

    if (store->shares) {
        energy_j = piece->shareless ? NAN : given->energy_j;
        known.uncertainty_j = given->uncertainty_j;
    }
    if (domain->measured && isnan(domain->energy_j)) {
        piece->unknown_domains |= (uint8_t)domain_bit(d);
    }
    if (isnan(energy_j)) {
        return 0;
    }
    share = sum_share_of(domain, piece, &cut_j);
    known.energy_j = energy_j * share;
    known.uncertainty_j += cut_j; /* it arises mainly at the ends: each part may have all of it */
    if (!store->shares || piece->exclusive) { /* other shares do not follow the node's power */
        time = sum_known(domain, record->measurement.elapsed_ns);
        known.swing_w = (float)sum_swing_w(&domain->power_w);
        known.curve = sum_put_curve(store, &domain->timeline, energy_j, &failed);
    }
    known.whole_j = known.energy_j / time;
    /* rounded: otherwise the last digits of records would decide which one counts */
    known.known = (uint16_t)round(time * SUM_KNOWN_ALL);
    if (failed || array_add(&store->domains, store->domain_count, &store->domain_room,
                            sizeof *store->domains)) {
        return -1;
    }
    store->domains[store->domain_count++] = known;
    piece->domain_count++;
    return 0;
}

/* @return sum of the maxima of the domains that add up; NaN: not known. */
static double sum_max_w(const struct apapi_measurement *m)
{
    double max_w = NAN;

    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        const struct apapi_domain_result *domain = &m->domains[d];

        if (domain->measured && apapi_domain_adds_up(d)) {
            max_w = known_plus(max_w, domain->power_w.max);
        }
    }
    return max_w;
}

static int sum_put_texts(struct sum_store *store, const struct apapi_record *record,
                         struct sum_piece *piece)
{
    const char *reason = *record->reason ? record->reason : "no reason is given";

    piece->cluster = pool_put(&store->texts, record->id.cluster);
    piece->node = pool_put(&store->texts, record->id.node);
    piece->step = pool_put(&store->texts, record->id.step);
    piece->boot = pool_put(&store->texts, record->measurement.boot);
    piece->reason = record->complete ? POOL_NONE : pool_put(&store->texts, reason);
    piece->nodelist = POOL_NONE;
    if (store->lists && *record->id.nodelist && store->nodelists.size < NODELISTS_MAX) {
        piece->nodelist = pool_put(&store->nodelists, record->id.nodelist);
    }
    return piece->cluster == POOL_NONE || piece->node == POOL_NONE || piece->step == POOL_NONE ||
                   piece->boot == POOL_NONE || (!record->complete && piece->reason == POOL_NONE)
               ? -1
               : 0;
}

int sum_add(struct sum_store *store, const struct apapi_record *record, const struct span *part)
{
    const struct apapi_measurement *m = &record->measurement;
    /* limited to the range: forged records may have any numbers */
    int64_t start_ns = m->start_unix_ns > 0 ? m->start_unix_ns : 0, end_ns = record_end_ns(m);
    const struct span whole = {start_ns, end_ns > start_ns ? end_ns : start_ns};
    struct sum_piece piece = {
        .whole_ns = (uint64_t)(whole.end_ns - start_ns),
        .window_ns = window_shortest_ns(m),
        .gpus = record_gpus(m),
        .job = record->id.job,
        .nodes = record->id.nodes,
        .job_nodes = record->id.job_nodes,
        .cores = record->id.cores,
        .node_cores = record->id.node_cores,
        .restarts = record->id.restarts,
        .code = record->ending.code,
        .signal = record->ending.signal,
        .domain_at = (uint32_t)store->domain_count,
        .covered = (float)m->covered,
        .max_w = store->shares ? NAN : (float)sum_max_w(m),
        .unknown_domains = (uint8_t)m->unknown_domains,
        .delayed = record->delayed,
        .exclusive = strcmp(record->share.method, "exclusive") == 0,
        .shareless = store->shares && !apapi_share_known(&record->share),
        .has_idle = store->shares && share_has_idle(&record->share),
    };
    int failed;

    part = part ? part : &whole;
    piece.gpus = piece.gpus ? piece.gpus : UINT64_MAX;
    piece.start_ns = part->start_ns;
    piece.elapsed_ns = (uint64_t)(part->end_ns - part->start_ns);
    piece.before_ns = (uint64_t)(part->start_ns - start_ns);
    piece.monotonic_ns = m->monotonic_ns + piece.before_ns;
    piece.late_ns = piece.before_ns ? 0 : m->late_ns;
    failed =
        sum_put_texts(store, record, &piece) ||
        array_add(&store->pieces, store->piece_count, &store->piece_room, sizeof *store->pieces);
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS && !failed; d++) {
        failed = sum_put_domain(store, record, d, &piece);
    }
    if (failed) {
        errno = ENOMEM;
        return -1;
    }
    store->pieces[store->piece_count++] = piece;
    return 0;
}

/* A malformed list is no error here: the reader of the records has refused it. */
int sum_ask(struct sum_store *store, const char *nodes)
{
    if (nodes && hostlist_names(nodes, &store->asked) < 0 && errno == ENOMEM) {
        return -1;
    }
    namelist_sort(&store->asked);
    return 0;
}

void sum_free(struct sum_store *store)
{
    namelist_free(&store->asked);
    pool_free(&store->texts);
    pool_free(&store->nodelists);
    free(store->pieces);
    free(store->domains);
    free(store->curves);
    *store = (struct sum_store){0};
}

/* --- the nodes together --------------------------------------------------------------------- */

#define RECORDED 2

/* Time in which at least one record has a domain that [0] does not add up, [1] adds up; [RECORDED]
 * time with a record. */
static int sum_find_busy(const struct sum_store *store, const struct sum_entries *entries,
                         double busy_ns[RECORDED + 1])
{
    struct span *spans = calloc(entries->count + 1, sizeof *spans);

    for (int kind = 0; kind <= RECORDED && spans; kind++) {
        size_t count = 0;

        for (size_t i = 0; i < entries->count; i++) {
            const struct sum_entry *entry = &entries->list[i];
            uint32_t known = sum_domains_of(store, entry->piece);
            uint32_t adding_up = domain_list_adding_up(known);

            if (kind == RECORDED || (kind ? adding_up : known & ~adding_up)) {
                spans[count++] = (struct span){entry->start_ns, entry->end_ns};
            }
        }
        busy_ns[kind] = spans_length_ns(spans, count);
    }
    free(spans);
    return spans ? 0 : -1;
}

static const struct sum_extent everything = {{INT64_MIN, INT64_MAX}, ~0U, false};

/* Add the cores of a node: the step with the most cores shows how many the job has. */
static void sum_add_cores(const struct sum_entries *node, struct apapi_job_total *total)
{
    uint32_t cores = 0, node_cores = 0;

    for (size_t i = 0; i < node->count; i++) {
        cores = known_greater(cores, node->list[i].piece->cores);
        node_cores = known_greater(node_cores, node->list[i].piece->node_cores);
    }
    total->cores = (total->nodes == 0 || total->cores) && cores ? total->cores + cores : 0;
    total->node_cores =
        (total->nodes == 0 || total->node_cores) && node_cores ? total->node_cores + node_cores : 0;
}

/*
 * Shares of steps that run at the same time add up. But a step that had the whole node has all the
 * node's energy, of which each moment counts once.
 */
static int sum_give_shares(const struct sum_store *store, const struct sum_entries *entries,
                           struct sum_node *node)
{
    struct sum_entries whole = {calloc(entries->count + 1, sizeof *whole.list), 0};
    struct sum_node own;
    int result = whole.list ? 0 : -1;

    for (size_t i = 0; i < entries->count && result == 0; i++) {
        whole.list[whole.count] = entries->list[i];
        whole.count += entries->list[i].piece->exclusive;
    }
    result = result ? result : sum_moments(store, &whole, &everything, &own);
    free(whole.list);
    for (int d = 0; d < APAPI_DOMAINS && result == 0; d++) {
        bool known = own.covered_ns[d] > 0;

        node->energy_j[d] = known ? own.energy_j[d] : NAN;
        node->uncertainty_j[d] = known ? own.uncertainty_j[d] : NAN;
    }
    for (size_t i = 0; i < entries->count && result == 0; i++) {
        const struct sum_piece *piece = entries->list[i].piece;
        const struct sum_domain *given = store->domains + piece->domain_at;

        for (size_t k = 0; k < piece->domain_count && !piece->exclusive; k++) {
            sum_plus(given[k].energy_j, given[k].uncertainty_j, &node->energy_j[given[k].domain],
                     &node->uncertainty_j[given[k].domain]);
        }
    }
    return result;
}

static int sum_add_node(const struct sum_store *store, const struct sum_entries *entries,
                        double whole_j[APAPI_DOMAINS], struct apapi_job_total *total)
{
    struct sum_node node;

    if (sum_moments(store, entries, &everything, &node) ||
        (store->shares && sum_give_shares(store, entries, &node))) {
        return -1;
    }
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        struct apapi_job_domain *domain = &total->domains[d];
        bool known = node.covered_ns[d] > 0;

        domain->recorded_ns += node.recorded_ns[d];
        domain->unknown += (node.unknown_domains & domain_bit(d)) != 0;
        domain->covered_ns += node.covered_ns[d];
        domain->nodes += known;
        whole_j[d] += node.whole_j[d];
        if (known || store->shares) {
            sum_plus(node.energy_j[d], node.uncertainty_j[d], &domain->energy_j,
                     &domain->uncertainty_j);
        }
    }
    total->covered_ns += node.total_ns;
    sum_add_cores(entries, total);
    total->nodes++;
    return 0;
}

/*
 * @return whether a domain adds up, and is not in all of the energy. Every node has a package;
 * memory and GPUs are missing on a node only if it has meters for them.
 */
static bool sum_is_missing(const struct apapi_job_total *total, int d)
{
    const struct apapi_job_domain *domain = &total->domains[d];
    uint64_t unknown_ns = domain->recorded_ns - domain->covered_ns;

    return apapi_domain_adds_up(d) &&
           ((d == APAPI_DOMAIN_PACKAGE && domain->nodes > 0 && domain->nodes < total->nodes) ||
            (domain->unknown > 0 && unknown_ns > domain->recorded_ns / SUM_KNOWN_ALL));
}

/* @param whole_j  of each domain, as if no time that has a record were unknown */
static void sum_add_domains(const double whole_j[APAPI_DOMAINS], const double busy_ns[2],
                            struct apapi_job_total *total)
{
    total->energy_j = total->mean_w = total->uncertainty_j = NAN;
    total->busy_ns = (uint64_t)(busy_ns[true] > 0 ? busy_ns[true] : busy_ns[false]);
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        struct apapi_job_domain *domain = &total->domains[d];
        bool adds_up = apapi_domain_adds_up(d);

        total->missing_domains |= sum_is_missing(total, d) ? domain_bit(d) : 0;
        domain->mean_w = domain->nodes > 0 ? whole_j[d] * NS_PER_S / busy_ns[adds_up] : NAN;
        if (adds_up) {
            sum_plus(domain->energy_j, domain->uncertainty_j, &total->energy_j,
                     &total->uncertainty_j);
            total->mean_w = known_plus(total->mean_w, domain->mean_w);
        }
    }
}

static int sum_add_nodes(const struct sum_store *store, const struct sum_entries *entries,
                         struct apapi_job_total *total)
{
    double whole_j[APAPI_DOMAINS] = {0};
    double busy_ns[RECORDED + 1];
    struct sum_entries node;

    for (size_t first = 0; first < entries->count; first += node.count) {
        node = sum_node_at(entries, first);
        if (sum_add_node(store, &node, whole_j, total)) {
            return -1;
        }
    }
    if (sum_find_busy(store, entries, busy_ns)) {
        return -1;
    }
    if (store->mixed) { /* jobs overlap, and the time between them is of no job */
        total->elapsed_ns = (uint64_t)busy_ns[RECORDED];
        total->node_s = busy_ns[RECORDED] / NS_PER_S;
    }
    sum_add_domains(whole_j, busy_ns, total);
    return 0;
}

/* --- the whole ------------------------------------------------------------------------------ */

static void sum_note_pieces(const struct sum_entries *entries, struct apapi_job_total *total)
{
    for (size_t i = 0; i < entries->count; i++) {
        const struct sum_entry *entry = &entries->list[i];
        uint64_t jumped_ns = (uint64_t)llabs(entry->jumped_ns);
        uint64_t apart_ns = (uint64_t)llabs(entry->apart_ns);

        total->clock_jump_ns = jumped_ns > total->clock_jump_ns ? jumped_ns : total->clock_jump_ns;
        total->clock_apart_ns = apart_ns > total->clock_apart_ns ? apart_ns : total->clock_apart_ns;
        if (i == 0 || entry->start_ns < total->start_unix_ns) {
            total->start_unix_ns = entry->start_ns;
        }
        if (i == 0 || entry->end_ns > total->end_unix_ns) {
            total->end_unix_ns = entry->end_ns;
        }
        total->incomplete += entry->piece->reason != POOL_NONE;
        total->window_ns = window_shorter_ns(total->window_ns, entry->piece->window_ns);
    }
}

int sum_total(const struct sum_store *store, struct sum_entries *entries,
              struct apapi_job_total *total)
{
    struct apapi_job_total sum = {.records = entries->count};

    for (size_t i = 0; i < entries->count; i++) { /* they are sorted by step */
        sum.steps += i == 0 || entries->list[i].piece->step != entries->list[i - 1].piece->step;
    }
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        sum.domains[d].energy_j = sum.domains[d].uncertainty_j = NAN;
    }
    if (sum_align(store, entries, &sum) || sum_add_nodes(store, entries, &sum)) {
        errno = ENOMEM;
        return -1;
    }
    if (store->shares) {
        sum.mean_w = sum.energy_j * NS_PER_S / (double)sum.busy_ns;
    }
    sum.job_nodes = sum.nodes > sum.job_nodes ? sum.nodes : sum.job_nodes;
    sum_note_pieces(entries, &sum);
    *total = sum;
    return 0;
}
