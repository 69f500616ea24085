/* SPDX-License-Identifier: BSD-3-Clause */
#include "events/builtin.h"

#define MIN_MAX_AVG (APAPI_STAT_MIN | APAPI_STAT_MAX | APAPI_STAT_AVG)

#define GAUGE(word)                                                                                \
    {                                                                                              \
        .name = "*", .operation = APAPI_OP1_NOP,                                                   \
        .values = {{MIN_MAX_AVG, word, "", 1}, {APAPI_STAT_NO, "-", "-", 1}},                      \
    }

static const struct apapi_definition gauges[APAPI_KINDS] = {
    [APAPI_KIND_ENERGY] = GAUGE("energy"),
    [APAPI_KIND_POWER] =
        {
            .name = "*",
            .operation = APAPI_OP1_AVG_SAMPLE_MUL_DIFF_TIME,
            .values = {{MIN_MAX_AVG, "power", "W", 1}, {APAPI_STAT_ACC, "energy", "J", 1}},
        },
    [APAPI_KIND_TEMPERATURE] = GAUGE("temperature"),
    [APAPI_KIND_FREQUENCY] = GAUGE("frequency"),
    [APAPI_KIND_UTILIZATION] = GAUGE("utilization"),
    [APAPI_KIND_COUNT] = GAUGE("value"),
};

static const struct apapi_definition energy_counter = {
    .name = "*",
    .operation = APAPI_OP1_DIV_DIFF_TIME,
    .values = {{APAPI_STAT_ACC, "energy", "J", 1}, {MIN_MAX_AVG, "power", "W", 1}},
};

static const struct apapi_definition any_counter = {
    .name = "*",
    .operation = APAPI_OP1_DIV_DIFF_TIME,
    .values = {{APAPI_STAT_ACC, "count", "", 1}, {MIN_MAX_AVG, "rate", "1/s", 1}},
};

const struct apapi_definition *event_builtin_definition(const struct apapi_event *event)
{
    unsigned kind = (unsigned)event->kind < APAPI_KINDS ? event->kind : APAPI_KIND_COUNT;

    if (event->accumulates) {
        return kind == APAPI_KIND_ENERGY ? &energy_counter : &any_counter;
    }
    return &gauges[kind];
}
