/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "unit.h"

#include "apapi/when.h"

#define S INT64_C(1000000000)
#define NOW (1795262400 * S + 123456789) /* 2026-11-21T12:00:00Z */
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static void times_are_read(void **state)
{
    static const struct {
        const char *text;
        int64_t seconds;
    } cases[] = {
        {"2026-11-21T12:00:00Z", 1795262400},
        {"2026-11-21T12:00Z", 1795262400},
        {"2026-11-21Z", 1795219200},
        {"2026-11-21T12:00:00", 1795258800}, /* an hour east of Greenwich */
        {"2026-07-01T12:00", 1782900000},    /* and two in summer */
        {"2026-11-21", 1795215600},
        {"2024-02-29Z", 1709164800},
        {"1970-01-01Z", 0},
        {"now", 1795262400},
        {"today", 1795215600},
        {"yesterday", 1795129200},
        {"30s", 1795262370},
        {"90m", 1795257000},
        {"12h", 1795219200},
        {"7d", 1794657600},
        {"2w", 1794052800},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int64_t unix_ns = -1;

        if (when_parse(cases[i].text, NOW, &unix_ns, NULL) || unix_ns != cases[i].seconds * S) {
            fail_msg("%s: %lld", cases[i].text, (long long)(unix_ns / S));
        }
    }
}

static void what_is_no_time_is_refused(void **state)
{
    static const char *const texts[] = {"",
                                        " ",
                                        "x",
                                        "12",
                                        "12x",
                                        "h",
                                        "-1h",
                                        "1h ",
                                        "1hh",
                                        "1h30m",
                                        "1.5h",
                                        "9999999999s",
                                        "999999999w",
                                        "2026",
                                        "2026-11",
                                        "2026-1-2",
                                        "2026-13-01",
                                        "2026-02-30",
                                        "2025-02-29",
                                        "2026-11-21T",
                                        "2026-11-21T12",
                                        "2026-11-21T24:00",
                                        "2026-11-21T12:60",
                                        "2026-11-21T12:00:61",
                                        "2026-11-21T12:00:00ZZ",
                                        "2026-11-21T12:00:00.5Z",
                                        "2026-11-21z",
                                        "1969-12-31Z",
                                        "2263-01-01Z",
                                        "tomorrow",
                                        " 2026-11-21",
                                        "2026-11-21 12:00",
                                        "+026-11-21"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        int64_t unix_ns = 5;

        if (when_parse(texts[i], NOW, &unix_ns, NULL) == 0 || errno != EINVAL || unix_ns != 5) {
            fail_msg("'%s' was taken", texts[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_read),
        cmocka_unit_test(what_is_no_time_is_refused),
    };

    setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    tzset();
    return cmocka_run_group_tests_name("when", tests, NULL, NULL);
}
