/* SPDX-License-Identifier: BSD-3-Clause */
/* The update period of a counter, learned from the readings that find it moved. */
#include "fake/energy_event.h"
#include "measure/counter.h"
#include "unit/unit.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

/* The counts of a meter of 100 W that moves once in `period_ns`, standing still in between. */
struct simulated {
    uint64_t period_ns, phase_ns;
    uint64_t frozen_from_ns, frozen_to_ns;
};

static uint64_t shown_uj(const struct simulated *meter, uint64_t now_ns)
{
    bool frozen = now_ns >= meter->frozen_from_ns && now_ns < meter->frozen_to_ns;
    uint64_t at_ns = frozen ? meter->frozen_from_ns : now_ns;
    uint64_t updates = (at_ns + meter->phase_ns) / meter->period_ns;

    return updates * meter->period_ns / 10000; /* 100 W: 100 uJ in a ms */
}

static struct apapi_counter counter;

static void read_for(const struct simulated *meter, uint64_t stated_ns, uint64_t interval_ns,
                     uint64_t readings)
{
    struct apapi_event event = fake_energy_event;
    struct apapi_increment increment;

    event.update_ns = stated_ns;
    apapi_counter_init(&counter, &event, 2000);
    for (uint64_t i = 0; i < readings; i++) {
        uint64_t jitter_ns = i * 7919 % 101 * interval_ns / 2000; /* up to 5 % */
        uint64_t now_ns = 1 + i * interval_ns + jitter_ns;

        apapi_counter_add(&counter, shown_uj(meter, now_ns), moment_at(now_ns), &increment);
    }
    apapi_counter_finish(&counter);
}

/* Each period from 61 us to 1 s at each interval from 1 ms to 1 s, at several phases. */
TEST(learned_where_readings_show_it)
{
    static const uint64_t periods_us[] = {61, 1000, 2000, 10000, 16000, 100000, 333000, 1000000};
    static const uint64_t intervals_ms[] = {1, 5, 10, 50, 100, 250, 1000};

    for (size_t p = 0; p < sizeof periods_us / sizeof *periods_us; p++) {
        for (size_t i = 0; i < sizeof intervals_ms / sizeof *intervals_ms; i++) {
            for (uint64_t phase = 0; phase < 8; phase++) {
                const uint64_t period_ns = periods_us[p] * US, interval_ns = intervals_ms[i] * MS;
                const struct simulated meter = {period_ns, phase * period_ns / 8, 0, 0};
                const bool seen = period_ns >= 2 * interval_ns;
                const uint64_t readings = 40 + (seen ? 10 * (period_ns / interval_ns + 1) : 0);

                read_for(&meter, MS, interval_ns, readings);
                if (seen) {
                    assert_true(counter.update.learned);
                    assert_in_range(counter.update.period_ns, period_ns * 7 / 10,
                                    period_ns * 13 / 10);
                } else {
                    assert_in_range(counter.update.period_ns, MS * 9 / 10, 3 * interval_ns);
                }
            }
        }
    }
}

/* A standstill in the middle of a run is no update period, however short the run is. */
TEST(a_standstill_is_no_period)
{
    for (uint64_t readings = 8; readings < 200; readings++) {
        const struct simulated meter = {MS, 0, 350 * MS, 650 * MS};

        read_for(&meter, MS, 100 * MS, readings);
        assert_int_equal(counter.update.period_ns, MS);
    }
}

/* The move may have been there for most of the time until a reading that is late. */
TEST(a_late_reading_shows_twice_what_was_seen_at_most)
{
    static const uint64_t moments_ms[] = {1, 2, 6, 14}, raws[] = {0, 100000, 100000, 200000};
    struct apapi_increment increment;

    apapi_counter_init(&counter, &fake_energy_event, 2000);
    for (size_t i = 0; i < COUNT_OF(raws); i++) {
        apapi_counter_add(&counter, raws[i], moment_at(moments_ms[i] * MS), &increment);
    }
    assert_int_equal(counter.update.longest_ns, 8 * MS);
}
