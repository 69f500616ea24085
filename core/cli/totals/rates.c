/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/totals/rates.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

#define SECTION "report"
#define HOUR_S 3600
#define DAY_S (RATES_HOURS * HOUR_S)
#define J_PER_KWH 3.6e6

static int parse_value(const char *text, double *value, struct apapi_error *err)
{
    char *end = NULL;

    *value = strtod(text, &end);
    if (*text < '0' || *text > '9' || *end || !isfinite(*value)) {
        return apapi_fail(err, EINVAL,
                          "'%.40s' is neither a number nor a table like "
                          "0-6:250,6-22:400,22-24:250",
                          text);
    }
    return 0;
}

/* "6-22:400" */
static int parse_hours(char *word, double hours[RATES_HOURS], struct apapi_error *err)
{
    char *colon = strchr(word, ':'), *dash, *end;
    unsigned long from, to;
    double value;

    if (!colon) {
        return apapi_fail(err, EINVAL, "'%.40s' is not part of a table like 0-6:250", word);
    }
    from = strtoul(word, &dash, 10);
    to = *dash == '-' ? strtoul(dash + 1, &end, 10) : 0;
    if (*dash != '-' || end != colon || to > RATES_HOURS || from >= to) {
        return apapi_fail(err, EINVAL, "'%.40s': hours are 0-6 for midnight to 6, up to 24", word);
    }
    if (parse_value(colon + 1, &value, err)) {
        return -1;
    }
    for (; from < to; from++) {
        if (!isnan(hours[from])) {
            return apapi_fail(err, EINVAL, "the table has hour %lu twice", from);
        }
        hours[from] = value;
    }
    return 0;
}

int rates_parse(const char *text, double hours[RATES_HOURS], struct apapi_error *err)
{
    double found[RATES_HOURS];
    char copy[1024], *rest = copy, *word;

    if (!strchr(text, ':')) {
        if (parse_value(text, &found[0], err)) {
            return -1;
        }
        for (int hour = 0; hour < RATES_HOURS; hour++) {
            hours[hour] = found[0];
        }
        return 0;
    }
    for (int hour = 0; hour < RATES_HOURS; hour++) {
        found[hour] = NAN;
    }
    if (strlen(text) >= sizeof copy) {
        return apapi_fail(err, EINVAL, "the table is too long");
    }
    strcpy(copy, text); // NOLINT(clang-analyzer-security.insecureAPI.strcpy): it fits
    while ((word = strsep(&rest, ","))) {
        if (parse_hours(word, found, err)) {
            return -1;
        }
    }
    for (int hour = 0; hour < RATES_HOURS; hour++) {
        if (isnan(found[hour])) {
            return apapi_fail(err, EINVAL, "the table has no value for hour %d", hour);
        }
    }
    memcpy(hours, found, sizeof found);
    return 0;
}

static int read_rate(struct rates *rates, const char *key, const char *value,
                     struct apapi_error *err)
{
    double *hours = strcmp(key, "co2_g_per_kwh") == 0   ? rates->co2_g_per_kwh
                    : strcmp(key, "price_per_kwh") == 0 ? rates->price_per_kwh
                    : strcmp(key, "pue") == 0           ? rates->pue
                                                        : NULL;

    if (!hours) {
        return 0;
    }
    if (rates_parse(value, hours, err)) {
        return -1;
    }
    for (int hour = 0; hour < RATES_HOURS && hours == rates->pue; hour++) {
        if (hours[hour] < 1) { /* the energy of a site includes that of its machines */
            return apapi_fail(err, EINVAL, "%g is below 1", hours[hour]);
        }
    }
    return 0;
}

int rates_check(const char *key, const char *value, struct apapi_error *err)
{
    struct rates rates;

    return read_rate(&rates, key, value, err);
}

int rates_read(const struct config *config, struct rates *rates, struct apapi_error *err)
{
    *rates = (struct rates){.currency = ""};
    for (int hour = 0; hour < RATES_HOURS; hour++) {
        rates->co2_g_per_kwh[hour] = rates->price_per_kwh[hour] = NAN;
        rates->pue[hour] = 1;
    }
    for (size_t i = 0; i < config->setting_count; i++) {
        const struct config_setting *setting = &config->settings[i];
        struct apapi_error why;

        if (strcmp(setting->section, SECTION) != 0) {
            continue;
        }
        if (strcmp(setting->key, "currency") == 0) {
            rates->currency = setting->value;
        } else if (read_rate(rates, setting->key, setting->value, &why)) {
            return apapi_fail(err, EINVAL, "%.80s:%zu: %s: %.100s", config->path, setting->line,
                              setting->key, why.text);
        }
    }
    return 0;
}

static double hour_value(const struct rates *rates, const double hours[RATES_HOURS], int64_t hour)
{
    return hours[hour % RATES_HOURS] * rates->pue[hour % RATES_HOURS];
}

/* Integral of the rate in seconds, from a second of a local day on. */
static double integrate(const struct rates *rates, const double hours[RATES_HOURS], int64_t from_s,
                        double length_s)
{
    double sum = 0, day = 0, whole_days = floor(length_s / DAY_S);

    for (int hour = 0; hour < RATES_HOURS; hour++) {
        day += hour_value(rates, hours, hour) * HOUR_S;
    }
    length_s -= whole_days * DAY_S;
    while (length_s > 0) {
        double step_s = fmin(length_s, (double)(HOUR_S - from_s % HOUR_S));

        sum += step_s * hour_value(rates, hours, from_s / HOUR_S);
        from_s += HOUR_S - from_s % HOUR_S;
        length_s -= step_s;
    }
    return sum + whole_days * day;
}

double rates_apply(const struct rates *rates, const double hours[RATES_HOURS], double energy_j,
                   int64_t from_ns, int64_t to_ns)
{
    time_t from = from_ns / NS_PER_S;
    double length_s = fmax((double)(to_ns - from_ns) / (double)NS_PER_S, 1e-3);
    struct tm day = {0};

    localtime_r(&from, &day);
    return energy_j / J_PER_KWH / length_s *
           integrate(rates, hours, day.tm_hour * HOUR_S + day.tm_min * 60 + day.tm_sec % 60,
                     length_s);
}
