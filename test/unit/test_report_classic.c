/* SPDX-License-Identifier: BSD-3-Clause */
#include "report_fixture.h"

static void the_layout_of_the_original(void **state)
{
    struct report report = fixture_create(1);
    char *text = fixture_text(report_classic, &report);

    (void)state;
    assert_string_equal(
        text, "ATIME: Program: ./a.out -x a\"b \n"
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
    free(text);
    fixture_destroy(&report);
}

static void assert_newest(enum apapi_type type, double last, const char *said)
{
    struct report report = fixture_create(1);
    struct apapi_event_result *result = &report.runs[0].record.measurement.components[0].events[0];
    char *text;

    result->event.type = type;
    result->values[0].factor = 1;
    result->values[0].last = last;
    text = fixture_text(report_classic, &report);
    fixture_assert_says(text, said);
    free(text);
    fixture_destroy(&report);
}

static void the_newest_value_stands_as_its_type_wants(void **state)
{
    (void)state;
    assert_newest(APAPI_TYPE_INT64, -7, "\nrapl:::PACKAGE_ENERGY:PACKAGE0 -7\n");
    assert_newest(APAPI_TYPE_UINT64, 7, "\nrapl:::PACKAGE_ENERGY:PACKAGE0 7\n");
    assert_newest(APAPI_TYPE_FP64, 0.5, "\nrapl:::PACKAGE_ENERGY:PACKAGE0 0.500000\n");
    assert_newest(APAPI_TYPE_BIT64, 255, "\nrapl:::PACKAGE_ENERGY:PACKAGE0 FF\n");
    assert_newest(APAPI_TYPE_UINT64, NAN, "\nrapl:::PACKAGE_ENERGY:PACKAGE0 -\n");
}

static void what_no_definition_names_is_shown_all_the_same(void **state)
{
    struct report report = fixture_create(1);
    struct apapi_event_result *result = &report.runs[0].record.measurement.components[0].events[0];
    char *text;

    (void)state;
    result->values[0].shown = 0;
    result->values[1].shown = 0;
    text = fixture_text(report_classic, &report);
    fixture_assert_says(text, " -\n  energy J 1.000000\n    acc:                200.0\n"
                              "  power W 1.000000\n    min:                 90.0\n");
    result->event.kind = APAPI_KIND_POWER;
    free(text);
    text = fixture_text(report_classic, &report);
    fixture_assert_says(text, "    avg:                100.0\n  energy J 1.000000\n    acc: ");
    free(text);
    result->event.kind = APAPI_KIND_COUNT;
    text = fixture_text(report_classic, &report);
    fixture_assert_says(text, " -\n  count J 1.000000\n    acc:                200.0\n\n");
    free(text);
    fixture_destroy(&report);
}

static void what_is_estimated_is_marked(void **state)
{
    struct report report = fixture_create(1);
    char *text;

    (void)state;
    report.runs[0].record.measurement.components[0].events[0].event.estimated = true;
    text = fixture_text(report_classic, &report);
    fixture_assert_says(text, "\nrapl:::PACKAGE_ENERGY:PACKAGE0(estimated) 10500000\n  energy Ws ");
    fixture_assert_says(text, "\ncoretemp:::hwmon0,temp1 -\n");
    free(text);
    fixture_destroy(&report);
}

static void each_run_is_printed(void **state)
{
    struct report report = fixture_create(3);
    char *text = fixture_text(report_classic, &report);

    (void)state;
    fixture_assert_says(text, "ATIME: exit status 3\n");
    fixture_assert_says(text, "ATIME: killed by signal 9\n");
    fixture_assert_says(text, "    acc:                600.0\n");
    free(text);
    fixture_destroy(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_layout_of_the_original),
        cmocka_unit_test(the_newest_value_stands_as_its_type_wants),
        cmocka_unit_test(what_no_definition_names_is_shown_all_the_same),
        cmocka_unit_test(what_is_estimated_is_marked),
        cmocka_unit_test(each_run_is_printed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
