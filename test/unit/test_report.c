/* SPDX-License-Identifier: BSD-3-Clause */
#include <jansson.h>

#include "atime/report.h"
#include "base/text.h"
#include "measure/domain.h"
#include "unit/near.h"

#define FIXTURE_RUNS 3
#define FIXTURE_S UINT64_C(1000000000)

static char *fixture_program[] = {(char[]){"./a.out"}, (char[]){"-x"}, (char[]){"a\"b"}, NULL};

/* Record of a node with 200 J in 2 s, for the first run. */
static const char fixture_record[] =
    "{\"apapi\":1,\"name\":\"a.out\",\"node\":\"laptop\",\"node_index\":0,\"nodes\":1,\"uid\":1000,"
    "\"start\":\"1970-01-01T00:00:00Z\",\"elapsed_s\":2,\"late_s\":0,\"complete\":true,"
    "\"domains\":{\"package\":{\"energy_j\":200,\"uncertainty_j\":0.25,\"min_w\":90,\"mean_w\":100,"
    "\"p95_w\":118,\"max_w\":120}},\"components\":["
    "{\"name\":\"rapl\",\"source\":\"sysfs powercap\",\"interval_s\":0.1,\"events\":[{\"name\":"
    "\"rapl:::PACKAGE_ENERGY:PACKAGE0\",\"unit\":\"J\",\"domain\":\"package\",\"counter\":true,"
    "\"scale\":1e-6,\"total\":200,\"min\":90,\"mean\":100,\"p95\":118,\"max\":120,\"covered_s\":2,"
    "\"uncertainty_j\":0.25,\"samples\":21,\"wraps\":1}]},"
    "{\"name\":\"coretemp\",\"source\":\"PAPI\",\"interval_s\":1.5,\"events\":[{\"name\":"
    "\"coretemp:::hwmon0,temp1\",\"unit\":\"C\",\"kind\":\"temperature\",\"type\":\"int64\","
    "\"scale\":1e-3,\"min\":-40.5,\"mean\":45.25,\"max\":61,\"covered_s\":2,\"samples\":21,"
    "\"failed\":2}]},{\"name\":\"nvml\",\"reason\":\"no driver\"}],"
    "\"trust\":{\"covered\":1,\"cpu_s\":0}}";

/* Values that the definition of the energy event selects. The temperature's selects none. */
static const struct apapi_value_result fixture_values[2] = {
    {.shown = APAPI_SHOW_ACC, .type = "energy", .unit = "Ws", .factor = 1e6, .acc = 200},
    {.shown = APAPI_SHOW_MIN | APAPI_SHOW_MAX | APAPI_SHOW_AVG,
     .type = "power",
     .unit = "W",
     .factor = 0.001,
     .min = 90,
     .max = 120,
     .avg = 100}};

/* Fill in a run with `factor` times the energy and the time of the first one. */
static void fixture_fill(struct run *run, double factor, int status)
{
    struct apapi_measurement *m = &run->record.measurement;
    struct apapi_domain_result *package = &m->domains[APAPI_DOMAIN_PACKAGE];

    fail_if(apapi_record_decode(fixture_record, strlen(fixture_record), &run->record, &why), "%s",
            why.text);
    memcpy(m->components[0].events[0].values, fixture_values, sizeof fixture_values);
    package->energy_j *= factor;
    package->power_w.mean *= factor;
    run->end = (struct child_end){.status = status,
                                  .elapsed_ns = (uint64_t)(2e9 * factor),
                                  .user_s = 1.5,
                                  .system_s = 0.25,
                                  .peak_bytes = UINT64_C(12595) * 1024};
}

static struct report report;
static char *written; /* output of a format */

/* Make one run of 2 s with 200 J, or three of 2, 4 and 6 s with 200, 400 and 600 J. */
static void fixture_make(unsigned runs)
{
    static const int ends[FIXTURE_RUNS] = {0, 3 << 8, 9}; /* success, exit status 3, signal 9 */

    report = (struct report){.program = fixture_program, .runs_wanted = runs, .count = runs};
    report.runs = calloc(runs, sizeof *report.runs);
    assert_non_null(report.runs);
    for (unsigned i = 0; i < runs; i++) {
        fixture_fill(&report.runs[i], i + 1, ends[i]);
    }
}

static void fixture_destroy(void)
{
    for (size_t i = 0; i < report.count; i++) {
        apapi_record_clear(&report.runs[i].record);
    }
    free(report.runs);
    free(written);
    written = NULL;
}

