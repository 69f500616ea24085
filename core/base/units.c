/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/units.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"

static const struct units_scale steps[] = {{1e-6, "u", 0}, {1e-3, "m", 0}, {1, "", 0},
                                           {1e3, "k", 0},  {1e6, "M", 0},  {1e9, "G", 0},
                                           {1e12, "T", 0}, {1e15, "P", 0}};
enum { STEP_ONE = 2 };

#define LEAST_PCT 0.01  /* a smaller uncertainty is shown as 0.01 % */
#define SHARE_COLUMNS 7 /* "±0.12 %" */
#define TWO_DIGITS_UP_TO                                                                           \
    3.55 /* an uncertainty that starts with smaller digits is shown with two digits */

/* @return decimals for four significant digits; -1: all four are before the point. */
static int decimals_of_four(double size)
{
    return size < 9.9995 ? 3 : size < 99.995 ? 2 : size < 999.95 ? 1 : -1;
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

/* @return the power of ten of the first digit. */
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

struct units_text units_part(bool is_there, const char *format, ...)
{
    struct units_text text = {""};
    va_list values;

    va_start(values, format);
    if (is_there) {
        vsnprintf(text.text, sizeof text.text, format, values);
    }
    va_end(values);
    return text;
}

struct units_text units_number_full(double value, const struct units_scale *scale)
{
    double scaled = value / scale->factor, step = pow(10, -scale->decimals);
    bool rounds = scale->decimals < 0;

    return units_part(true, "%.*f", rounds ? 0 : scale->decimals,
                      rounds ? round(scaled / step) * step : scaled);
}

struct units_text units_number(double value, const struct units_scale *scale)
{
    double scaled = value / scale->factor;

    return scale->decimals < 0 || fabs(scaled) < 1e6 ? units_number_full(value, scale)
                                                     : units_part(true, "%.3e", scaled);
}

static bool takes_prefix(const char *unit)
{
    return text_names_have("J,W,Hz,V,A,B", unit);
}

static struct units_text plain_quantity(double value, const char *unit, int decimals)
{
    const char *gap = *unit ? " " : "";

    return fabs(value) < 1e12 ? units_part(true, "%.*f%s%s", decimals, value, gap, unit)
                              : units_part(true, "%.3e%s%s", value, gap, unit);
}

struct units_text units_quantity(double value, const char *unit)
{
    return units_known_quantity(value, NAN, unit);
}

struct units_text units_known_quantity(double value, double uncertainty, const char *unit)
{
    struct units_scale scale = units_scale(value);

    if (!isfinite(value)) {
        return units_part(true, "-");
    }
    if (takes_prefix(unit)) {
        units_keep_known(&scale, value, uncertainty);
        return units_part(true, "%s %s%s", units_number(value, &scale).text, scale.prefix, unit);
    }
    return plain_quantity(value, unit, fabs(value) < 9.995 ? 2 : fabs(value) < 9999.95 ? 1 : 0);
}

struct units_text units_energy(double energy_j, double uncertainty_j, bool column)
{
    struct units_text text = units_known_quantity(energy_j, uncertainty_j, "J");

    units_beside(text.text, sizeof text.text, uncertainty_j / energy_j, column);
    return text;
}

struct units_text units_share(double share)
{
    double pct = fmax(share * 100, LEAST_PCT);
    int decimals = pct < 0.995 ? 2 : pct < 9.95 ? 1 : 0;

    return units_part(share > 0 && isfinite(share), "%s%.*f %%", text_plus_minus(), decimals,
                      fmin(pct, 1e6)); /* a share of almost nothing may be huge */
}

void units_beside(char *text, size_t size, double share, bool column)
{
    const struct units_text beside = units_share(share);
    int gap = column ? SHARE_COLUMNS - (int)text_columns(beside.text) : 0;

    if (*beside.text) {
        text_append(text, size, " ", "%*s%s", gap > 0 ? gap : 0, "", beside.text);
    }
}

struct units_text units_total(double value, const char *unit)
{
    return isfinite(value) && value == floor(value) && !takes_prefix(unit)
               ? plain_quantity(value, unit, 0)
               : units_quantity(value, unit);
}

struct units_text units_duration(double seconds)
{
    unsigned long long tenths, whole_s, whole_min;

    if (!(seconds >= 0) || seconds > 1e12) {
        return units_part(true, "-");
    }
    if (seconds < 59.95) {
        return units_part(true, "%.*f s", seconds < 9.9995 ? 3 : 1, seconds);
    }
    tenths = (unsigned long long)(seconds * 10 + 0.5);
    whole_s = (unsigned long long)(seconds + 0.5);
    whole_min = (unsigned long long)(seconds / 60 + 0.5);
    return seconds < 3599.95 ? units_part(true, "%llu min %llu.%llu s", tenths / 600,
                                          tenths % 600 / 10, tenths % 10)
           : whole_s < 86400 ? units_part(true, "%llu h %02llu min %02llu s", whole_s / 3600,
                                          whole_s / 60 % 60, whole_s % 60)
                             : units_part(true, "%llu d %02llu h %02llu min", whole_min / 1440,
                                          whole_min / 60 % 24, whole_min % 60);
}

struct units_text units_short(double seconds)
{
    return !(seconds < 1) || seconds < 0 ? units_duration(seconds)
           : seconds < 0.001             ? units_part(true, "%.1f us", seconds * 1e6)
                             : units_part(true, "%.*f ms", seconds < 0.1 ? 2 : 1, seconds * 1e3);
}

struct units_text units_local_time(int64_t unix_ns, const char *format)
{
    time_t seconds = (time_t)(unix_ns / NS_PER_S);
    struct units_text text = {""};
    struct tm date = {0};

    localtime_r(&seconds, &date);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* it is checked where it comes from */
    strftime(text.text, sizeof text.text, format, &date);
#pragma GCC diagnostic pop
    return text;
}

struct units_text units_bytes(uint64_t bytes)
{
    static const char *const prefixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    double amount = (double)bytes;
    size_t step = 0;

    for (; amount >= 1023.95 && step + 1 < COUNT_OF(prefixes); step++) {
        amount /= 1024;
    }
    return units_part(true, "%.*f %sB", step > 0, amount, prefixes[step]);
}
