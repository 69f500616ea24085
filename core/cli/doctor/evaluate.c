/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides from two readings whether an event is a working meter. */
#include "cli/doctor/evaluate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

#define COLDEST_C (-60.0)
#define HOTTEST_C 200.0

static enum evaluation implausible(char *text, size_t size, double value, const char *unit)
{
    char quantity[UNITS_SIZE];

    units_quantity(quantity, sizeof quantity, value, unit);
    snprintf(text, size, "implausible: %s", quantity);
    return EVENT_IMPLAUSIBLE;
}

static enum evaluation evaluate_power(const struct apapi_event *event, double power_w, char *text,
                                      size_t size)
{
    if (power_w > 0 && power_w <= apapi_domain_max_w(event->domain)) {
        return EVENT_FINE;
    }
    return implausible(text, size, power_w, "W");
}

static enum evaluation evaluate_energy(const struct apapi_event *event,
                                       const struct two_readings *readings, char *text, size_t size)
{
    double energy_j = apapi_event_value(event, readings->after.raw) -
                      apapi_event_value(event, readings->before.raw);

    if (energy_j == 0) {
        snprintf(text, size, "opens but never moves: dead");
        return EVENT_DEAD;
    }
    if (energy_j < 0 && event->range_max > 0) {
        energy_j += ((double)event->range_max + 1) * event->scale;
    }
    if (energy_j < 0) {
        snprintf(text, size, "goes backwards");
        return EVENT_IMPLAUSIBLE;
    }
    return evaluate_power(event, energy_j / readings->elapsed_s, text, size);
}

static enum evaluation evaluate_value(const struct apapi_event *event, double value, char *text,
                                      size_t size)
{
    bool good = event->kind == APAPI_KIND_TEMPERATURE ? value > COLDEST_C && value < HOTTEST_C
                                                      : isfinite(value);

    return good ? EVENT_FINE : implausible(text, size, value, event->unit);
}

enum evaluation evaluate_event(const struct apapi_event *event, const struct two_readings *readings,
                               char *text, size_t size)
{
    const struct apapi_reading *after = &readings->after;
    double value = apapi_event_value(event, after->raw);

    if (readings->before.error || after->error) {
        snprintf(text, size, "%s", strerror(after->error ? after->error : readings->before.error));
        return EVENT_IMPLAUSIBLE;
    }
    if (event->type == APAPI_TYPE_UINT64 && event->range_max > 0 && after->raw > event->range_max) {
        snprintf(text, size, "implausible: above its own range");
        return EVENT_IMPLAUSIBLE;
    }
    if (event->kind == APAPI_KIND_ENERGY && event->accumulates) {
        return evaluate_energy(event, readings, text, size);
    }
    if (event->kind == APAPI_KIND_POWER && !event->accumulates) {
        return evaluate_power(event, value, text, size);
    }
    return evaluate_value(event, value, text, size);
}
