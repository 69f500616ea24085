/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs that ran on a node at the same time: each has the energy of the whole node. */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "cli/totals/ledger.h"
#include "cli/totals/order.h"
#include "cli/totals/pieces.h"

/* A piece and its bucket. */
struct entry {
    const struct report_piece *piece;
    uint32_t bucket;
};

struct entries {
    struct entry *list;
    size_t count;
    const struct report_ledger *ledger;
    const struct report_piece **chosen; /* buffer of the same size */
};

static uint32_t cluster_of(const struct report_ledger *ledger, const struct entry *entry)
{
    return ledger->buckets[entry->bucket].cluster;
}

/* Sort by node and time. */
static int compare_entries(const void *left, const void *right, void *ledger)
{
    const struct entry *a = left, *b = right;
    int order = COMPARE(a->piece->node, b->piece->node);

    order = order ? order : COMPARE(cluster_of(ledger, a), cluster_of(ledger, b));
    if (order == 0 && a->piece->start_ns != b->piece->start_ns) {
        order = a->piece->start_ns < b->piece->start_ns ? -1 : 1;
    }
    return order ? order : COMPARE(a->bucket, b->bucket);
}

static int report_shared_compare_buckets(const void *left, const void *right)
{
    return COMPARE(((const struct entry *)left)->bucket, ((const struct entry *)right)->bucket);
}

static int gather(struct entries *entries)
{
    const struct report_ledger *ledger = entries->ledger;
    struct report_ledger context = *ledger;

    entries->list = calloc(ledger->piece_count + 1, sizeof *entries->list);
    entries->chosen = calloc(ledger->piece_count + 1, sizeof(struct report_piece *));
    if (!entries->list || !entries->chosen) {
        return -1;
    }
    for (uint32_t bucket = 0; bucket < ledger->bucket_count; bucket++) {
        bool counts = report_bucket_counts(ledger, bucket);

        for (uint32_t at = ledger->buckets[bucket].first; counts && at != POOL_NONE;
             at = ledger->pieces[at].next) {
            entries->list[entries->count++] = (struct entry){&ledger->pieces[at], bucket};
        }
    }
    qsort_r(entries->list, entries->count, sizeof *entries->list, compare_entries, &context);
    return 0;
}

static size_t report_shared_same_node(const struct entries *entries, size_t first)
{
    const struct entry *list = entries->list;
    size_t end = first + 1;

    while (end < entries->count && list[end].piece->node == list[first].piece->node &&
           cluster_of(entries->ledger, &list[end]) == cluster_of(entries->ledger, &list[first])) {
        end++;
    }
    return end - first;
}

static int64_t report_shared_end_ns(const struct entry *entry)
{
    return entry->piece->start_ns + (int64_t)entry->piece->elapsed_ns;
}

/* Whether pieces of different buckets overlap. They are sorted by their start. */
static bool is_shared(const struct entry *entries, size_t count)
{
    const struct entry *last = &entries[0]; /* the one with the latest end */

    for (size_t i = 1; i < count; i++) {
        if (entries[i].bucket != last->bucket &&
            entries[i].piece->start_ns < report_shared_end_ns(last)) {
            return true;
        }
        last = report_shared_end_ns(&entries[i]) > report_shared_end_ns(last) ? &entries[i] : last;
    }
    return false;
}

/* The energy of some pieces of a node, each moment once; 0 if not known. */
static int energy_of(const struct entries *entries, const struct entry *list, size_t count,
                     double *energy_j)
{
    struct pieces pieces = {.list = entries->chosen, .count = count};
    struct apapi_job_total total;

    for (size_t i = 0; i < count; i++) {
        entries->chosen[i] = list[i].piece;
    }
    if (report_pieces_total(entries->ledger, &pieces, &total)) {
        return -1;
    }
    *energy_j = isnan(total.energy_j) ? 0 : total.energy_j;
    return 0;
}

/* Add the energy of a node's buckets beyond what the node has used. */
static int report_shared_add_node(const struct entries *entries, struct entry *list, size_t count,
                                  double *shared_j)
{
    double node_j = 0, sum_j = 0;
    int result = energy_of(entries, list, count, &node_j);

    qsort(list, count, sizeof *list, report_shared_compare_buckets);
    for (size_t first = 0, own; first < count && result == 0; first += own) {
        double energy_j = 0;

        for (own = 1; first + own < count && list[first + own].bucket == list[first].bucket;) {
            own++;
        }
        result = energy_of(entries, list + first, own, &energy_j);
        sum_j += energy_j;
    }
    *shared_j += fmax(sum_j - node_j, 0);
    return result;
}

int report_ledger_shared(const struct report_ledger *ledger, double *shared_j)
{
    struct entries entries = {.ledger = ledger};
    int result = 0;

    *shared_j = 0;
    if (ledger->by == REPORT_BY_NODE || ledger->by == REPORT_BY_STEP ||
        ledger->by == REPORT_BY_REGION || ledger->shares) {
        return 0; /* rows are not added up, or only steps of one job are, regions, or shares */
    }
    result = gather(&entries);
    for (size_t first = 0, count; first < entries.count && result == 0; first += count) {
        count = report_shared_same_node(&entries, first);
        if (is_shared(entries.list + first, count)) {
            result = report_shared_add_node(&entries, entries.list + first, count, shared_j);
        }
    }
    free(entries.list);
    free(entries.chosen);
    return result;
}
