/* SPDX-License-Identifier: BSD-3-Clause */
#include <time.h>

#include "unit.h"

#include "base/array.h"
#include "base/names.h"
#include "cli/totals/rates.h"

#define S INT64_C(1000000000)
#define MIDNIGHT (1795132800 * S) /* 2026-11-20T00:00:00Z */
#define HOUR (3600 * S)
#define KWH_J 3.6e6

static struct rates plain_rates(const char *co2, const char *pue)
{
    struct rates rates = {.currency = ""};

    assert_int_equal(rates_parse(co2, rates.co2_g_per_kwh, &why), 0);
    assert_int_equal(rates_parse(pue, rates.pue, &why), 0);
    return rates;
}

TEST(what_is_not_known_stays_unknown)
{
    struct rates rates = plain_rates("250", "1");

    assert_true(isnan(rates_apply(&rates, rates.co2_g_per_kwh, NAN, 0, HOUR)));
    rates.co2_g_per_kwh[0] = NAN;
    assert_true(isnan(rates_apply(&rates, rates.co2_g_per_kwh, KWH_J, MIDNIGHT, MIDNIGHT + HOUR)));
}

TEST(bad_tables_are_refused_and_change_nothing)
{
    static const char *const cases[] = {
        "",      "x",       "-1",      "1 2",   "nan",     "inf",     "1e999",
        "0-6:1", "0-25:1",  "6-6:1",   "0-24",  "0-24:",   "0-24:1,", "0-24:-1",
        "-24:1", "0--24:1", "0-24:1x", "a-b:1", "0-24 :1", ":",       "0-12:1,11-24:1"};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double hours[RATES_HOURS] = {42};

        fail_if(rates_parse(cases[i], hours, &why) == 0 || hours[0] != 42, "'%s' is taken",
                cases[i]);
        assert_int_equal(errno, EINVAL);
    }
}

int main(void)
{
    setenv("TZ", "UTC", 1); // NOLINT(concurrency-mt-unsafe): the only thread
    return unit_run();
}
