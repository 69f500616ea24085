/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/period.h"

#include <math.h>

void apapi_period_add(struct apapi_period_meter *meter, uint64_t now_ns)
{
    if (meter->last_ns) {
        uint64_t distance_ns = now_ns - meter->last_ns;
        double before = (double)distance_ns - meter->mean_ns;

        meter->count++;
        meter->mean_ns += before / (double)meter->count;
        meter->squares += before * ((double)distance_ns - meter->mean_ns);
        if (distance_ns > meter->longest_ns) {
            meter->longest_ns = distance_ns;
        }
    }
    meter->last_ns = now_ns;
}

struct apapi_period apapi_period_result(const struct apapi_period_meter *meter)
{
    struct apapi_period period = {meter->count, NAN, NAN, NAN};

    if (meter->count > 0) {
        period.mean_s = meter->mean_ns / 1e9;
        period.longest_s = (double)meter->longest_ns / 1e9;
    }
    if (meter->count > 1) {
        period.sd_s = sqrt(meter->squares / (double)(meter->count - 1)) / 1e9;
    }
    return period;
}
