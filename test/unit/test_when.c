/* SPDX-License-Identifier: BSD-3-Clause */
#include <time.h>

#include "unit.h"

#include "base/array.h"
#include "cli/query.h"

#define S INT64_C(1000000000)
#define NOW (1795262400 * S + 123456789) /* 2026-11-21T12:00:00Z */

TEST(times_are_read)
{
    static const struct {
        const char *text;
        int64_t seconds;
    } cases[] = {
        {"2026-11-21T12:00:00Z", 1795262400},
        {"2026-11-21Z", 1795219200},
        {"2026-11-21T12:00:00", 1795258800}, /* an hour east of Greenwich */
        {"2026-07-01T12:00", 1782900000},    /* and two in summer */
        {"2026-11-21", 1795215600},
        {"2024-02-29Z", 1709164800},
        {"1970-01-01Z", 0},
        {"now", 1795262400},
        {"today", 1795215600},
        {"30s", 1795262370},
        {"7d", 1794657600},
        {"90minutes", 1795257000},
        {"now-1hour", 1795258800},
        {"now+30", 1795262430},
        {"NOW-2w", 1794052800},
        {"tomorrow", 1795302000},
        {"yesterdayT10:00", 1795165200},
        {"noon", 1795258800},
        {"fika", 1795269600},
        {"today-noon", 1795258800},
        {"11:20", 1795256400},
        {"11:20:30Z", 1795260030},
        {"12:05AM", 1795215900},
        {"01:00PM", 1795262400},
        {"1121", 1795215600},
        {"11/20/26", 1795129200},
        {"11.20", 1795129200},
        {"11/20/26-10:00:30", 1795165230},
        {"1201", 1764543600}, /* December is last year's */
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int64_t unix_ns = -1;

        fail_if(when_parse(cases[i].text, NOW, &unix_ns, NULL) || unix_ns != cases[i].seconds * S,
                "%s: %lld", cases[i].text, (long long)(unix_ns / S));
    }
}

TEST(what_is_no_time_is_refused)
{
    char texts[] = "| |x|12|12x|h|-1h|1h |1hh|1h30m|1.5h|9999999999s|999999999w|2026|2026-11|"
                   "2026-1-2|2026-13-01|2026-02-30|2025-02-29|2026-11-21T|2026-11-21T12|"
                   "2026-11-21T24:00|2026-11-21T12:60|2026-11-21T12:00:61|2026-11-21T12:00:00ZZ|"
                   "2026-11-21T12:00:00.5Z|2026-11-21z|1969-12-31Z|2263-01-01Z|todayx|now1|now-|"
                   "now-1hourss|now-1x|now 1h|now+999999999weeks|now-999999999weeks|nowZ|noonish|"
                   "24:00|11:2|1:20|11:20am:30|13:00PM|00:30AM|1321|0230|112|11212|11212026|"
                   "11/21.26|11/21/2026|11-21|11/21/|11/21/26-|-|T|Z| 2026-11-21|2026-11-21 12:00|"
                   "+026-11-21";
    char *rest = texts, *text;

    while ((text = strsep(&rest, "|"))) {
        int64_t unix_ns = 5;

        fail_if(when_parse(text, NOW, &unix_ns, NULL) == 0 || errno != EINVAL || unix_ns != 5,
                "'%s' was taken", text);
    }
}

int main(void)
{
    setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    tzset();
    return unit_run();
}
