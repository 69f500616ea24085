/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of a rank: what it has, and the energy of regions from the live page. */
#include "base/files.h"
#include "base/json.h"
#include "regions/program.h"
#include "unit/region_fixture.h"

#define POWER_W 100.0
#define ENERGY "apapi:::PACKAGE_ENERGY_UJ"

static uint64_t meter_start_ns;

/* A reading of a meter that draws POWER_W all the time. */
static void read_meter(void)
{
    struct apapi_live_slot *slot = &measured.page->domains[APAPI_DOMAIN_PACKAGE];
    struct apapi_live_slot figures = *slot;

    figures.time_ns = clock_monotonic_ns();
    figures.total = POWER_W * (double)(figures.time_ns - meter_start_ns) / 1e9;
    figures.rate = POWER_W;
    figures.readings++;
    figures.flags = APAPI_LIVE_MEASURED;
    live_slot_write(slot, &figures);
}

static void make_metered_step(void)
{
    make_step();
    meter_start_ns = clock_monotonic_ns();
    read_meter();
    setenv("PAPI_OUTPUT_DIRECTORY", base, 1);
    setenv("SLURM_PROCID", "7", 1);
}

static void remove_metered_step(void)
{
    unsetenv("PAPI_OUTPUT_DIRECTORY");
    unsetenv("SLURM_PROCID");
    remove_step();
}

static struct tree file; /* of the latest program */

static char *file_text;

static const struct tree_node *region_of(const char *number)
{
    struct tree_problem problem;
    const struct tree_node *thread;

    file_text = text_file_read(in_base("papi_hl_output/rank_000007.json"), TREE_SIZE_MAX, NULL);
    assert_non_null(file_text);
    assert_int_equal(tree_parse(&file, file_text, strlen(file_text), &problem), 0);
    thread = tree_get(tree_get(file.nodes, "threads"), "0");
    assert_non_null(thread);
    return tree_get(tree_get(thread, "regions"), number);
}

static double number_in(const struct tree_node *region, const char *key)
{
    const struct tree_node *text = tree_get(region, key);

    assert_true(tree_is(text, TREE_TEXT)); /* PAPI's numbers are texts */
    return strtod(text->text, NULL);
}

static void free_file(void)
{
    tree_free(&file);
    free(file_text);
}

static void spend_readings(int readings)
{
    for (int i = 0; i < readings; i++) {
        usleep(2000);
        read_meter();
    }
}

static void long_regions(void)
{
    for (int i = 0; i < 3; i++) {
        CHECK(apapi_region_begin("outer \"1\"") == 0);
        spend_readings(3);
        CHECK(apapi_region_begin("inner") == 0);
        spend_readings(3);
        CHECK(apapi_region_end("inner") == 0);
        CHECK(apapi_region_end("outer \"1\"") == 0);
    }
}

static void assert_power(const struct tree_node *region)
{
    double time_s = number_in(region, "real_time_nsec") / 1e9;

    assert_true(fabs(number_in(region, ENERGY) / 1e6 - POWER_W * time_s) < 0.02 * POWER_W * time_s);
}

#define METERED(name) TEST_WITH(name, make_metered_step, remove_metered_step)

METERED(long_regions_have_the_meters_energy)
{
    const struct tree_node *outer, *inner;

    run_quiet_program(long_regions);
    outer = region_of("0");
    inner = tree_get(tree_get(tree_get(tree_get(file.nodes, "threads"), "0"), "regions"), "1");
    assert_string_equal(tree_get(outer, "name")->text, "outer \"1\"");
    assert_true(number_in(outer, "parent_region_id") == -1);
    assert_true(number_in(inner, "parent_region_id") == 0);
    assert_true(number_in(outer, "region_count") == 3);
    assert_true(number_in(outer, "real_time_nsec") > number_in(inner, "real_time_nsec"));
    assert_power(outer);
    assert_power(inner);
    free_file();
}

