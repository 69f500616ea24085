/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs that ran on a node at the same time: each has the energy of the whole node. */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "cli/totals/totals.h"

/* A piece and its bucket. */
struct entry {
    uint32_t piece, bucket;
};

struct entries {
    struct entry *list;
    size_t count;
    const struct report_ledger *ledger;
    uint32_t *chosen; /* buffer of the same size */
};

static const struct sum_piece *piece_of(const struct entries *entries, const struct entry *entry)
{
    return &entries->ledger->store.pieces[entry->piece];
}

/* Sort by node and time. */
static int compare_entries(const void *left, const void *right, void *context)
{
    const struct entry *one = left, *other = right;
    const struct sum_piece *a = (const struct sum_piece *)context + one->piece,
                           *b = (const struct sum_piece *)context + other->piece;
    int order = COMPARE(a->node, b->node);

    order = order ? order : COMPARE(a->cluster, b->cluster);
    order = order ? order : COMPARE(a->start_ns, b->start_ns);
    return order ? order : COMPARE(one->bucket, other->bucket);
}

static int report_shared_compare_buckets(const void *left, const void *right)
{
    return COMPARE(((const struct entry *)left)->bucket, ((const struct entry *)right)->bucket);
}

static int gather(struct entries *entries)
{
    const struct report_ledger *ledger = entries->ledger;
    struct sum_piece *pieces = ledger->store.pieces;

    entries->list = calloc(ledger->store.piece_count + 1, sizeof *entries->list);
    entries->chosen = calloc(ledger->store.piece_count + 1, sizeof *entries->chosen);
    if (!entries->list || !entries->chosen) {
        return -1;
    }
    for (uint32_t bucket = 0; bucket < ledger->bucket_count; bucket++) {
        bool counts = report_bucket_counts(ledger, bucket);

        for (uint32_t at = ledger->buckets[bucket].sum.first; counts && at != POOL_NONE;
             at = pieces[at].next) {
            entries->list[entries->count++] = (struct entry){at, bucket};
        }
    }
    qsort_r(entries->list, entries->count, sizeof *entries->list, compare_entries, pieces);
    return 0;
}

static size_t report_shared_same_node(const struct entries *entries, size_t first)
{
    const struct sum_piece *piece = piece_of(entries, &entries->list[first]);
    size_t end = first + 1;

    while (end < entries->count && piece_of(entries, &entries->list[end])->node == piece->node &&
           piece_of(entries, &entries->list[end])->cluster == piece->cluster) {
        end++;
    }
    return end - first;
}

static int64_t report_shared_end_ns(const struct sum_piece *piece)
{
    return piece->start_ns + (int64_t)piece->elapsed_ns;
}

/* Whether pieces of different buckets overlap. They are sorted by their start. */
static bool is_shared(const struct entries *entries, size_t first, size_t count)
{
    const struct entry *list = entries->list + first, *last = list; /* with the latest end */

    for (size_t i = 1; i < count; i++) {
        const struct sum_piece *piece = piece_of(entries, &list[i]);
        int64_t last_ns = report_shared_end_ns(piece_of(entries, last));

        if (list[i].bucket != last->bucket && piece->start_ns < last_ns) {
            return true;
        }
        last = report_shared_end_ns(piece) > last_ns ? &list[i] : last;
    }
    return false;
}

/* The energy of some pieces of a node, each moment once; 0 if not known. */
static int energy_of(const struct entries *entries, const struct entry *list, size_t count,
                     double *energy_j)
{
    const struct sum_store *store = &entries->ledger->store;
    struct sum_entries chosen = {NULL, 0};
    struct sum_total total;
    int result;

    for (size_t i = 0; i < count; i++) {
        entries->chosen[i] = list[i].piece;
    }
    result = sum_gather_these(store, entries->chosen, count, &chosen) ||
                     sum_total(store, &chosen, &total)
                 ? -1
                 : 0;
    if (result == 0) {
        *energy_j = isnan(total.job.energy_j) ? 0 : total.job.energy_j;
    }
    free(chosen.list);
    return result;
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
        ledger->by == REPORT_BY_REGION || ledger->store.shares) {
        return 0; /* rows are not added up, or only steps of one job are, regions, or shares */
    }
    result = gather(&entries);
    for (size_t first = 0, count; first < entries.count && result == 0; first += count) {
        count = report_shared_same_node(&entries, first);
        if (is_shared(&entries, first, count)) {
            result = report_shared_add_node(&entries, entries.list + first, count, shared_j);
        }
    }
    free(entries.list);
    free(entries.chosen);
    return result;
}
