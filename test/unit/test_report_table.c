/* SPDX-License-Identifier: BSD-3-Clause */
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
