/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that gets the power of its regions from the step's sampler, for LIKWID's values. */
#include "apapi/event.h"
#include "apapi/likwid_compat.h"
#include "base/clock.h"
#include "unit/region_fixture.h"

#define OUTER_W 40
#define INNER_W 100

static void spin(int rounds)
{
    static volatile double sink;

    for (int i = 1; i < rounds * 100000; i++) {
        sink += 1.0 / i;
    }
}

static void run_regions(void)
{
    apapi_likwid_start_region("outer");
    spin(2);
    apapi_likwid_start_region("inner");
    spin(3);
    apapi_likwid_stop_region("inner");
    apapi_likwid_stop_region("outer");
}

/* Run a program, which ends well. @param said  its text on standard error */
static void run_and_say(void (*program)(void), const char *said)
{
    struct finished finished = run_program(program);

    assert_string_equal(finished.said, said);
    assert_int_equal(finished.status, 0);
}

static void check_value(double value_j, double expected_j)
{
    CHECK(value_j > 0.98 * expected_j && value_j < 1.02 * expected_j);
}

static void get_values(void)
{
    double values[8], outer_s, inner_s;
    int count = 8, passes;

    run_regions();
    apapi_likwid_get_region("inner", &count, values, &inner_s, &passes);
    CHECK(count == APAPI_LIKWID_VALUES && passes == 1 && inner_s > 0);
    CHECK(isnan(values[APAPI_LIKWID_TOTAL_J]) && isnan(values[APAPI_LIKWID_PACKAGE_J]));
    answer_with_results((struct two_powers){OUTER_W, INNER_W});
    run_regions();
    apapi_likwid_get_region("inner", &count, values, &inner_s, &passes);
    CHECK(passes == 2);
    check_value(values[APAPI_LIKWID_PACKAGE_J], inner_s * INNER_W);
    check_value(values[APAPI_LIKWID_TOTAL_J], inner_s * INNER_W);
    CHECK(isnan(values[APAPI_LIKWID_DRAM_J]) && isnan(values[APAPI_LIKWID_GPU_J]));
    count = 2;
    apapi_likwid_get_region("outer", &count, values, &outer_s, &passes);
    CHECK(count == 2 && outer_s > inner_s);
    check_value(values[APAPI_LIKWID_PACKAGE_J], inner_s * INNER_W + (outer_s - inner_s) * OUTER_W);
    CHECK(apapi_likwid_reset_region("inner") == 0);
    apapi_likwid_get_region("inner", &count, values, &inner_s, &passes);
    CHECK(passes == 0 && inner_s == 0 && values[APAPI_LIKWID_PACKAGE_J] == 0);
}

/* Check that values of "outer" are those of the passes that have ended. @return their time [s] */
static double check_finished(int expected_passes)
{
    double package_j[2], outer_s;
    int count = 2, passes;

    apapi_likwid_get_region("outer", &count, package_j, &outer_s, &passes);
    CHECK(passes == expected_passes);
    CHECK(expected_passes > 0 ? outer_s > 0 : outer_s == 0 && package_j[1] == 0);
    if (expected_passes > 0) {
        check_value(package_j[APAPI_LIKWID_PACKAGE_J], outer_s * OUTER_W);
    }
    return outer_s;
}

static void run_outer(int rounds)
{
    CHECK(apapi_likwid_start_region("outer") == 0);
    spin(rounds);
    CHECK(apapi_likwid_stop_region("outer") == 0);
}

static void get_values_of_open_regions(void)
{
    double one_s, two_s;
    uint64_t again_ns;

    run_regions();
    answer_with_results((struct two_powers){OUTER_W, INNER_W});
    CHECK(apapi_likwid_reset_region("outer") == 0);
    CHECK(apapi_likwid_start_region("outer") == 0);
    spin(2);
    check_finished(0);
    CHECK(apapi_likwid_reset_region("outer") == -EFAULT); /* as in LIKWID: the region is open */
    CHECK(apapi_likwid_stop_region("outer") == 0);
    one_s = check_finished(1);
    CHECK(apapi_likwid_start_region("outer") == 0);
    spin(10);
    check_value(check_finished(1), one_s); /* up to what is known of the clock by now */
    /* begun again without an end: the open pass does not count */
    again_ns = clock_monotonic_ns();
    run_outer(1);
    two_s = check_finished(2);
    CHECK(two_s < 1.02 * one_s + (double)(clock_monotonic_ns() - again_ns) * 1e-9);
    run_outer(1);
    check_finished(3);
    CHECK(apapi_likwid_stop_region("outer") == -EFAULT);
    CHECK(apapi_likwid_stop_region("never") == -EEXIST);
    CHECK(apapi_likwid_reset_region("never") == -EEXIST);
    CHECK(apapi_likwid_register_region("never") == 0);
    CHECK(apapi_likwid_stop_region("never") == -EFAULT);
    CHECK(apapi_likwid_reset_region("never") == -EFAULT);
    check_finished(3);
}

IN_STEP(likwid_counts_what_has_ended)
{
    run_and_say(get_values_of_open_regions,
                "apapi: region \"outer\": begun while it is open: ended first (reported once)\n"
                "apapi: region \"outer\": ended, but it was not begun: ignored (reported once)\n");
}

IN_STEP(likwid_gets_the_energy_so_far)
{
    run_and_say(get_values, "");
}
