/* SPDX-License-Identifier: BSD-3-Clause */
#include "action/crossed.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/duration.h"
#include "base/units.h"

/* In the unit of the event, if the threshold has none. */
static void crossed_value(const struct apapi_crossing *crossing, char *text, size_t size)
{
    if (*crossing->unit) {
        units_quantity(text, size, crossing->value, crossing->unit);
    } else {
        snprintf(text, size, "%.6g", crossing->value);
    }
}

void crossed_line(const struct crossed *crossed, const char *said_by, char line[CROSSED_LINE_SIZE])
{
    const struct apapi_crossing *crossing = crossed->crossing;
    time_t seconds = (time_t)(crossing->unix_ns / NS_PER_S);
    char value[UNITS_SIZE], moment[16] = "", times[48] = "";
    struct tm local;

    localtime_r(&seconds, &local);
    strftime(moment, sizeof moment, "%H:%M:%S", &local);
    crossed_value(crossing, value, sizeof value);
    if (crossing->count > 1) {
        snprintf(times, sizeof times, ", for the %" PRIu64 ". time", crossing->count);
    }
    snprintf(line, CROSSED_LINE_SIZE, "%s: %.64s: %.255s crossed at %s.%03d with %s%s\n", said_by,
             crossed->node, crossed->threshold->text, moment,
             (int)(crossing->unix_ns % NS_PER_S / 1000000), value, times);
}

void crossed_variables(const struct crossed *crossed, struct crossed_variables *variables)
{
    const struct apapi_crossing *crossing = crossed->crossing;
    char(*texts)[CROSSED_VARIABLE_SIZE] = variables->texts;

    snprintf(texts[0], sizeof texts[0], "APAPI_OVERFLOW_EVENT=%s", crossed->threshold->meter);
    snprintf(texts[1], sizeof texts[1], "APAPI_OVERFLOW_THRESHOLD=%s", crossed->threshold->text);
    snprintf(texts[2], sizeof texts[2], "APAPI_OVERFLOW_VALUE=");
    if (!isnan(crossing->value)) {
        snprintf(texts[2], sizeof texts[2], "APAPI_OVERFLOW_VALUE=%.9g", crossing->value);
    }
    snprintf(texts[3], sizeof texts[3], "APAPI_OVERFLOW_UNIT=%s", crossing->unit);
    snprintf(texts[4], sizeof texts[4], "APAPI_OVERFLOW_COUNT=%" PRIu64, crossing->count);
    snprintf(texts[5], sizeof texts[5], "APAPI_OVERFLOW_TIME=%" PRId64 ".%09" PRId64,
             crossing->unix_ns / NS_PER_S, crossing->unix_ns % NS_PER_S);
    snprintf(texts[6], sizeof texts[6], "APAPI_OVERFLOW_NODE=%s", crossed->node);
    for (size_t i = 0; i < CROSSED_VARIABLES; i++) {
        variables->list[i] = texts[i];
    }
    variables->list[CROSSED_VARIABLES] = NULL;
}
