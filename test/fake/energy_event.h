/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FAKE_ENERGY_EVENT_H
#define FAKE_ENERGY_EVENT_H
#include "apapi/event.h"

/** A counter of microjoules like RAPL's, which moves once a millisecond. */
static const struct apapi_event fake_energy_event = {
    .name = "rapl:::PACKAGE_ENERGY:PACKAGE0",
    .unit = "J",
    .kind = APAPI_KIND_ENERGY,
    .domain = APAPI_DOMAIN_PACKAGE,
    .type = APAPI_TYPE_UINT64,
    .accumulates = true,
    .range_max = 262143328850,
    .scale = 1e-6,
    .guard_j = 262143.328850,
    .update_ns = 1000000,
};

#endif
