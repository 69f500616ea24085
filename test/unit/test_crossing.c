/* SPDX-License-Identifier: BSD-3-Clause */
/* Thresholds on scripted values: what is crossed, when, how often, and that nothing else is. */
#include "limit/evaluate.h"
#include "unit/near.h"

#define S UINT64_C(1000000000)
#define START_NS (100 * S)

static struct limit_state threshold;
static struct limit_crossing crossing;

static void begin(enum apapi_overflow_mode mode, double level)
{
    threshold = (struct limit_state){.mode = mode, .level = level};
    limit_restart(&threshold);
}

static bool count_at(double s, long double total)
{
    memset(&crossing, 0, sizeof crossing);
    return limit_evaluate(
        &threshold, &(struct limit_value){total, START_NS + (uint64_t)llround(s * 1e9), 0, false},
        &crossing);
}

static bool level_at(double s, double value)
{
    memset(&crossing, 0, sizeof crossing);
    return limit_evaluate(
        &threshold, &(struct limit_value){value, START_NS + (uint64_t)llround(s * 1e9), 0, false},
        &crossing);
}

static double seconds(uint64_t time_ns)
{
    return ((double)time_ns - (double)START_NS) / 1e9;
}

TEST(every_on_a_ramp)
{
    begin(APAPI_OVERFLOW_EVERY, 25);
    assert_false(count_at(0, 0));
    assert_false(count_at(1, 10));
    assert_false(count_at(2, 20));
    assert_true(count_at(3, 30));
    assert_int_equal(crossing.count, 1);
    assert_within(seconds(crossing.time_ns), 2.5, 1e-9);
    assert_within(crossing.value, 25, 1e-15);
    assert_true(count_at(13, 130));
    assert_int_equal(crossing.count, 4);
    assert_within(seconds(crossing.first_ns), 5, 1e-9);
    assert_within(seconds(crossing.time_ns), 12.5, 1e-9);
    assert_within(crossing.value, 125, 1e-15);
    assert_false(count_at(14, 130));
}

TEST(every_begins_with_the_first_total)
{
    begin(APAPI_OVERFLOW_EVERY, 100);
    assert_false(count_at(0, 950));
    assert_false(count_at(1, 1049));
    assert_true(count_at(2, 1050));
    assert_int_equal(crossing.count, 1);
    assert_within(seconds(crossing.time_ns), 2, 1e-9);
}

/* No crossing is lost to rounding, however many there were and however large the counter is. */
TEST(every_with_64_bits)
{
    const uint64_t far = UINT64_C(1) << 63;

    begin(APAPI_OVERFLOW_EVERY, 3);
    assert_false(count_at(0, 0));
    assert_true(count_at(1, far));
    assert_true(crossing.count == far / 3);
    assert_false(count_at(2, far)); /* 2^63 is 3 n + 2 */
    assert_true(count_at(3, far + 1));
    assert_int_equal(crossing.count, 1);
    assert_false(count_at(4, far + 3));
    assert_true(count_at(5, far + 4));
    assert_int_equal(crossing.count, 1);
}

TEST(every_of_a_fraction)
{
    uint64_t count = 0;

    begin(APAPI_OVERFLOW_EVERY, 0.1);
    assert_false(count_at(0, 0));
    for (int i = 1; i <= 100000; i++) {
        count += count_at(i, i * 0.73L) ? crossing.count : 0;
    }
    assert_int_equal(count, 730000);
}

/* Joules of a domain are counts times a scale that is no double; so is the level. */
TEST(a_level_that_is_reached_but_for_rounding)
{
    const double scale = 1e-6;
    uint64_t count = 0;

    begin(APAPI_OVERFLOW_EVERY, 6 * (1000 * 1e-6));
    assert_false(count_at(0, 0));
    for (int i = 1; i <= 2000; i++) {
        count += count_at(i, 1000.0L * i * scale + 2000.0L * i * scale) ? crossing.count : 0;
        assert_int_equal(count, i / 2);
    }
    begin(APAPI_OVERFLOW_TOTAL, 6 * (1000 * 1e-6));
    assert_false(count_at(0, 5999.0L * scale));
    assert_true(count_at(1, 6000.0L * scale));
}

TEST(units)
{
    assert_true(limit_level(1, 1e-6) == 1000000);
    assert_true(limit_level(5000, 6.103515625e-05) == 81920000);
    assert_true(limit_level(1.5, 1) == 1.5L);
    assert_true(limit_level(-3, 1) == -3);
}

TEST(a_total_is_reached_once)
{
    begin(APAPI_OVERFLOW_TOTAL, 50);
    assert_false(count_at(0, 0));
    assert_false(count_at(1, 49));
    assert_true(count_at(2, 51));
    assert_int_equal(crossing.count, 1);
    assert_within(seconds(crossing.time_ns), 1.5, 1e-9);
    assert_within(crossing.value, 50, 1e-15);
    assert_false(count_at(3, 500));
    limit_restart(&threshold);
    assert_false(count_at(4, 0));
    assert_true(count_at(5, 50));
    assert_within(seconds(crossing.time_ns), 5, 1e-9);
}

TEST(a_total_that_is_reached_already)
{
    begin(APAPI_OVERFLOW_TOTAL, 50);
    assert_true(count_at(3, 70));
    assert_within(seconds(crossing.time_ns), 3, 1e-9);
    assert_within(crossing.value, 70, 1e-15);
}

