/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/units.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

static const struct units_scale steps[] = {{1e-6, "u", 0}, {1e-3, "m", 0}, {1, "", 0},
                                           {1e3, "k", 0},  {1e6, "M", 0},  {1e9, "G", 0},
                                           {1e12, "T", 0}, {1e15, "P", 0}};
enum { STEP_ONE = 2 };

#define LEAST_PCT 0.01  /* a smaller uncertainty is shown as this */
#define SHARE_COLUMNS 7 /* "±0.12 %" */
#define TWO_DIGITS_UP_TO                                                                           \
    3.55 /* an uncertainty that starts with smaller digits is shown with two digits */

/* Decimals for four significant digits; -1 if the rounded number has four before the point. */
static int decimals_of_four(double size)
{
    if (size < 9.9995) {
        return 3;
    }
    if (size < 99.995) {
        return 2;
    }
    return size < 999.95 ? 1 : -1;
}

struct units_scale units_scale(double value)
{
    double size = fabs(value);
    struct units_scale scale = {1, "", 2};

    if (size == 0 || !isfinite(value) || (size >= 0.099995 && size < 0.995)) {
        return scale;
    }
    for (size_t i = size < 0.995 ? 0 : STEP_ONE; i < COUNT_OF(steps); i++) {
        scale = steps[i];
        scale.decimals = decimals_of_four(size / scale.factor);
        if (scale.decimals > 0) {
            return scale;
        }
    }
    scale.decimals = 1;
    return scale;
}

/* The power of ten of the first digit. */
static int magnitude(double number)
{
    return (int)floor(log10(number) + 1e-9);
}

void units_keep_known(struct units_scale *scale, double value, double uncertainty)
{
    double size = fabs(value) / scale->factor;
    int last;

    if (!(uncertainty > 0) || !isfinite(uncertainty) || !(size > 0)) {
        return;
    }
    last = magnitude(uncertainty / scale->factor / TWO_DIGITS_UP_TO);
    if (last > magnitude(size)) {
        last = magnitude(size);
    }
    if (-last < scale->decimals) {
        scale->decimals = -last;
    }
}

void units_number_full(char *text, size_t size, double value, const struct units_scale *scale)
{
    double scaled = value / scale->factor, step = pow(10, -scale->decimals);

    if (scale->decimals < 0) {
        snprintf(text, size, "%.0f", round(scaled / step) * step);
    } else {
        snprintf(text, size, "%.*f", scale->decimals, scaled);
    }
}

void units_number(char *text, size_t size, double value, const struct units_scale *scale)
{
    double scaled = value / scale->factor;

    if (scale->decimals < 0 || fabs(scaled) < 1e6) {
        units_number_full(text, size, value, scale);
    } else {
        snprintf(text, size, "%.3e", scaled);
    }
}

static bool takes_prefix(const char *unit)
{
    static const char *const units[] = {"J", "W", "Hz", "V", "A", "B"};

    for (size_t i = 0; i < COUNT_OF(units); i++) {
        if (strcmp(unit, units[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void plain_quantity(char *text, size_t size, double value, const char *unit, int decimals)
{
    const char *gap = *unit ? " " : "";

    if (fabs(value) < 1e12) {
        snprintf(text, size, "%.*f%s%s", decimals, value, gap, unit);
    } else {
        snprintf(text, size, "%.3e%s%s", value, gap, unit);
    }
}

void units_quantity(char *text, size_t size, double value, const char *unit)
{
    units_known_quantity(text, size, value, NAN, unit);
}

void units_known_quantity(char *text, size_t size, double value, double uncertainty,
                          const char *unit)
{
    struct units_scale scale = units_scale(value);
    char number[UNITS_SIZE];

    if (!isfinite(value)) {
        snprintf(text, size, "-");
    } else if (takes_prefix(unit)) {
        units_keep_known(&scale, value, uncertainty);
        units_number(number, sizeof number, value, &scale);
        snprintf(text, size, "%s %s%s", number, scale.prefix, unit);
    } else if (fabs(value) < 9.995) {
        plain_quantity(text, size, value, unit, 2);
    } else {
        plain_quantity(text, size, value, unit, fabs(value) < 9999.95 ? 1 : 0);
    }
}

void units_share(char *text, size_t size, double share)
{
    double pct = fmax(share * 100, LEAST_PCT);

    *text = '\0';
    if (share > 0 && isfinite(share)) { /* not of nothing */
        int decimals = pct < 0.995 ? 2 : pct < 9.95 ? 1 : 0;

        snprintf(text, size, "%s%.*f %%", text_plus_minus(), decimals, fmin(pct, 1e6));
    }
}

void units_beside(char *text, size_t size, double share, bool column)
{
    char beside[UNITS_SHARE_SIZE];
    size_t used = strlen(text);
    int gap;

    units_share(beside, sizeof beside, share);
    gap = column ? SHARE_COLUMNS - (int)text_columns(beside) : 0;
    if (*beside && used < size) {
        snprintf(text + used, size - used, " %*s%s", gap > 0 ? gap : 0, "", beside);
    }
}

void units_total(char *text, size_t size, double value, const char *unit)
{
    if (isfinite(value) && value == floor(value) && !takes_prefix(unit)) {
        plain_quantity(text, size, value, unit, 0);
    } else {
        units_quantity(text, size, value, unit);
    }
}

static void long_duration(char *text, size_t size, double seconds)
{
    uint64_t whole_s = (uint64_t)(seconds + 0.5);
    unsigned minutes = (unsigned)(whole_s / 60 % 60);
    uint64_t whole_min;

    if (whole_s < 86400) {
        snprintf(text, size, "%u h %02u min %02u s", (unsigned)(whole_s / 3600), minutes,
                 (unsigned)(whole_s % 60));
        return;
    }
    whole_min = (uint64_t)(seconds / 60 + 0.5);
    snprintf(text, size, "%llu d %02u h %02u min", (unsigned long long)(whole_min / 1440),
             (unsigned)(whole_min / 60 % 24), (unsigned)(whole_min % 60));
}

void units_duration(char *text, size_t size, double seconds)
{
    if (!(seconds >= 0) || seconds > 1e12) {
        snprintf(text, size, "-");
    } else if (seconds < 9.9995) {
        snprintf(text, size, "%.3f s", seconds);
    } else if (seconds < 59.95) {
        snprintf(text, size, "%.1f s", seconds);
    } else if (seconds < 3599.95) {
        unsigned tenths = (unsigned)(seconds * 10 + 0.5);

        snprintf(text, size, "%u min %u.%u s", tenths / 600, tenths % 600 / 10, tenths % 10);
    } else {
        long_duration(text, size, seconds);
    }
}

void units_short(char *text, size_t size, double seconds)
{
    if (!(seconds < 1) || seconds < 0) {
        units_duration(text, size, seconds);
    } else if (seconds < 0.001) {
        snprintf(text, size, "%.1f us", seconds * 1e6);
    } else {
        snprintf(text, size, "%.*f ms", seconds < 0.1 ? 2 : 1, seconds * 1e3);
    }
}

void units_bytes(char *text, size_t size, uint64_t bytes)
{
    static const char *const prefixes[] = {"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    double amount = (double)bytes / 1024;
    size_t step = 0;

    if (bytes < 1024) {
        snprintf(text, size, "%u B", (unsigned)bytes);
        return;
    }
    for (; amount >= 1023.95 && step + 1 < COUNT_OF(prefixes); step++) {
        amount /= 1024;
    }
    snprintf(text, size, "%.1f %sB", amount, prefixes[step]);
}