/* A test of a report of `count` runs. */
#define RUNS(name, count)                                                                          \
    static void make_##name(void)                                                                  \
    {                                                                                              \
        fixture_make(count);                                                                       \
    }                                                                                              \
    TEST_WITH(name, make_##name, fixture_destroy)

static void fixture_write_of(report_f form, const struct report *reports)
{
    size_t size;
    FILE *out;

    free(written);
    written = NULL;
    out = open_memstream(&written, &size);
    assert_non_null(out);
    assert_int_equal(form(out, reports, NULL), 0);
    assert_int_equal(fclose(out), 0);
}

static void fixture_write(report_f form)
{
    fixture_write_of(form, &report);
}

static void assert_says(const char *part)
{
    assert_contains(written, part);
}

RUNS(runs_that_are_alike_are_no_surer_than_their_uncertainty, 3)
{
    report.runs[0].record.measurement.domains[APAPI_DOMAIN_PACKAGE].energy_j =
        600; /* the energy of the last run */
    report.runs[1].record.measurement.domains[APAPI_DOMAIN_PACKAGE].energy_j = 600;
    assert_differs_less(report_spread(&report, ENERGY, WHOLE).sd, 0.25 / sqrt(6), 1e-9);
}

RUNS(totals_of_other_domains_are_not_compared, 3)
{
    struct apapi_domain_result *gpu = &report.runs[0].record.measurement.domains[APAPI_DOMAIN_GPU];
    struct report both[2] = {report, report};

    both[0].count = 1;
    both[1].runs++;
    both[1].count = 2;
    assert_differs_less(report_difference(both, ENERGY).mean, 300, 1e-9);
    fixture_write_of(compare_json, both);
    assert_null(strstr(written, "missing_domains"));
    *gpu = (struct apapi_domain_result){.measured = true, .energy_j = 900, .power_w.mean = 450};
    assert_true(isnan(report_difference(both, ENERGY).mean));
    assert_differs_less(report_difference(both, ELAPSED).mean, 3, 1e-9);
    fixture_write_of(compare_json, both);
    assert_says("\"difference\":{\"elapsed_s\":{\"mean\":3.0},\"missing_domains\":[\"gpu\"]}");
    fixture_write_of(compare_table, both);
    assert_says("difference: second program - first\n"
                "  elapsed   3.000 s  (+150.0 %)\n"
                "  energy and power are not compared: only one program's total has gpu\n");
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

/* The package of the second run has not moved, so the run's total is that of its memory alone. */
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
    fixture_write(report_json);
    assert_says("\"total\":{\"energy_j\":{\"mean\":410.0,\"sd\":282.842712,\"ci95\":2541.24095,"
                "\"runs\":2},");
}

RUNS(runs_say_in_how_many_of_them_a_counter_did_not_move, 3)
{
    for (size_t i = 0; i < 2; i++) {
        report.runs[i].record.measurement.components[0].events[0].still = true;
    }
    fixture_write(report_table);
    assert_says("\n  rapl:::PACKAGE_ENERGY:PACKAGE0 in 2 of 3 runs: counter did not move, not\n"
                "    counted (too short a time to tell whether it is stuck)\n");
    assert_null(strstr(written, "coretemp:::"));
    report.runs[2].record.measurement.components[0].events[0].stuck = true;
    fixture_write(report_table);
    assert_says(" in 1 of 3 runs: counter never moved, not\n    counted\n");
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
    fixture_write(report_json);
    assert_says("\"missing_domains\":[\"dram\"]}}}");
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

RUNS(each_run_has_its_lines, 3)
{
    struct apapi_event *event = &report.runs[1].record.measurement.components[0].events[0].event;

    strcpy(event->name, "a\"b,\n");
    event->name[4] = ' ';
    fixture_write(report_csv);
    assert_says("\n2,event,\"a\"\"b, \",package,");
    assert_says("\n3,program,signal,,,,9,");
    assert_says("\n2,program,exit_status,,,,3,");
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

/* --- means of several runs -------------------------------------------------------------------- */

/* Values in published tables of the distribution. */
TEST(t_of_95_percent)
{
    static const struct {
        double df, t;
    } rows[] = {{1, 12.7062},  {2, 4.30265},  {3, 3.18245},   {5, 2.57058},
                {10, 2.22814}, {30, 2.04227}, {120, 1.97993}, {1e6, 1.95997}};

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_differs_less(student_t95(rows[i].df), rows[i].t, 1e-4);
    }
}

/* Calculated by hand: variances 4/5 and 9/7, 9.98 degrees of freedom. */
TEST(difference_of_two_means)
{
    const struct spread one = {5, 100, 2}, other = {7, 104, 3};
    const struct difference difference = student_difference(&one, &other),
                            reverse = student_difference(&other, &one);
    double error = sqrt(4.0 / 5 + 9.0 / 7);
    double df = pow(4.0 / 5 + 9.0 / 7, 2) / (pow(4.0 / 5, 2) / 4 + pow(9.0 / 7, 2) / 6);

    assert_differs_less(difference.mean, 4, 1e-12);
    assert_differs_less(difference.half_width, student_t95(df) * error, 1e-9);
    assert_true(difference.p > 0.019 && difference.p < 0.021 && reverse.p == difference.p);
}

TEST(what_is_not_known_gives_no_difference)
{
    const struct spread none = {0, NAN, NAN}, one = {1, 5, NAN}, alike = {3, 5, 0};
    struct difference difference = student_difference(&none, &alike);

    assert_true(isnan(difference.mean) && isnan(difference.p));
    difference = student_difference(&one, &alike);
    assert_differs_less(difference.mean, 0, 0);
    assert_true(isnan(difference.half_width) && isnan(difference.p));
    difference = student_difference(&alike, &alike);
    assert_true(isnan(difference.half_width) && isnan(difference.p));
}
