/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIT_COUNTER_FIXTURE_H
#define UNIT_COUNTER_FIXTURE_H
#include "fake/energy_event.h"
#include "measure/counter.h"
#include "unit/unit.h"

#define MS UINT64_C(1000000)
#define TICK_NS (100 * MS)
#define MAX_W 2000.0

/* The usual counter with a range of its own. */
static inline struct apapi_event energy_event(uint64_t range_max)
{
    struct apapi_event event = fake_energy_event;

    event.range_max = range_max;
    event.guard_j = (double)range_max * event.scale;
    return event;
}

static struct apapi_event event;
static struct apapi_counter counter;

static inline void begin(uint64_t range_max)
{
    event = energy_event(range_max);
    apapi_counter_init(&counter, &event, MAX_W);
}

static inline enum apapi_count add(uint64_t raw, uint64_t at_ns)
{
    struct apapi_increment increment;

    return apapi_counter_add(&counter, raw, moment_at(at_ns), &increment);
}

#endif