/* The sum of several components is read more often than each of them. */
TEST(a_total_knows_its_own_previous_time)
{
    begin(APAPI_OVERFLOW_TOTAL, 50);
    assert_false(count_at(0, 0));
    assert_false(count_at(9.9, 40));
    assert_true(limit_evaluate(
        &threshold, &(struct limit_value){60, START_NS + 10 * S, START_NS, false}, &crossing));
    assert_within(seconds(crossing.time_ns), 5, 1e-9);
}

TEST(no_crossing_is_before_the_one_before)
{
    begin(APAPI_OVERFLOW_EVERY, 10);
    assert_false(count_at(0, 0));
    assert_true(count_at(9, 10));
    assert_true(limit_evaluate(
        &threshold, &(struct limit_value){20, START_NS + 10 * S, START_NS, false}, &crossing));
    assert_true(seconds(crossing.time_ns) >= 9);
}

TEST(above)
{
    begin(APAPI_OVERFLOW_ABOVE, 600);
    assert_false(level_at(0, 500));
    assert_false(level_at(1, 600));
    assert_true(level_at(2, 700));
    assert_within(seconds(crossing.time_ns), 1, 1e-9);
    assert_within(crossing.value, 600, 1e-9);
    assert_false(level_at(3, 800));
    assert_false(level_at(4, 599));
    assert_true(level_at(5, 601));
    assert_within(seconds(crossing.time_ns), 4.5, 1e-9);
}

TEST(below)
{
    begin(APAPI_OVERFLOW_BELOW, -5);
    assert_false(level_at(0, 0));
    assert_true(level_at(1, -10));
    assert_within(seconds(crossing.time_ns), 0.5, 1e-9);
    assert_false(level_at(2, -7));
    assert_false(level_at(3, -5));
    assert_false(level_at(4, -4));
    assert_true(level_at(5, -6));
}

TEST(a_level_that_is_passed_from_the_start)
{
    begin(APAPI_OVERFLOW_ABOVE, 600);
    assert_true(level_at(0, 650));
    assert_within(crossing.value, 650, 1e-9);
    assert_false(level_at(1, 650));
}

TEST(hysteresis)
{
    begin(APAPI_OVERFLOW_ABOVE, 600);
    threshold.hysteresis = 50;
    assert_true(level_at(0, 610));
    assert_false(level_at(1, 560));
    assert_false(level_at(2, 610));
    assert_false(level_at(3, 550)); /* not by more than that */
    assert_false(level_at(4, 610));
    assert_false(level_at(5, 549));
    assert_true(level_at(6, 610));
}

TEST(hold)
{
    begin(APAPI_OVERFLOW_ABOVE, 600);
    threshold.hold_ns = 10 * S;
    assert_false(level_at(0, 500));
    assert_false(level_at(2, 700)); /* since 1 s */
    assert_false(level_at(10.9, 700));
    assert_true(level_at(11.5, 640));
    assert_within(seconds(crossing.time_ns), 11, 1e-9);
    assert_within(crossing.value, 690, 1e-9);
    assert_false(level_at(30, 700));
}

TEST(hold_begins_again)
{
    begin(APAPI_OVERFLOW_ABOVE, 600);
    threshold.hold_ns = 10 * S;
    assert_false(level_at(0, 700));
    assert_false(level_at(9, 700));
    assert_false(level_at(9.5, 500));
    assert_false(level_at(10, 700));
    assert_false(level_at(19, 700));
    assert_true(level_at(20, 700));
}

/* It is held until it goes back, even if no reading was made in between. */
TEST(hold_ends_between_readings)
{
    begin(APAPI_OVERFLOW_ABOVE, 600);
    threshold.hold_ns = 10 * S;
    assert_false(level_at(0, 700));
    assert_true(level_at(20, 500)); /* it goes back at 10 s */
    assert_within(seconds(crossing.time_ns), 10, 1e-9);
    begin(APAPI_OVERFLOW_ABOVE, 600);
    threshold.hold_ns = 10 * S;
    assert_false(level_at(0, 700));
    assert_false(level_at(19, 500));
    assert_false(level_at(20, 700));
}

TEST(hold_with_hysteresis)
{
    begin(APAPI_OVERFLOW_BELOW, 100);
    threshold.hold_ns = 2 * S;
    threshold.hysteresis = 10;
    assert_false(level_at(0, 90));
    assert_false(level_at(1, 105));
    assert_true(level_at(2, 90));
}

TEST(what_is_not_known_is_not_held)
{
    begin(APAPI_OVERFLOW_ABOVE, 600);
    threshold.hold_ns = 10 * S;
    assert_false(level_at(0, 700));
    limit_break(&threshold);
    assert_false(level_at(12, 700));
    assert_false(level_at(21, 700));
    assert_true(level_at(22, 700));
    limit_break(&threshold);
    assert_false(level_at(40, 700)); /* the same crossing */
    assert_false(level_at(41, 500));
    assert_false(level_at(42, 700));
    assert_true(level_at(52, 700));
}

/* The issue of each reading is a ramp of any slope: time within a reading, value within 0.5 %. */
TEST(a_ramp_of_power)
{
    begin(APAPI_OVERFLOW_ABOVE, 333);
    for (int i = 0; i < 1000; i++) {
        double begin_s = i * 0.7, end_s = begin_s + 0.7;

        if (level_at((begin_s + end_s) / 2, (begin_s + end_s) / 2 * 1.9)) {
            break;
        }
    }
    assert_differs_less(seconds(crossing.time_ns), 333 / 1.9, 0.7);
    assert_within(crossing.value, 333, 0.005);
}
