/* SPDX-License-Identifier: BSD-3-Clause */
#include "report_fixture.h"

RUNS(the_layout_of_the_original, 1)
{
    fixture_write(report_classic);
    assert_string_equal(
        written, "ATIME: Program: ./a.out -x a\"b \n"
                 "ATIME: Use PAPI component rapl\n"
                 "ATIME: cmp rapl event_num 1 interval 0.100000000\n"
                 "ATIME: Use PAPI component coretemp\n"
                 "ATIME: cmp coretemp event_num 1 interval 1.500000000\n"
                 "ATIME: PAPI component nvml not used: no driver\n"
                 "ATIME: papi_start\n"
                 "rapl: 1 events\n"
                 "------\n"
                 "rapl:::PACKAGE_ENERGY:PACKAGE0 10500000\n"
                 "  energy Ws 1000000.000000\n"
                 "    acc:                200.0\n"
                 "  power W 0.001000 0.105000\n"
                 "    min:                 90.0\n"
                 "    max:                120.0\n"
                 "    avg:                100.0\n"
                 "\n"
                 "------\n"
                 "\n"
                 "coretemp: 1 events\n"
                 "------\n"
                 "coretemp:::hwmon0,temp1 -\n"
                 "  temperature C 1.000000\n"
                 "    min:                -40.5\n"
                 "    max:                 61.0\n"
                 "    avg:                 45.2\n"
                 "\n"
                 "------\n"
                 "\n"
                 "ATIME: elapsed 2.000 s user 1.500 s system 0.250 s peak memory 12897280 bytes\n"
                 "ATIME: exit status 0\n"
                 "ATIME: papi stop\n"
                 "ATIME: done\n");
}

RUNS(the_newest_value_stands_as_its_type_wants, 1)
{
    static const struct {
        enum apapi_type type;
        double last;
        const char *said;
    } cases[] = {
        {APAPI_TYPE_INT64, -7, "\nrapl:::PACKAGE_ENERGY:PACKAGE0 -7\n"},
        {APAPI_TYPE_UINT64, 7, "\nrapl:::PACKAGE_ENERGY:PACKAGE0 7\n"},
        {APAPI_TYPE_FP64, 0.5, "\nrapl:::PACKAGE_ENERGY:PACKAGE0 0.500000\n"},
        {APAPI_TYPE_BIT64, 255, "\nrapl:::PACKAGE_ENERGY:PACKAGE0 FF\n"},
        {APAPI_TYPE_UINT64, NAN, "\nrapl:::PACKAGE_ENERGY:PACKAGE0 -\n"},
    };
    struct apapi_event_result *result = fixture_event(0);

    result->values[0].factor = 1;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        result->event.type = cases[i].type;
        result->values[0].last = cases[i].last;
        fixture_write(report_classic);
        assert_says(cases[i].said);
    }
}

RUNS(what_no_definition_names_is_shown_all_the_same, 1)
{
    struct apapi_event_result *result = fixture_event(0);

    result->values[0].shown = 0;
    result->values[1].shown = 0;
    fixture_write(report_classic);
    assert_says(" -\n  energy J 1.000000\n    acc:                200.0\n"
                "  power W 1.000000\n    min:                 90.0\n");
    result->event.kind = APAPI_KIND_POWER;
    fixture_write(report_classic);
    assert_says("    avg:                100.0\n  energy J 1.000000\n    acc: ");
    result->event.kind = APAPI_KIND_COUNT;
    fixture_write(report_classic);
    assert_says(" -\n  count J 1.000000\n    acc:                200.0\n\n");
}
