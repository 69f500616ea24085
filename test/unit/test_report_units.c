/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory, short times and several nodes in a report. */
#include "base/units.h"
#include "report_fixture.h"

TEST(short_times)
{
    static const struct {
        double seconds;
        const char *text;
    } cases[] = {{0, "0.0 us"},
                 {1e-6, "1.0 us"},
                 {0.00099, "990.0 us"},
                 {0.001, "1.00 ms"},
                 {0.0123, "12.30 ms"},
                 {0.1, "100.0 ms"},
                 {0.9994, "999.4 ms"},
                 {1, "1.000 s"},
                 {60, "1 min 0.0 s"},
                 {NAN, "-"},
                 {-1, "-"},
                 {INFINITY, "-"}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[UNITS_SIZE];

        units_short(text, sizeof text, cases[i].seconds);
        assert_string_equal(text, cases[i].text);
    }
}

TEST(memory)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {{0, "0 B"},
                 {1023, "1023 B"},
                 {1024, "1.0 KiB"},
                 {1048524, "1023.9 KiB"},
                 {1048575, "1.0 MiB"},
                 {12897280, "12.3 MiB"},
                 {UINT64_C(5) << 40, "5.0 TiB"},
                 {UINT64_MAX, "16.0 EiB"}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[UNITS_SIZE];

        units_bytes(text, sizeof text, cases[i].bytes);
        assert_string_equal(text, cases[i].text);
    }
}
