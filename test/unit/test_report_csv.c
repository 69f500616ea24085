/* SPDX-License-Identifier: BSD-3-Clause */
#include "report_fixture.h"

#define COLUMNS 27

RUNS(one_run, 1)
{
    fixture_write(report_csv);
    assert_string_equal(
        written,
        "run,row,name,domain,kind,unit,total,uncertainty_j,rate_unit,min,mean,p95,max,"
        "covered_s,samples,failed,wraps,resets,refused,gaps,stalls,source,estimated,covered,"
        "rest_j,missing_domains,rough\n"
        "1,program,elapsed,,,s,2,,,,,,,,,,,,,,,,0,,,,\n"
        "1,program,user,,,s,1.5,,,,,,,,,,,,,,,,0,,,,\n"
        "1,program,system,,,s,0.25,,,,,,,,,,,,,,,,0,,,,\n"
        "1,program,max_rss,,,B,12897280,,,,,,,,,,,,,,,,0,,,,\n"
        "1,program,exit_status,,,,0,,,,,,,,,,,,,,,,0,,,,\n"
        "1,domain,package,package,energy,J,200,0.25,W,90,100,118,120,,,,,,,,,,0,,,,\n"
        "1,total,total,,energy,J,200,0.25,W,,100,,,2,,,,,,,,,0,,,,\n"
        "1,event,rapl:::PACKAGE_ENERGY:PACKAGE0,package,energy,J,200,0.25,W,90,100,118,120,"
        "2,21,0,1,0,0,0,0,sysfs powercap,0,,,,0\n"
        "1,value0,rapl:::PACKAGE_ENERGY:PACKAGE0,package,energy,Ws,200,,Ws,,,,,,,,,,,,,"
        "sysfs powercap,0,,,,\n"
        "1,value1,rapl:::PACKAGE_ENERGY:PACKAGE0,package,power,W,,,W,90,100,,120,,,,,,,,,"
        "sysfs powercap,0,,,,\n"
        "1,event,\"coretemp:::hwmon0,temp1\",,temperature,C,,,C,-40.5,45.25,,61,2,21,2,0,0,0,0,0,"
        "PAPI,0,,,,0\n");
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

RUNS(each_line_of_each_run_has_all_columns, 3)
{
    struct apapi_event *event = &report.runs[1].record.measurement.components[0].events[0].event;

    strcpy(event->name, "a\"b,\n");
    event->name[4] = ' ';
    fixture_write(report_csv);
    assert_says("\n2,event,\"a\"\"b, \",package,");
    assert_says("\n3,program,signal,,,,9,");
    assert_says("\n2,program,exit_status,,,,3,");
    for (char *line = written; *line; line = strchr(line, '\n') + 1) {
        assert_int_equal(count_columns(line), COLUMNS);
    }
}

RUNS(what_was_crossed_has_rows, 1)
{
    static struct apapi_crossing crossings[2] = {
        {"total >= 5J", 0, 5, "J", 1, "log", ""},
        {"total every 1J", 0, 4, "J", 4, "log, stamp", ""}};
    struct apapi_record *record = &report.runs[0].record;

    crossings[0].unix_ns = record->measurement.start_unix_ns + 1500000000;
    crossings[1].unix_ns = record->measurement.start_unix_ns + 2000000000;
    record->crossing = crossings;
    record->crossings = record->crossing_count = 2;
    fixture_write(report_csv);
    record->crossing = NULL;
    record->crossings = record->crossing_count = 0;
    assert_says("\n1,crossing,total >= 5J,,log,J,5,,,,,,,1.5,,,,,,,,,0,,,,\n"
                "1,crossings,total >= 5J,,,,1,,,");
    assert_says("\n1,crossing,total every 1J,,\"log, stamp\",J,4,,,,,,,2,,,,,,,,,0,,,,\n"
                "1,crossings,total every 1J,,,,4,,,");
}

RUNS(what_is_not_covered_stands_beside_the_energy, 1)
{
    struct apapi_measurement *m = &report.runs[0].record.measurement;

    m->domains[APAPI_DOMAIN_PACKAGE].covered = 0.83;
    m->domains[APAPI_DOMAIN_PACKAGE].rest_j = 40.964;
    m->unknown_domains = 1U << APAPI_DOMAIN_DRAM | 1U << APAPI_DOMAIN_PSYS;
    fixture_write(report_csv);
    assert_says(
        "\n1,domain,package,package,energy,J,200,0.25,W,90,100,118,120,,,,,,,,,,0,0.83,"
        "40.964,,\n1,total,total,,energy,J,200,0.25,W,,100,,,2,,,,,,,,,0,0.83,40.964,dram,\n");
}
