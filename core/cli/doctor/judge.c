/* SPDX-License-Identifier: BSD-3-Clause */
/* Is there a meter behind an event, by two of its readings? */
#include "cli/doctor/judge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

#define COLDEST_C (-60.0)
#define HOTTEST_C 200.0

static enum judgement implausible(char *text, size_t size, double value, const char *unit)
{
    char quantity[UNITS_SIZE];

    units_quantity(quantity, sizeof quantity, value, unit);
    snprintf(text, size, "implausible: %s", quantity);
    return JUDGED_IMPLAUSIBLE;
}

static enum judgement judge_power(const struct apapi_event *event, double power_w, char *text,
                                  size_t size)
{
    if (power_w > 0 && power_w <= apapi_domain_max_w(event->domain)) {
        return JUDGED_FINE;
    }
    return implausible(text, size, power_w, "W");
}

static enum judgement judge_energy(const struct apapi_event *event,
                                   const struct two_readings *readings, char *text, size_t size)
{
    double energy_j = apapi_event_value(event, readings->after.raw) -
                      apapi_event_value(event, readings->before.raw);

    if (energy_j == 0) {
        snprintf(text, size, "opens but never moves: dead");
        return JUDGED_DEAD;
    }
    if (energy_j < 0 && event->range_max > 0) {
        energy_j += ((double)event->range_max + 1) * event->scale;
    }
    if (energy_j < 0) {
        snprintf(text, size, "goes backwards");
        return JUDGED_IMPLAUSIBLE;
    }
    return judge_power(event, energy_j / readings->elapsed_s, text, size);
}

static enum judgement judge_value(const struct apapi_event *event, double value, char *text,
                                  size_t size)
{
    bool good = event->kind == APAPI_KIND_TEMPERATURE ? value > COLDEST_C && value < HOTTEST_C
                                                      : isfinite(value);

    return good ? JUDGED_FINE : implausible(text, size, value, event->unit);
}

enum judgement judge_event(const struct apapi_event *event, const struct two_readings *readings,
                           char *text, size_t size)
{
    const struct apapi_reading *after = &readings->after;
    double value = apapi_event_value(event, after->raw);

    if (readings->before.error || after->error) {
        snprintf(text, size, "%s", strerror(after->error ? after->error : readings->before.error));
        return JUDGED_IMPLAUSIBLE;
    }
    if (event->type == APAPI_TYPE_UINT64 && event->range_max > 0 && after->raw > event->range_max) {
        snprintf(text, size, "implausible: above its own range");
        return JUDGED_IMPLAUSIBLE;
    }
    if (event->kind == APAPI_KIND_ENERGY && event->accumulates) {
        return judge_energy(event, readings, text, size);
    }
    if (event->kind == APAPI_KIND_POWER && !event->accumulates) {
        return judge_power(event, value, text, size);
    }
    return judge_value(event, value, text, size);
}
