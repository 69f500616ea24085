/* SPDX-License-Identifier: BSD-3-Clause */
/* Applies a definition to the event of a source. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "events/definition.h"

#define TOLERANCE 0.01

static const char *const operations[] = {
    [APAPI_OP1_NOP] = "APAPI_OP1_NOP",
    [APAPI_OP1_SAMPLE_DIFF] = "APAPI_OP1_SAMPLE_DIFF",
    [APAPI_OP1_DIV_DIFF_TIME] = "APAPI_OP1_DIV_DIFF_TIME",
    [APAPI_OP1_SAMPLE1_MUL_DIFF_TIME] = "APAPI_OP1_SAMPLE1_MUL_DIFF_TIME",
    [APAPI_OP1_AVG_SAMPLE_MUL_DIFF_TIME] = "APAPI_OP1_AVG_SAMPLE_MUL_DIFF_TIME",
};

const char *apapi_operation_name(enum apapi_operation operation)
{
    return (unsigned)operation < COUNT_OF(operations) ? operations[operation] : "?";
}

/* Units in definitions, with their value in the base unit of their kind. */
static const struct unit {
    const char *name;
    enum apapi_kind kind;
    const char *base;
    double size;
} units[] = {
    {"J", APAPI_KIND_ENERGY, "J", 1},         {"Ws", APAPI_KIND_ENERGY, "J", 1},
    {"kJ", APAPI_KIND_ENERGY, "J", 1e3},      {"MJ", APAPI_KIND_ENERGY, "J", 1e6},
    {"mJ", APAPI_KIND_ENERGY, "J", 1e-3},     {"uJ", APAPI_KIND_ENERGY, "J", 1e-6},
    {"nJ", APAPI_KIND_ENERGY, "J", 1e-9},     {"Wh", APAPI_KIND_ENERGY, "J", 3600},
    {"kWh", APAPI_KIND_ENERGY, "J", 3.6e6},   {"W", APAPI_KIND_POWER, "W", 1},
    {"kW", APAPI_KIND_POWER, "W", 1e3},       {"mW", APAPI_KIND_POWER, "W", 1e-3},
    {"uW", APAPI_KIND_POWER, "W", 1e-6},      {"C", APAPI_KIND_TEMPERATURE, "C", 1},
    {"°C", APAPI_KIND_TEMPERATURE, "C", 1},   {"Hz", APAPI_KIND_FREQUENCY, "Hz", 1},
    {"kHz", APAPI_KIND_FREQUENCY, "Hz", 1e3}, {"KHz", APAPI_KIND_FREQUENCY, "Hz", 1e3},
    {"MHz", APAPI_KIND_FREQUENCY, "Hz", 1e6}, {"GHz", APAPI_KIND_FREQUENCY, "Hz", 1e9},
    {"%", APAPI_KIND_UTILIZATION, "%", 1},
};

static const struct unit *definition_find_unit(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        if (strcmp(units[i].name, name) == 0) {
            return &units[i];
        }
    }
    return NULL;
}

/* The scale of one raw unit to the base unit, as defined. */
static double defined_scale(const struct apapi_definition *definition, const struct unit *unit)
{
    return unit->size / definition->values[0].factor;
}

static bool source_knows(const struct apapi_event *event)
{
    return event->kind != APAPI_KIND_COUNT;
}

static void complete_unit(const struct apapi_definition *definition, struct apapi_event *event)
{
    const struct unit *unit = definition_find_unit(definition->values[0].unit);
    double scale = unit ? defined_scale(definition, unit) : NAN;

    event->accumulates = definition->accumulates;
    event->range_max = definition->accumulates ? definition->range_max : 0;
    if (unit && isfinite(scale) && scale > 0) {
        event->scale = scale;
        event->kind = unit->kind;
        snprintf(event->unit, sizeof event->unit, "%s", unit->base);
        event->guard_j =
            unit->kind == APAPI_KIND_ENERGY ? (double)event->range_max * event->scale : 0;
    }
}

/* A number in an unknown unit must not become joules or watts. */
static bool unit_allows(const struct apapi_event *event, enum apapi_kind kind)
{
    switch (kind) {
    case APAPI_KIND_ENERGY:
        return strcmp(event->unit, "J") == 0;
    case APAPI_KIND_POWER:
        return strcmp(event->unit, "W") == 0;
    default:
        return true;
    }
}

void apapi_definition_complete(const struct apapi_definition *definition, struct apapi_event *event)
{
    if (definition->raw_units && !source_knows(event)) {
        complete_unit(definition, event);
    }
    if (definition->has_kind && unit_allows(event, definition->kind)) {
        event->kind = definition->kind;
    }
    if (definition->has_domain && !event->estimated) {
        event->domain = definition->domain;
    }
}

int apapi_definition_check(const struct apapi_definition *definition,
                           const struct apapi_event *event, struct apapi_error *err)
{
    const struct unit *unit = definition_find_unit(definition->values[0].unit);
    double scale = unit ? defined_scale(definition, unit) : NAN;

    if (!definition->raw_units || !source_knows(event) || !unit || isnan(scale)) {
        return 0;
    }
    if (unit->kind != event->kind) {
        return apapi_fail(err, EDOM, "%.100s: defined as %s in %s, the source gives %s",
                          event->name, apapi_kind_name(unit->kind), unit->name,
                          apapi_kind_name(event->kind));
    }
    if (fabs(scale - event->scale) > TOLERANCE * event->scale) {
        return apapi_fail(err, EDOM,
                          "%.100s: defined to count in %.4g %s, its source counts in %.4g %s",
                          event->name, scale, unit->base, event->scale, event->unit);
    }
    return 0;
}

/* Divisor of an operation that takes its time in seconds instead of nanoseconds. */
static double time_divisor(enum apapi_operation operation)
{
    switch (operation) {
    case APAPI_OP1_DIV_DIFF_TIME:
        return 1.0 / NS_PER_S;
    case APAPI_OP1_SAMPLE1_MUL_DIFF_TIME:
    case APAPI_OP1_AVG_SAMPLE_MUL_DIFF_TIME:
        return NS_PER_S;
    default:
        return 1;
    }
}

double apapi_definition_divisor(const struct apapi_definition *definition,
                                const struct apapi_event *event, int value)
{
    double factor = definition->values[value].factor;

    if (definition->raw_units) {
        return factor;
    }
    return factor / event->scale * (value == 1 ? time_divisor(definition->operation) : 1);
}

const char *apapi_definition_unit(const struct apapi_definition *definition,
                                  const struct apapi_event *event, int value)
{
    const char *unit = definition->values[value].unit;

    return *unit ? unit : event->unit;
}
