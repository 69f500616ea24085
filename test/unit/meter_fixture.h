/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIT_METER_FIXTURE_H
#define UNIT_METER_FIXTURE_H
/* Meters that are fed with scripted readings. */
#include <math.h>

#include "fake/energy_event.h"
#include "measure/meter.h"
#include "unit/unit.h"

#define MS UINT64_C(1000000)
#define TICK_NS (100 * MS)

/* What is not known is NaN. */
static inline void assert_near(double value, double truth)
{
    if (isnan(truth) ? !isnan(value) : !(fabs(value - truth) <= 1e-9 * fmax(1, fabs(truth)))) {
        fail_msg("%.12g is not %.12g", value, truth);
    }
}

static inline void finish(struct apapi_meter *meter, uint64_t elapsed_ns,
                          struct apapi_event_result *result)
{
    const struct apapi_span span = {.elapsed_ns = elapsed_ns};

    apapi_meter_finish(meter, &span, result);
}

#endif
