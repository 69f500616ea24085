/* SPDX-License-Identifier: BSD-3-Clause */
/* The power of records over time, packed. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sum/sum.h"

/* Before the packed energies of the bins, and their coverage if it is not whole. */
struct curve_head {
    uint64_t bin_ns, length_ns;
    double scale;
    uint32_t count;
    bool whole;
};
#define HEAD_FLOATS (sizeof(struct curve_head) / sizeof(float))

static void sum_drop_curves(struct sum_store *store)
{
    free(store->curves);
    store->curves = NULL;
    store->curve_count = store->curve_room = 0;
    store->curveless = true;
}

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
        sum_drop_curves(store);
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

const struct sum_curve *sum_curve_load(const struct sum_store *store,
                                       const struct sum_domain *domain, struct sum_curve *curve)
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
