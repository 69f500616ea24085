/* SPDX-License-Identifier: BSD-3-Clause */
/* The true power of simulated meters, and its energy. */
#include "simulation/power.h"

#include "unit/near.h"

#define MS UINT64_C(1000000)
#define STEP_NS UINT64_C(1000)

static struct power power;
static struct power_part parts[4];

static void make(void)
{
    power_init(&power, parts, 4);
    power_add_part(&power, 3 * MS, 15);
    power_add_line(&power, 5 * MS, 100, 450);
    power_add_part(&power, 2 * MS, 30);
}

/* By small rectangles at the middle of each step. */
static double summed_j(uint64_t from_ns, uint64_t to_ns)
{
    double energy_j = 0;

    for (uint64_t ns = from_ns; ns < to_ns; ns += STEP_NS) {
        energy_j += power_at_w(&power, ns + STEP_NS / 2) * (double)STEP_NS / 1e9;
    }
    return energy_j;
}

static double energy_j(uint64_t from_ns, uint64_t to_ns)
{
    return power_energy_j(&power, to_ns) - power_energy_j(&power, from_ns);
}

TEST(parts_follow_each_other_again_and_again)
{
    make();
    assert_int_equal(power.period_ns, 10 * MS);
    assert_near(power_at_w(&power, 0), 15);
    assert_near(power_at_w(&power, 3 * MS), 100);
    assert_near(power_at_w(&power, 3 * MS + 5 * MS / 2), 275);
    assert_near(power_at_w(&power, 9 * MS), 30);
    assert_near(power_at_w(&power, 70 * MS + 3 * MS), 100);
    assert_near(power.min_w, 15);
    assert_near(power.max_w, 450);
}

TEST(the_energy_is_that_of_the_power)
{
    static const uint64_t ends[][2] = {{0, 10}, {0, 1}, {2, 4}, {4, 7}, {7, 33}, {15, 28}};

    for (int sine = 0; sine < 2; sine++) {
        make();
        if (sine) {
            power_add_sine(&power, 7 * MS, 10);
        }
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
            uint64_t from_ns = ends[i][0] * MS, to_ns = ends[i][1] * MS;

            assert_within(energy_j(from_ns, to_ns), summed_j(from_ns, to_ns), 1e-6);
        }
    }
}

TEST(a_sine_adds_nothing_in_its_period)
{
    power_init(&power, parts, 4);
    power_add_part(&power, 4 * MS, 100);
    power_add_sine(&power, 4 * MS, 60);
    assert_near(power.min_w, 40);
    assert_near(power.max_w, 160);
    assert_near(power_at_w(&power, MS), 160);
    assert_near(power_at_w(&power, 3 * MS), 40);
    assert_near(energy_j(MS, 9 * MS), 0.8);
    assert_true(energy_j(0, 2 * MS) > 0.2);
}

TEST(a_part_too_many_is_left_out)
{
    make();
    power_add_part(&power, MS, 5);
    power_add_part(&power, MS, 5000);
    assert_int_equal(power.count, 4);
    assert_int_equal(power.period_ns, 11 * MS);
    assert_near(power.max_w, 450);
}
