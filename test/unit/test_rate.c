/* SPDX-License-Identifier: BSD-3-Clause */
#include "fake/energy_event.h"
#include "measure/domain.h"
#include "measure/meter.h"
#include "measure/rate.h"
#include "unit/near.h"

#define MS UINT64_C(1000000)
#define S (1000 * MS)
#define ORIGIN (1234567 * MS)

/* @return the energy at a power that rises and falls, so that bins differ [J]. */
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
                                 energy_until(next_ns) - energy_until(now_ns), true);
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
        assert_int_equal(__builtin_popcountll(timeline.bin_ns / (10 * MS)), 1); /* so bins fold */
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
    apapi_timeline_meter_add(&meter, ORIGIN, ORIGIN + 15 * MS, 1.5, true);
    apapi_timeline_meter_add(&meter, ORIGIN + 30 * MS, ORIGIN + 40 * MS, 1, true);
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
    apapi_timeline_coarsen(&timeline, UINT64_MAX);
    assert_int_equal(timeline.count, 1);
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

/* --- percentiles ------------------------------------------------------------------------------ */

#define VALUES 20000
#define LIMIT 0.01

static struct apapi_histogram histogram;

static double normal(double mean, double deviation)
{
    return mean + deviation * sqrt(-2 * log(1 - drand48())) * cos(2 * M_PI * drand48());
}

static double idle_and_busy(void)
{
    return drand48() < 0.9 ? normal(60, 2) : normal(410, 5);
}

static double spikes_over_twelve_decades(void)
{
    return drand48() < 0.97 ? normal(210, 20) : 1e-4 * pow(1e12, drand48());
}

static double (*const distributions[])(void) = {idle_and_busy, spikes_over_twelve_decades};

/* Add values in random order, then in rising order: then even values of more octaves than there are
 * bins get into the right one. */
TEST(p95_is_right_within_one_percent)
{
    static double samples[VALUES];

    srand48(5);
    for (size_t d = 0; d < 2 * COUNT_OF(distributions); d++) {
        double (*draw)(void) = distributions[d / 2];
        double exact, limit = d % 2 && draw == spikes_over_twelve_decades ? 1 : LIMIT;

        histogram = (struct apapi_histogram){0};
        for (size_t i = 0; i < VALUES; i++) {
            samples[i] = draw();
            if (d % 2 == 0) {
                apapi_histogram_add(&histogram, samples[i], 100000000);
            }
        }
        qsort(samples, VALUES, sizeof *samples, compare_double);
        for (size_t i = 0; d % 2 && i < VALUES; i++) {
            apapi_histogram_add(&histogram, samples[i], 100000000);
        }
        exact = samples[VALUES / 100 * 95 - 1];
        if (!(fabs(apapi_histogram_p95(&histogram) - exact) <= limit * exact)) {
            fail_msg("%zu: %.9g instead of %.9g", d, apapi_histogram_p95(&histogram), exact);
        }
    }
}

/* Exactly 95 % of the counts are at the lower of two values in one octave. */
TEST(p95_of_a_tie_is_the_lower_value)
{
    histogram = (struct apapi_histogram){0};
    for (int i = 0; i < 20000; i++) {
        apapi_histogram_add(&histogram, i % 20 ? 70 : 120, 100000000);
    }
    assert_within(apapi_histogram_p95(&histogram), 70, LIMIT);
}

TEST(values_out_of_range_keep_their_side)
{
    histogram = (struct apapi_histogram){0};
    assert_true(isnan(apapi_histogram_p95(&histogram)));
    apapi_histogram_add(&histogram, 0, 1);
    apapi_histogram_add(&histogram, -5, 1);
    apapi_histogram_add(&histogram, 1e-300, 1);
    assert_true(apapi_histogram_p95(&histogram) == 0);
    apapi_histogram_add(&histogram, 1e300, 100);
    assert_true(apapi_histogram_p95(&histogram) > 2e8);
}

/* A year of readings at 1 kHz, in few steps: the counts of the bins must not overflow. */
TEST(p95_is_right_after_a_year)
{
    histogram = (struct apapi_histogram){0};
    for (int day = 0; day < 365; day++) {
        apapi_histogram_add(&histogram, 100, 86400 * UINT64_C(900000000));
        apapi_histogram_add(&histogram, 120, 86400 * UINT64_C(100000000));
        for (int i = 0; i < 1000; i++) {
            apapi_histogram_add(&histogram, 110, 1000000);
        }
    }
    assert_within(apapi_histogram_p95(&histogram), 120, LIMIT);
}

/* --- periods and uncertainty ------------------------------------------------------------------ */

#define TICK_NS UINT64_C(100000000)

TEST(period)
{
    struct apapi_period_meter meter = {0};
    struct apapi_period period = apapi_period_result(&meter);

    assert_true(isnan(period.mean_s) && isnan(period.sd_s) && isnan(period.longest_s));
    apapi_period_add(&meter, 1000000000);
    apapi_period_add(&meter, 2000000000);
    assert_true(isnan(apapi_period_result(&meter).sd_s));
    apapi_period_add(&meter, 5000000000);
    apapi_period_add(&meter, 7000000000);
    period = apapi_period_result(&meter);
    assert_int_equal(period.count, 3);
    assert_within(period.mean_s, 2, 1e-12);
    assert_within(period.sd_s, 1, 1e-12);
    assert_within(period.longest_s, 3, 1e-12);
}

/* 100 W. The last reading is late; its value may be of any time between its start and its end. */
TEST(uncertainty_of_a_late_end)
{
    static const struct {
        uint64_t begin_ms, end_ms, span_end_ms;
        double uncertainty_j;
    } cases[] = {
        {2000, 2000, 2000, 0.1}, {1960, 2000, 2000, 4.1}, {2020, 2020, 2000, 2.1},
        {2010, 2040, 2000, 4.1}, {1970, 2010, 2000, 3.1}, {1990, 2030, 2000, 3.1},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct apapi_span span = {.elapsed_ns = cases[i].span_end_ms * 1000000,
                                        .end_ns = 1 + cases[i].span_end_ms * 1000000};
        struct apapi_moment when = {1 + cases[i].begin_ms * 1000000, 1 + cases[i].end_ms * 1000000};
        struct apapi_reading reading = {.raw = 0};
        struct apapi_event_result result;
        struct apapi_meter meter;
        double energy_j;

        apapi_meter_init(&meter, &fake_energy_event, TICK_NS, &histogram);
        apapi_meter_add(&meter, &reading, moment_at(1), &energy_j);
        reading.raw = 200000000;
        apapi_meter_add(&meter, &reading, when, &energy_j);
        apapi_meter_finish(&meter, &span, &result);
        /* the least uncertainty; a little more, as the energy is divided by the covered time */
        assert_within(result.uncertainty_j / result.summary.mean * 100,
                      1.011 * cases[i].uncertainty_j, 0.012);
    }
}
