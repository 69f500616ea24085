/* SPDX-License-Identifier: BSD-3-Clause */
/* Thresholds on scripted values: which are crossed, when and how often, and that no other is. */
#include "limit/evaluate.h"
#include "unit/near.h"

#define S UINT64_C(1000000000)
#define START_NS (100 * S)

static struct limit_watch watched;
static struct limit_state threshold;
static struct limit_crossing crossing;

static void begin(enum apapi_overflow_mode mode, double level)
{
    threshold = (struct limit_state){.mode = mode, .level = level};
    watched = (struct limit_watch){.first = NULL};
    limit_join(&watched, &threshold);
}

static bool look(const struct limit_value *value)
{
    bool crossed;

    memset(&threshold.crossing, 0, sizeof threshold.crossing);
    crossed = limit_look(&watched, value);
    crossing = threshold.crossing;
    assert_true(crossed == (crossing.count > 0));
    return crossed;
}

static bool count_at(double s, long double total)
{
    return look(&(struct limit_value){total, START_NS + (uint64_t)llround(s * 1e9), 0, false});
}

static double seconds(uint64_t time_ns)
{
    return ((double)time_ns - (double)START_NS) / 1e9;
}

/* No crossing is lost to rounding, however many there were and however large the counter is. */
TEST(every_with_64_bits)
{
    const uint64_t far = UINT64_C(1) << 63;

    begin(APAPI_OVERFLOW_EVERY, 3);
    assert_false(count_at(0, 0));
    assert_true(count_at(1, far));
    assert_true(crossing.count == far / 3);
    assert_false(count_at(2, far)); /* 2^63 = 3 n + 2 */
    assert_true(count_at(3, far + 1));
    assert_int_equal(crossing.count, 1);
    assert_false(count_at(4, far + 3));
    assert_true(count_at(5, far + 4));
    assert_int_equal(crossing.count, 1);
}

/* A limit that joins a watch counts from the values that the watch has had. */
TEST(limits_of_the_same_values)
{
    struct limit_state late = {.mode = APAPI_OVERFLOW_TOTAL, .level = 15};

    begin(APAPI_OVERFLOW_EVERY, 40);
    assert_false(count_at(0, 0));
    assert_false(count_at(1, 10));
    limit_join(&watched, &late);
    assert_true(limit_look(&watched, &(struct limit_value){20, START_NS + 2 * S, 0, false}));
    assert_int_equal(threshold.crossing.count, 0);
    assert_int_equal(late.crossing.count, 1);
    assert_within(seconds(late.crossing.time_ns), 1.5, 1e-9);
    assert_true(count_at(9, 90));
    assert_int_equal(crossing.count, 2);
    limit_leave(&watched, &threshold);
    assert_false(limit_look(&watched, &(struct limit_value){180, START_NS + 18 * S, 0, false}));
}

/* A domain's energy is a count times a scale that no double represents, and so is the level. */
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

/* A sum of several components is read more often than each component. */
TEST(a_total_knows_its_own_previous_time)
{
    begin(APAPI_OVERFLOW_TOTAL, 50);
    assert_false(count_at(0, 0));
    assert_false(count_at(9.9, 40));
    assert_true(look(&(struct limit_value){60, START_NS + 10 * S, START_NS, false}));
    assert_within(seconds(crossing.time_ns), 5, 1e-9);
}

/*
 * Readings: "SECONDS=VALUE"; then "!SECONDS", the time of the crossing, if the limit is crossed,
 * with "*TIMES" and "@FIRST". VALUE "?": the reading fails. "<": the value begins again.
 */
