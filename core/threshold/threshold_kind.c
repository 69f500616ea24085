/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>

#include "threshold/amount.h"
#include "threshold/threshold.h"

/* @return the unit of a level; THRESHOLD_PLAIN: none of those with a name. */
static enum threshold_unit kind_level_unit(enum apapi_kind kind)
{
    switch (kind) {
    case APAPI_KIND_ENERGY:
    case APAPI_KIND_POWER:
        return THRESHOLD_POWER;
    case APAPI_KIND_TEMPERATURE:
        return THRESHOLD_TEMPERATURE;
    case APAPI_KIND_UTILIZATION:
        return THRESHOLD_PERCENT;
    default:
        return THRESHOLD_PLAIN;
    }
}

static bool kind_has_energy(enum apapi_kind kind)
{
    return kind == APAPI_KIND_ENERGY || kind == APAPI_KIND_POWER;
}

static int kind_refuse_unit(const struct threshold *threshold, enum apapi_kind kind,
                            struct apapi_error *err)
{
    enum threshold_unit unit = kind_level_unit(kind);
    char text[128];

    snprintf(text, sizeof text, "this event is of %s: %s%s%s", apapi_kind_name(kind),
             kind_has_energy(kind) ? amount_units(THRESHOLD_ENERGY) : "",
             kind_has_energy(kind) ? ", or as a level " : "",
             unit == THRESHOLD_PLAIN ? "a number without a unit, in Hz" : amount_units(unit));
    return threshold_refuse(threshold, THRESHOLD_UNIT, EINVAL, text, err);
}

int threshold_check_kind(const struct threshold *threshold, enum apapi_kind kind,
                         struct apapi_error *err)
{
    bool counts =
        threshold->condition == THRESHOLD_EVERY || threshold->condition == THRESHOLD_TOTAL;
    bool fits = threshold->unit == THRESHOLD_PLAIN || threshold->unit == kind_level_unit(kind) ||
                (threshold->unit == THRESHOLD_ENERGY && kind_has_energy(kind));

    if (kind == APAPI_KIND_COUNT) {
        return 0; /* its unit is anything */
    }
    if (!fits) {
        return kind_refuse_unit(threshold, kind, err);
    }
    return counts && !kind_has_energy(kind)
               ? threshold_refuse(threshold, THRESHOLD_AMOUNT, EINVAL,
                                  "this event is a gauge, it has no total: a level (> or <)", err)
               : 0;
}
