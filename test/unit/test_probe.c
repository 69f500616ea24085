/* SPDX-License-Identifier: BSD-3-Clause */
/* Two readings near to each other show the energy of an update, and the update period. */
#include "measure/meter.h"
#include "unit/near.h"

#define MS UINT64_C(1000000)
#define START_NS (1000 * MS)
#define UPDATE_NS MS
#define MOST 1000.0 /* the increment that is plausible */

static struct apapi_probe probe;

static void begin(void)
{
    apapi_probe_init(&probe, UPDATE_NS);
}

static void open_at(double value, uint64_t at_ns)
{
    apapi_probe_open(&probe, value, moment_at(START_NS + at_ns));
}

static void close_at(double value, uint64_t at_ns)
{
    apapi_probe_close(&probe, value, moment_at(START_NS + at_ns), MOST);
}

/* A probe that sees `increment` after `after_ns`. */
static void see(double increment, uint64_t after_ns)
{
    open_at(100, 0);
    close_at(100 + increment, after_ns);
}

#define PREPARED(name) TEST_WITH(name, begin, NULL)

/* Of a longer wait only one update counts; in less than twice the time there may have been one
 * alone. */
PREPARED(one_update_is_seen)
{
    static const struct {
        double increment;
        uint64_t after_ns;
        double most;
    } looks[] = {{50, UPDATE_NS * 7 / 8, 50}, {80, 2 * UPDATE_NS, 50},     {110, 2 * UPDATE_NS, 55},
                 {80, 2 * UPDATE_NS - 1, 80}, {90, 3 * UPDATE_NS - 1, 80}, {10, UPDATE_NS, 80}};

    for (size_t i = 0; i < COUNT_OF(looks); i++) {
        see(looks[i].increment, looks[i].after_ns);
        assert_near(probe.most, looks[i].most);
        assert_false(probe.open);
    }
    assert_near(probe.recent, 10);
    assert_near(probe.latest, 110);
}

PREPARED(what_is_not_plausible_shows_nothing)
{
    see(MOST, UPDATE_NS);
    assert_near(probe.most, MOST);
    see(MOST * 1.01, UPDATE_NS);
    assert_near(probe.most, MOST);
    assert_false(probe.open);
    see(-50, UPDATE_NS);
    assert_near(probe.most, MOST);
    assert_false(probe.open);
    assert_int_equal(probe.moves, 2);
}

PREPARED(another_period_forgets)
{
    see(50, UPDATE_NS);
    apapi_probe_learn(&probe, UPDATE_NS * 5 / 4);
    apapi_probe_learn(&probe, UPDATE_NS * 3 / 4);
    assert_near(probe.most, 50);
    assert_int_equal(probe.update_ns, UPDATE_NS);
    apapi_probe_learn(&probe, UPDATE_NS * 13 / 10);
    assert_near(probe.most, 0);
    assert_int_equal(probe.update_ns, UPDATE_NS * 13 / 10);
    see(50, UPDATE_NS);
    apapi_probe_learn(&probe, UPDATE_NS * 8 / 10);
    assert_near(probe.most, 0);
    assert_int_equal(probe.update_ns, UPDATE_NS * 8 / 10);
}

/* A probe whose readings are twice as late each time, until the counter moves. */
static void insist(uint64_t period_ns)
{
    uint64_t at_ns = UPDATE_NS;

    open_at(100, 0);
    for (; at_ns < period_ns; at_ns *= 2) {
        close_at(100, at_ns);
    }
    close_at(110, at_ns);
}

/* The longest wait of one is taken three times, of two twice, of many once. */
PREPARED(the_longest_wait_tells_the_update_period)
{
    assert_int_equal(apapi_probe_update_ns(&probe), UPDATE_NS);
    insist(10 * MS);
    assert_int_equal(apapi_probe_update_ns(&probe), 3 * 16 * MS);
    insist(10 * MS);
    assert_int_equal(apapi_probe_update_ns(&probe), 2 * 16 * MS);
    for (int i = 0; i < 1998; i++) {
        insist(UPDATE_NS);
    }
    assert_int_equal(apapi_probe_update_ns(&probe), 16 * MS + 16 * MS / 1000);
    insist(20 * MS);
    assert_int_equal(apapi_probe_update_ns(&probe) / MS, 32);
}

/* It may have moved in that time, unseen. */
PREPARED(the_time_of_a_reading_is_no_wait)
{
    static const struct apapi_moment moments[] = {{START_NS, START_NS + 50 * MS},
                                                  {START_NS + 51 * MS, START_NS + 100 * MS},
                                                  {START_NS + 101 * MS, START_NS + 150 * MS}};

    apapi_probe_open(&probe, 100, moments[0]);
    apapi_probe_close(&probe, 100, moments[1], MOST);
    apapi_probe_close(&probe, 110, moments[2], MOST);
    assert_int_equal(apapi_probe_update_ns(&probe), UPDATE_NS);
}
