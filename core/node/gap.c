/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/gap.h"

#include <math.h>
#include <stdbool.h>

#define GUARDS 4 /* apapi_event_guard_ns() is a quarter of the shortest time between two wraps */

static bool node_gap_may_hide_wrap(const struct apapi_event *event, uint64_t since_ns)
{
    uint64_t guard_ns = apapi_event_guard_ns(event);

    return guard_ns < UINT64_MAX / GUARDS && since_ns >= guard_ns * GUARDS;
}

double node_gap_j(const struct apapi_event *event, const struct node_counter *before, uint64_t raw,
                  uint64_t now_ns)
{
    uint64_t since_ns = now_ns - before->time_ns;
    double most_j = apapi_domain_max_w(event->domain) * (double)since_ns / 1e9;
    double energy_j = apapi_event_value(event, raw) - apapi_event_value(event, before->raw);

    if (now_ns < before->time_ns || node_gap_may_hide_wrap(event, since_ns)) {
        return NAN;
    }
    if (energy_j < 0 && event->range_max > 0) {
        energy_j = (double)(raw + (event->range_max - before->raw) + 1) * event->scale;
    }
    return energy_j >= 0 && energy_j <= most_j ? energy_j : NAN;
}
