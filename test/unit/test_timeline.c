/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/domain.h"
#include "unit/near.h"

#define MS UINT64_C(1000000)
#define S (1000 * MS)
#define ORIGIN (1234567 * MS)

/* A power that rises and falls, so that bins differ. */
static double energy_until(uint64_t ns)
{
    double s = (double)ns * 1e-9;

    return 200 * s + 50 * (1 - cos(s / 3));
}

static struct apapi_timeline run(uint64_t length_ns, uint64_t interval_ns, double *energy_j)
{
    struct apapi_timeline_meter meter;
    struct apapi_timeline result;
    uint64_t now_ns = 0;

    apapi_timeline_meter_init(&meter, ORIGIN, interval_ns);
    while (now_ns < length_ns) {
        uint64_t next_ns = now_ns + interval_ns < length_ns ? now_ns + interval_ns : length_ns;

        apapi_timeline_meter_add(&meter, ORIGIN + now_ns, ORIGIN + next_ns,
                                 energy_until(next_ns) - energy_until(now_ns));
        now_ns = next_ns;
    }
    apapi_timeline_meter_finish(&meter, length_ns, &result);
    *energy_j = energy_until(length_ns);
    return result;
}

TEST(energy_equals_the_counters_for_every_length)
{
    static const struct {
        uint64_t length_ns, interval_ns;
    } runs[] = {{3 * MS, 10 * MS},       {1 * S, 100 * MS},       {1 * S, 1 * MS},
                {1200 * MS, 10 * MS},    {1201 * MS, 10 * MS},    {120 * S, 100 * MS},
                {120 * S + 1, 100 * MS}, {10800 * S, 1 * S},      {10801 * S + 7, 100 * MS},
                {2592000 * S, 10 * S},   {2592000 * S, 3600 * S}, {7 * S, 30 * S}};

    for (size_t i = 0; i < COUNT_OF(runs); i++) {
        double energy_j;
        struct apapi_timeline timeline = run(runs[i].length_ns, runs[i].interval_ns, &energy_j);

        assert_within(apapi_timeline_energy_j(&timeline), energy_j, 1e-5);
        assert_true(timeline.count >= 1 && timeline.count <= APAPI_TIMELINE_BINS);
        assert_true(timeline.count * timeline.bin_ns >= runs[i].length_ns);
        for (size_t bin = 0; bin < timeline.count; bin++) {
            assert_within(timeline.covered_pct[bin], 100, 1e-6);
            assert_within(apapi_timeline_power_w(&timeline, bin), 200, 0.1);
        }
    }
}

TEST(what_was_not_measured_is_not_covered)
{
    struct apapi_timeline_meter meter;
    struct apapi_timeline timeline;
    uint64_t known_ns;

    apapi_timeline_meter_init(&meter, ORIGIN, 10 * MS);
    apapi_timeline_meter_add(&meter, ORIGIN, ORIGIN + 15 * MS, 1.5);
    apapi_timeline_meter_add(&meter, ORIGIN + 30 * MS, ORIGIN + 40 * MS, 1);
    apapi_timeline_meter_finish(&meter, 40 * MS, &timeline);
    assert_within(timeline.covered_pct[1], 50, 1e-6);
    assert_within(apapi_timeline_power_w(&timeline, 1), 100, 1e-6);
    assert_true(timeline.covered_pct[2] == 0);
    assert_true(isnan(apapi_timeline_power_w(&timeline, 2)));
    assert_within(apapi_timeline_between_j(&timeline, 0, 40 * MS, &known_ns), 2.5, 1e-6);
    assert_int_equal(known_ns, 25 * MS);
    apapi_timeline_coarsen(&timeline, 20 * MS);
    assert_int_equal(timeline.count, 2);
    assert_within(timeline.covered_pct[0], 75, 1e-6);
    assert_within(apapi_timeline_power_w(&timeline, 0), 100, 1e-6);
}

TEST(what_came_before_the_origin_is_left_out)
{
    struct apapi_timeline_meter meter;
    struct apapi_timeline timeline;

    apapi_timeline_meter_init(&meter, ORIGIN, 10 * MS);
    apapi_timeline_meter_add(&meter, ORIGIN - 10 * MS, ORIGIN + 10 * MS, 2);
    apapi_timeline_meter_add(&meter, ORIGIN - 10 * MS, ORIGIN, 7);
    apapi_timeline_meter_finish(&meter, 10 * MS, &timeline);
    assert_within(apapi_timeline_energy_j(&timeline), 1, 1e-6);
}

TEST(a_sum_has_all_energy_wherever_its_parts_begin)
{
    static const int64_t starts_ns[] = {1000000000, 1003000000, 400000000, 2999000001};
    struct apapi_timeline_sum sum = {0};
    double all_j = 0, energy_j;

    for (size_t i = 0; i < 4; i++) {
        struct apapi_timeline one = run((7 + 13 * i) * S, 100 * MS, &energy_j);

        apapi_timeline_sum_add(&sum, starts_ns[i], &one);
        all_j += energy_j;
    }
    assert_true(sum.start_unix_ns == 400000000);
    assert_within(apapi_timeline_energy_j(&sum.timeline), all_j, 1e-5);
    assert_within(apapi_timeline_power_w(&sum.timeline, 5), 800, 0.1);
}

TEST(between_parts_of_a_sum_nothing_is_known)
{
    struct apapi_timeline_sum sum = {0};
    double energy_j;
    struct apapi_timeline one = run(1 * S, 100 * MS, &energy_j);

    apapi_timeline_sum_add(&sum, 0, &one);
    apapi_timeline_sum_add(&sum, 9000000000, &one);
    assert_within(apapi_timeline_energy_j(&sum.timeline), 2 * energy_j, 1e-5);
    assert_true(isnan(apapi_timeline_power_w(&sum.timeline, sum.timeline.count / 2)));
    assert_within(apapi_timeline_power_w(&sum.timeline, 0), 200, 0.1);
}
