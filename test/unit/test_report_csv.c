/* SPDX-License-Identifier: BSD-3-Clause */
#include "report_fixture.h"

#define COLUMNS 23

static void one_run(void **state)
{
    struct report report = fixture_create(1);
    char *text = fixture_text(report_csv, &report);

    (void)state;
    assert_string_equal(
        text,
        "run,row,name,domain,kind,unit,total,uncertainty_j,rate_unit,min,mean,p95,max,"
        "covered_s,samples,failed,wraps,resets,refused,gaps,stalls,source,estimated\n"
        "1,program,elapsed,,,s,2,,,,,,,,,,,,,,,,0\n"
        "1,program,user,,,s,1.5,,,,,,,,,,,,,,,,0\n"
        "1,program,system,,,s,0.25,,,,,,,,,,,,,,,,0\n"
        "1,program,max_rss,,,B,12897280,,,,,,,,,,,,,,,,0\n"
        "1,program,exit_status,,,,0,,,,,,,,,,,,,,,,0\n"
        "1,domain,package,package,energy,J,200,0.25,W,90,100,118,120,,,,,,,,,,0\n"
        "1,total,total,,energy,J,200,0.25,W,,100,,,2,,,,,,,,,0\n"
        "1,event,rapl:::PACKAGE_ENERGY:PACKAGE0,package,energy,J,200,0.25,W,90,100,118,120,"
        "2,21,0,1,0,0,0,0,sysfs powercap,0\n"
        "1,value0,rapl:::PACKAGE_ENERGY:PACKAGE0,package,energy,Ws,200,,Ws,,,,,,,,,,,,,"
        "sysfs powercap,0\n"
        "1,value1,rapl:::PACKAGE_ENERGY:PACKAGE0,package,power,W,,,W,90,100,,120,,,,,,,,,"
        "sysfs powercap,0\n"
        "1,event,\"coretemp:::hwmon0,temp1\",,temperature,C,,,C,-40.5,45.25,,61,2,21,2,0,0,0,0,0,"
        "PAPI,0\n");
    free(text);
    fixture_destroy(&report);
}

static size_t count_columns(const char *line)
{
    size_t columns = 1;
    bool quoted = false;

    for (; *line && *line != '\n'; line++) {
        quoted ^= *line == '"';
        columns += *line == ',' && !quoted;
    }
    return columns;
}

static void each_line_of_each_run_has_all_columns(void **state)
{
    struct report report = fixture_create(3);
    struct apapi_event *event = &report.runs[1].record.measurement.components[0].events[0].event;
    char *text;

    (void)state;
    strcpy(event->name, "a\"b,\n");
    event->name[4] = ' ';
    text = fixture_text(report_csv, &report);
    fixture_assert_says(text, "\n2,event,\"a\"\"b, \",package,");
    fixture_assert_says(text, "\n3,program,signal,,,,9,");
    fixture_assert_says(text, "\n2,program,exit_status,,,,3,");
    for (char *line = text; *line; line = strchr(line, '\n') + 1) {
        assert_int_equal(count_columns(line), COLUMNS);
    }
    free(text);
    fixture_destroy(&report);
}

static void counters_that_are_no_energy_have_a_rate(void **state)
{
    struct report report = fixture_create(1);
    struct apapi_event *event = &report.runs[0].record.measurement.components[1].events[0].event;
    char *text;

    (void)state;
    event->kind = APAPI_KIND_COUNT;
    event->accumulates = true;
    text = fixture_text(report_csv, &report);
    fixture_assert_says(text, ",count,C,,,C/s,-40.5,");
    free(text);
    fixture_destroy(&report);
}

static void what_is_estimated_is_marked(void **state)
{
    struct report report = fixture_create(1);
    char *text;

    (void)state;
    report.runs[0].record.measurement.components[0].events[0].event.estimated = true;
    text = fixture_text(report_csv, &report);
    fixture_assert_says(text, "2,21,0,1,0,0,0,0,sysfs powercap,1\n1,value0,");
    fixture_assert_says(text, ",Ws,200,,Ws,,,,,,,,,,,,,sysfs powercap,1\n");
    fixture_assert_says(text, ",W,90,100,,120,,,,,,,,,sysfs powercap,1\n");
    fixture_assert_says(text, ",PAPI,0\n");
    free(text);
    fixture_destroy(&report);
}

static void a_process_that_ran_already_has_its_elapsed_time_only(void **state)
{
    struct report report = fixture_create(1);
    char *text;

    (void)state;
    report.program = NULL;
    text = fixture_text(report_csv, &report);
    fixture_assert_says(text, "estimated\n1,program,elapsed,,,s,2,,,,,,,,,,,,,,,,0\n"
                              "1,domain,package,");
    free(text);
    fixture_destroy(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_run),
        cmocka_unit_test(each_line_of_each_run_has_all_columns),
        cmocka_unit_test(counters_that_are_no_energy_have_a_rate),
        cmocka_unit_test(what_is_estimated_is_marked),
        cmocka_unit_test(a_process_that_ran_already_has_its_elapsed_time_only),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
