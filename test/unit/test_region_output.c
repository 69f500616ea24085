/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of a rank, and the results of PAPI's functions. */
#include "apapi/papi_hl_compat.h"
#include "base/files.h"
#include "base/json.h"
#include "regions/program.h"
#include "unit/region_fixture.h"

#define ENERGY "apapi:::PACKAGE_ENERGY_UJ"

static void make_writing_step(void)
{
    make_step();
    setenv("PAPI_OUTPUT_DIRECTORY", base, 1);
    setenv("SLURM_PROCID", "7", 1);
}

static void remove_writing_step(void)
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

#define WRITES(name) TEST_WITH(name, make_writing_step, remove_writing_step)

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

WRITES(the_last_figure_of_merit_of_a_name_counts_without_the_sampler_too)
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

WRITES(a_child_has_no_figures_of_its_parent)
{
    run_quiet_program(child_of_a_fork);
    assert_non_null(region_of("0"));
    assert_true(tree_get(file.nodes, "foms")->size == 1);
    free_file();
}

static void regions_of_papi(void)
{
    CHECK(apapi_hl_set_events("EXTRA") == PAPI_OK);
    for (int i = 0; i < 2; i++) {
        CHECK(apapi_hl_region_begin("outer \"1\"") == PAPI_OK);
    }
    CHECK(apapi_hl_region_end("outer \"1\"") == PAPI_OK);
    CHECK(apapi_hl_read("outer \"1\"") == PAPI_OK);
    CHECK(apapi_hl_region_begin("second") == PAPI_OK);
    CHECK(apapi_hl_region_begin("third") == PAPI_OK);
    CHECK(apapi_hl_region_end("outer \"1\"") == PAPI_OK); /* the others go on */
    CHECK(apapi_hl_read("outer \"1\"") == PAPI_EINVAL);
    CHECK(apapi_hl_region_end("third") == PAPI_OK);
    CHECK(apapi_hl_region_end("second") == PAPI_OK);
    CHECK(apapi_hl_region_end("second") == PAPI_EINVAL);
    CHECK(apapi_hl_region_begin(NULL) == PAPI_EINVAL && apapi_hl_read(NULL) == PAPI_EINVAL &&
          apapi_hl_region_end(NULL) == PAPI_EINVAL);
}

WRITES(results_are_those_of_papi_and_regions_may_overlap)
{
    const struct tree_node *outer, *regions;

    run_program(regions_of_papi);
    outer = region_of("0");
    regions = tree_get(tree_get(tree_get(file.nodes, "threads"), "0"), "regions");
    assert_string_equal(tree_get(outer, "name")->text, "outer \"1\"");
    assert_true(number_in(outer, "parent_region_id") == -1);
    assert_true(number_in(outer, "region_count") == 1);
    assert_true(number_in(tree_get(regions, "1"), "parent_region_id") == 0);
    assert_string_equal(tree_get(tree_get(regions, "3"), "name")->text, "second");
    assert_true(number_in(tree_get(regions, "3"), "parent_region_id") == -1);
    assert_null(tree_get(outer, ENERGY)); /* the sampler has not said anything */
    free_file();
}

/* A sampler that says what a thread in each region draws. */
static void answered(void)
{
    CHECK(apapi_region_begin("a") == 0 && apapi_region_begin("b") == 0);
    usleep(2000);
    answer_with_results((struct two_powers){20, 40});
    CHECK(apapi_region_end("b") == 0 && apapi_region_end("a") == 0);
}

WRITES(the_samplers_results_are_the_energy)
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
