/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIT_METER_FIXTURE_H
#define UNIT_METER_FIXTURE_H
/* Meters that are fed with scripted readings. */
#include "fake/energy_event.h"
#include "measure/meter.h"
#include "unit/near.h"

#define MS UINT64_C(1000000)
#define TICK_NS (100 * MS)

static inline void finish(struct apapi_meter *meter, uint64_t elapsed_ns,
                          struct apapi_event_result *result)
{
    const struct apapi_span span = {.elapsed_ns = elapsed_ns};

    apapi_meter_finish(meter, &span, result);
}

#endif
