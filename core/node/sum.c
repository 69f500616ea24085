/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/sum.h"

#include <math.h>

static bool node_sum_counts(const struct apapi_live_slot *slot, int domain, bool node_meter)
{
    bool wanted =
        node_meter ? domain == APAPI_DOMAIN_NODE : apapi_domain_adds_up((enum apapi_domain)domain);

    return wanted && slot->flags & APAPI_LIVE_MEASURED && isfinite(slot->total);
}

static void node_sum_add(struct apapi_live_slot *sum, const struct apapi_live_slot *slot,
                         uint64_t time_ns)
{
    double rate = isfinite(slot->rate) ? slot->rate : 0;

    sum->total = (isnan(sum->total) ? 0 : sum->total) + slot->total +
                 rate * (double)(time_ns - slot->time_ns) / 1e9;
    sum->rate = (isnan(sum->rate) ? 0 : sum->rate) + rate;
    sum->interval_ns = slot->interval_ns > sum->interval_ns ? slot->interval_ns : sum->interval_ns;
    sum->flags |= slot->flags;
}

void node_sum(const struct apapi_live_slot domains[APAPI_LIVE_DOMAINS], bool node_meter,
              struct apapi_live_slot *sum)
{
    *sum = (struct apapi_live_slot){.total = NAN, .rate = NAN};
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        if (node_sum_counts(&domains[d], d, node_meter) && domains[d].time_ns > sum->time_ns) {
            sum->time_ns = domains[d].time_ns;
        }
    }
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        if (node_sum_counts(&domains[d], d, node_meter)) {
            node_sum_add(sum, &domains[d], sum->time_ns);
        }
    }
}
