/* SPDX-License-Identifier: BSD-3-Clause */
/* When a component is read: gauges at random moments, probes, all on the grid. No clock is asked.
 */
#include "fake/source.h"
#include "unit/component_fixture.h"

#define MS UINT64_C(1000000)
#define START_NS (1000 * MS)
#define INTERVAL_NS (100 * MS)
#define GRID_NS (5 * MS)
#define SLOTS (INTERVAL_NS / GRID_NS)

static struct fake_source fake;
static struct component component;

static void attach(uint64_t floor_ns)
{
    const struct component_settings settings = {.interval_ns = INTERVAL_NS, .floor_ns = floor_ns};

    attach_component(&component, "fake", &fake.base, &settings);
    component_restart(&component, START_NS);
    component.deadline_ns = START_NS;
}

static void attach_gauge(uint64_t floor_ns)
{
    fake_source_init(&fake, 1);
    fake.events[0].kind = APAPI_KIND_POWER;
    fake.events[0].accumulates = false;
    fake.events[0].update_ns = MS;
    strcpy(fake.events[0].unit, "W");
    attach(floor_ns);
}

static void attach_counter(uint64_t floor_ns)
{
    fake_source_init(&fake, 1);
    fake.events[0].update_ns = MS;
    for (uint64_t i = 0; i < FAKE_ROWS_MAX; i++) {
        fake_source_row(&fake, i * 1000, 0);
    }
    attach(floor_ns);
}

static void close_component(void)
{
    component_close(&component);
}

/* @return when the usual reading after that at `now_ns` is due, whoever asks before it is. */
static uint64_t next_due_ns(uint64_t now_ns)
{
    component_next_deadline(&component, now_ns);
    return component_due_ns(&component, now_ns);
}

#define PREPARED(name) TEST_WITH(name, NULL, close_component)

/* One reading in each interval, evenly spread over all of it. */
PREPARED(gauges_are_read_anywhere_in_each_interval)
{
    enum { INTERVALS = 4000 };
    unsigned slots[SLOTS] = {0};
    uint64_t now_ns = START_NS;

    attach_gauge(GRID_NS);
    for (uint64_t i = 0; i < INTERVALS; i++) {
        uint64_t due_ns = next_due_ns(now_ns);
        uint64_t begin_ns = START_NS + i * INTERVAL_NS;

        assert_true(due_ns > begin_ns && due_ns <= begin_ns + INTERVAL_NS);
        assert_int_equal(due_ns % GRID_NS, 0);
        assert_true(due_ns >= now_ns + GRID_NS);
        slots[(due_ns - begin_ns - 1) / GRID_NS]++;
        now_ns = due_ns;
    }
    assert_int_equal(component.missed, 0);
    for (size_t i = 0; i < SLOTS; i++) {
        assert_in_range(slots[i], INTERVALS / SLOTS * 7 / 10, INTERVALS / SLOTS * 13 / 10);
    }
}

static struct apapi_moment read_at(uint64_t now_ns)
{
    fake.base.source->read(&fake.base, component.raw);
    return moment_at(now_ns);
}

/* A counter that moves at each reading and then stands still. */
static unsigned probe_for(uint64_t ns)
{
    uint64_t now_ns = START_NS, step_ns = component.floor_ns ? component.floor_ns : 1;
    unsigned probes = 0;

    component_account(&component, read_at(now_ns));
    component_begin_probes(&component, read_at(now_ns));
    for (; now_ns < START_NS + ns; probes++) {
        uint64_t due_ns = component_probe_due_ns(&component, now_ns);

        assert_int_equal(due_ns % step_ns, 0);
        assert_true(due_ns >= now_ns + step_ns);
        now_ns = due_ns;
        component_probe(&component, read_at(now_ns));
    }
    return probes;
}

PREPARED(probes_keep_to_the_grid)
{
    attach_counter(GRID_NS);
    assert_in_range(probe_for(1000 * INTERVAL_NS), 20, 1000);
}
