/* SPDX-License-Identifier: BSD-3-Clause */
#include <jansson.h>

#include "base/text.h"
#include "report_fixture.h"

RUNS(how_it_ended_is_reported_if_it_failed, 1)
{
    static const struct {
        int status;
        const char *said;
    } cases[] = {{3 << 8, "peak memory 12.3 MiB\n  exit status 3\n"},
                 {9, "peak memory 12.3 MiB\n  killed by signal 9 (Killed)\n"},
                 {0, "peak memory 12.3 MiB\n"}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        report.runs[0].end.status = cases[i].status;
        fixture_write(report_table);
        assert_string_equal(strstr(written, "peak memory"), cases[i].said);
    }
}

RUNS(runs_that_were_not_made_and_domains_that_were_not_measured, 3)
{
    report.runs_wanted = 5;
    report.runs[1].record.measurement.domains[APAPI_DOMAIN_PACKAGE].measured = false;
    report.runs[1].record.measurement.domains[APAPI_DOMAIN_PSYS] = (struct apapi_domain_result){
        .measured = true, .energy_j = 70, .uncertainty_j = NAN, .power_w = {NAN, 35, NAN, NAN}};
    report.runs[2].end.elapsed_ns = 3600 * FIXTURE_S;
    fixture_write(report_table);
    assert_says("  in 2 of 3 runs\n");
    assert_says("\n  (psys)                      70.00 J                   35.00 W  in "
                "1 of 3 runs\n  in brackets: ");
    assert_says("\n  elapsed 20 min 2.0 s ± 34 min 36.7 s   user ");
    assert_says("\n  3 of 5 runs\n");
    for (char *line = strtok(written, "\n"); line; line = strtok(NULL, "\n")) {
        assert_true(text_columns(line) <= TEXT_COLUMNS);
    }
}

/* The second run's package has not moved: its total is that of the memory alone. */
RUNS(totals_of_runs_that_lack_a_domain_do_not_count, 3)
{
    for (size_t i = 0; i < 3; i++) {
        report.runs[i].record.measurement.domains[APAPI_DOMAIN_DRAM] = (struct apapi_domain_result){
            .measured = true, .energy_j = 10, .power_w = {NAN, 5, NAN, NAN}, .covered = 0.9};
    }
    report.runs[1].record.measurement.domains[APAPI_DOMAIN_PACKAGE] = APAPI_DOMAIN_UNMEASURED;
    report.runs[1].record.measurement.unknown_domains = 1U << APAPI_DOMAIN_PACKAGE;
    report.runs[2].record.measurement.domains[APAPI_DOMAIN_DRAM].covered = 0.70096;
    fixture_write(report_table);
    assert_says(
        "\n  total               410.0 ± 282.8 J           205.0 ± 141.4 W  in 2 of 3 runs\n"
        "  dram: energy of the covered 70.0 % in the worst run\n");
}

RUNS(runs_say_in_how_many_of_them_a_counter_did_not_move, 3)
{
    for (size_t i = 0; i < 2; i++) {
        report.runs[i].record.measurement.components[0].events[0].still = true;
    }
    fixture_write(report_table);
    assert_says("\n  rapl:::PACKAGE_ENERGY:PACKAGE0: counter did not move in 2 of 3 runs, not\n"
                "    counted (too short a time to tell whether it is stuck)\n");
    assert_null(strstr(written, "coretemp:::"));
    report.runs[2].record.measurement.components[0].events[0].stuck = true;
    fixture_write(report_table);
    assert_says(" did not move in 3 of 3 runs, not\n    counted\n  elapsed ");
}

RUNS(a_total_of_runs_says_what_none_of_them_knows, 3)
{
    for (size_t i = 0; i < 3; i++) {
        report.runs[i].record.measurement.unknown_domains = 1U << APAPI_DOMAIN_DRAM;
    }
    fixture_write(report_table);
    assert_says("  domain                           energy ");
    assert_says("\n  package                 400.0 ± 200.0 J");
    assert_says("\n  partial total           400.0 ± 200.0 J");
    assert_says("\n  total without dram, whose energy is not known\n");
    assert_null(strstr(written, "covered"));
}

/* --- JSON ------------------------------------------------------------------------------------- */

RUNS(arguments_that_are_no_text, 1)
{
    char *odd[] = {(char[]){"p"}, (char[]){"\xFF\x01\xC3\xBC"}, NULL};

    report.program = odd;
    fixture_write(report_json);
    assert_says("[\"p\",\"?\\u0001\xC3\xBC\"]");
}

/* --- CSV -------------------------------------------------------------------------------------- */

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

/* --- as the original prints it ---------------------------------------------------------------- */

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
