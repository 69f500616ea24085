/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MS_COMMON_TARGET_H
#define MS_COMMON_TARGET_H
#include <stdbool.h>
#include <stdint.h>

#include "apapi/measurement.h"
#include "apapi/session.h"
#include "ms_common/map.h"

/* A measurement of a list that is being filled with the figures of a resource. */

struct target {
    enum resource resource;
    void *measurement; /* of the program; NULL: this resource is not measured now */
    uint64_t interval_ns;
    struct map map;
    bool mapped;
    struct figure *figures; /* of the latest reading, for each event; owned */
    struct course *courses; /* of its readings so far; owned */
};

/** @return the interval that the program has set, within what a session accepts [ns]. */
uint64_t target_interval_ns(enum resource resource, void *measurement);

/** Begin with all figures 0. */
void target_start(struct target *target);

/** Store the values of a reading of a session, and the totals up to it. */
void target_take_sample(struct target *target, const struct apapi_sample *sample);

/** Store what a session has measured. */
void target_take_result(struct target *target, const struct apapi_component_result *result,
                        uint64_t runtime_ns);

/** Store figures of other events. */
void target_take_figures(struct target *target, const struct event_table *events,
                         const struct figure *figures, uint64_t runtime_ns);

void target_clear(struct target *target);

#endif
