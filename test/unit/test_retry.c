/* SPDX-License-Identifier: BSD-3-Clause */
/* How often a source that fails is tried again: in simulated time. */
#include "session/schedule.h"

#include "session/component.h"
#include "unit/unit.h"

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define DAY (86400 * SECOND)
#define BEGIN (1000 * SECOND)

/* Fail from BEGIN on for `length_ns`. @return when the first reading after it was made. */
static uint64_t fail_for(struct component *component, uint64_t length_ns, uint64_t *attempts)
{
    uint64_t now_ns = BEGIN - component->interval_ns;

    retry_good(&component->retry, now_ns);
    component->deadline_ns = now_ns;
    component_next_deadline(component, now_ns);
    *attempts = 0;
    for (;;) {
        now_ns = component->deadline_ns;
        if (now_ns - BEGIN >= length_ns) {
            retry_good(&component->retry, now_ns);
            component_next_deadline(component, now_ns);
            return now_ns;
        }
        ++*attempts;
        retry_failed(&component->retry, component->interval_ns, now_ns);
        component_next_deadline(component, now_ns);
    }
}

TEST(attempts_are_few_and_not_late)
{
    static const struct {
        uint64_t interval_ns, length_ns, attempts_max;
    } cases[] = {
        {MS, SECOND, 11},         {10 * MS, SECOND, 8},       {100 * MS, SECOND, 5},
        {MS, 60 * SECOND, 17},    {10 * MS, 60 * SECOND, 14}, {100 * MS, 60 * SECOND, 11},
        {SECOND, 60 * SECOND, 7}, {10 * MS, DAY, 1460},       {100 * MS, DAY, 1455},
        {100 * SECOND, DAY, 865},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct component component = {.interval_ns = cases[i].interval_ns};
        uint64_t attempts;
        uint64_t back_ns = fail_for(&component, cases[i].length_ns, &attempts);
        uint64_t delay_ns = back_ns - BEGIN - cases[i].length_ns;

        assert_in_range(attempts, 1, cases[i].attempts_max);
        assert_true(delay_ns <= cases[i].length_ns + component.interval_ns);
        assert_true(delay_ns <= RETRY_PAUSE_MAX_NS || delay_ns <= component.interval_ns);
        assert_int_equal((back_ns - BEGIN) % component.interval_ns, 0);
        assert_int_equal(component.missed, 0);
        assert_int_equal(component.deadline_ns, back_ns + component.interval_ns);
        assert_int_equal(component.retry.outages, 1);
        assert_int_equal(retry_outage_ns(&component.retry),
                         back_ns - BEGIN + component.interval_ns);
    }
}

TEST(an_attempt_made_twice_counts_once)
{
    struct retry retry = {0};

    retry_good(&retry, BEGIN);
    for (uint64_t pause_s = 1; pause_s <= 32; pause_s *= 2) {
        retry_failed(&retry, SECOND, BEGIN);
        if (pause_s > 1) {
            retry_repeat(&retry);
            retry_failed(&retry, SECOND, BEGIN);
        }
        assert_int_equal(retry.pause_ns, pause_s * SECOND);
    }
}

/* One failure is no reason, however long the interval is, nor are many in a short time. */
TEST(a_source_is_reopened_after_a_second)
{
    struct retry retry = {0};

    retry_good(&retry, BEGIN);
    retry_failed(&retry, 10 * SECOND, BEGIN + 10 * SECOND);
    assert_false(retry_wants_reopening(&retry));
    retry_failed(&retry, 10 * SECOND, BEGIN + 20 * SECOND);
    assert_true(retry_wants_reopening(&retry));
    retry_good(&retry, BEGIN + 20 * SECOND);
    for (uint64_t ms = 1; ms < 1000; ms++) {
        retry_failed(&retry, MS, BEGIN + 20 * SECOND + ms * MS);
        assert_false(retry_wants_reopening(&retry));
    }
    retry_failed(&retry, MS, BEGIN + 21 * SECOND);
    assert_true(retry_wants_reopening(&retry));
}