static const struct {
    const char *what;
    enum apapi_overflow_mode mode;
    double level, hysteresis;
    unsigned hold_s;
    const char *readings;
} courses[] = {
    {"every 25 on a ramp", APAPI_OVERFLOW_EVERY, 25, 0, 0,
     "0=0 1=10 2=20 3=30!2.5*1 13=130!12.5*4@5 14=130"},
    {"a total, once", APAPI_OVERFLOW_TOTAL, 50, 0, 0, "0=0 1=49 2=51!1.5*1 3=500 < 4=0 5=50!5*1"},
    {"above", APAPI_OVERFLOW_ABOVE, 600, 0, 0, "0=500 1=600 2=700!1 3=800 4=599 5=601!4.5"},
    {"below", APAPI_OVERFLOW_BELOW, -5, 0, 0, "0=0 1=-10!0.5 2=-7 3=-5 4=-4 5=-6!4.5"},
    {"passed from the start", APAPI_OVERFLOW_ABOVE, 600, 0, 0, "0=650!0 1=650"},
    {"back by more than the hysteresis alone", APAPI_OVERFLOW_ABOVE, 600, 50, 0,
     "0=610!0 1=560 2=610 3=550 4=610 5=549 6=610!5.836"},
    {"held since 1 s", APAPI_OVERFLOW_ABOVE, 600, 0, 10, "0=500 2=700 10.9=700 11.5=640!11 30=700"},
    {"held again", APAPI_OVERFLOW_ABOVE, 600, 0, 10,
     "0=700 9=700 9.5=500 10=700 19=700 20=700!19.75"},
    {"until it goes back at 10 s, without a reading in between", APAPI_OVERFLOW_ABOVE, 600, 0, 10,
     "0=700 20=500!10"},
    {"until 9.5 s", APAPI_OVERFLOW_ABOVE, 600, 0, 10, "0=700 19=500 20=700"},
    {"back by less than the hysteresis", APAPI_OVERFLOW_BELOW, 100, 10, 2, "0=90 1=105 2=90!2"},
    {"unknown is not held", APAPI_OVERFLOW_ABOVE, 600, 0, 10,
     "0=700 ? 12=700 21=700 22=700!22 ? 40=700 41=500 42=700 52=700!51.5"},
};

static void assert_crossing(const char *what, double s, double value, const char *said)
{
    double when_s = strtod(said, NULL), first_s = when_s, level = (double)threshold.level;
    unsigned count = 1;

    sscanf(said, "%*f*%u@%lf", &count, &first_s);
    if (crossing.count != count || fabs(seconds(crossing.time_ns) - when_s) > 1e-3 ||
        (count > 1 && fabs(seconds(crossing.first_ns) - first_s) > 1e-9)) {
        fail_msg("%s: at %g s, crossed %d times, at %g s", what, s, (int)crossing.count,
                 seconds(crossing.time_ns));
    }
    if (threshold.mode == APAPI_OVERFLOW_EVERY || threshold.mode == APAPI_OVERFLOW_TOTAL) {
        double times = threshold.mode == APAPI_OVERFLOW_EVERY ? floor(value / level) : 1;

        assert_within(crossing.value, times * level, 1e-15);
    }
}

TEST(values_are_crossed)
{
    for (size_t i = 0; i < COUNT_OF(courses); i++) {
        char copy[128], *rest = copy, *word;

        begin(courses[i].mode, courses[i].level);
        threshold.hysteresis = courses[i].hysteresis;
        threshold.hold_ns = courses[i].hold_s * S;
        snprintf(copy, sizeof copy, "%s", courses[i].readings);
        while ((word = strsep(&rest, " "))) {
            const char *said = strchr(word, '!');
            double s, value;

            if (*word == '?') {
                limit_break(&watched);
            } else if (*word == '<') {
                limit_restart(&watched);
            } else {
                assert_int_equal(sscanf(word, "%lf=%lf", &s, &value), 2);
                fail_if(count_at(s, value) != (said != NULL), "%s: at %g s, crossed at %g s",
                        courses[i].what, s, seconds(crossing.time_ns));
                if (said) {
                    assert_crossing(courses[i].what, s, value, said + 1);
                }
            }
        }
    }
}