static void figures_of_merit(void)
{
    CHECK(apapi_region_begin("solve") == 0 && apapi_region_end("solve") == 0);
    CHECK(apapi_region_fom("cells", 1, "cells") == 0);
    CHECK(apapi_region_fom("\"rate\"", -2.5e-7, NULL) == 0);
    CHECK(apapi_region_fom("cells", 1.2e9, "cells") == 0);
}

static void assert_fom(const struct tree_node *fom, const char *name, double value,
                       const char *unit)
{
    assert_string_equal(tree_get(fom, "name")->text, name);
    assert_true(number_in(fom, "value") == value);
    assert_true(unit ? strcmp(tree_get(fom, "unit")->text, unit) == 0 : !tree_get(fom, "unit"));
}

METERED(the_last_figure_of_merit_of_a_name_counts_without_the_sampler_too)
{
    const struct tree_node *foms;

    run_quiet_program(figures_of_merit);
    assert_non_null(region_of("0"));
    foms = tree_get(file.nodes, "foms");
    assert_true(tree_is(foms, TREE_ARRAY) && foms->size == 2);
    assert_fom(tree_first(foms), "cells", 1.2e9, "cells");
    assert_fom(tree_next(tree_first(foms)), "\"rate\"", -2.5e-7, NULL);
    free_file();
}

static void child_of_a_fork(void)
{
    int status;
    pid_t child;

    CHECK(apapi_region_begin("solve") == 0 && apapi_region_end("solve") == 0);
    CHECK(apapi_region_fom("cells", 1, "cells") == 0);
    child = fork();
    if (child == 0) {
        struct apapi_fom fom;

        _exit(foms_copy(0, &fom));
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

METERED(a_child_has_no_figures_of_its_parent)
{
    run_quiet_program(child_of_a_fork);
    assert_non_null(region_of("0"));
    assert_true(tree_get(file.nodes, "foms")->size == 1);
    free_file();
}

static void short_regions(void)
{
    for (int i = 0; i < 100; i++) {
        CHECK(apapi_region_begin("short") == 0 && apapi_region_end("short") == 0);
    }
    spend_readings(2);
    CHECK(apapi_region_begin("short") == 0 && apapi_region_end("short") == 0);
}

/* The meters say nothing about a region between two readings: absent, not 0. */
METERED(short_regions_have_no_energy_without_the_sampler)
{
    const struct tree_node *region;

    run_quiet_program(short_regions);
    region = region_of("0");
    assert_true(number_in(region, "region_count") == 101);
    assert_null(tree_get(region, ENERGY));
    assert_null(tree_get(tree_get(file.nodes, "event_definitions"), ENERGY));
    free_file();
}

/* A sampler that says what a thread in each region draws. */
static void answered(void)
{
    CHECK(apapi_region_begin("a") == 0 && apapi_region_begin("b") == 0);
    spend_readings(1);
    answer_with_results((struct two_powers){20, 40});
    CHECK(apapi_region_end("b") == 0 && apapi_region_end("a") == 0);
}

METERED(the_samplers_results_are_the_energy)
{
    struct finished finished = run_program(answered);
    const struct tree_node *a, *b;
    double a_s, b_s;

    assert_string_equal(finished.said, "");
    a = region_of("0");
    b = tree_get(tree_get(tree_get(tree_get(file.nodes, "threads"), "0"), "regions"), "1");
    b_s = number_in(b, "real_time_nsec") / 1e9;
    a_s = number_in(a, "real_time_nsec") / 1e9 - b_s;
    assert_true(fabs(number_in(b, ENERGY) / 1e6 - 40 * b_s) < 1e-4 * b_s + 2e-6);
    assert_true(fabs(number_in(a, ENERGY) / 1e6 - 40 * b_s - 20 * a_s) < 1e-4 * b_s + 2e-6);
    assert_null(tree_get(a, "apapi:::DRAM_ENERGY_UJ"));
    free_file();
}
