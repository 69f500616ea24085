/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A counter of 16 bits in a whole session, in simulated time: it wraps ten thousand times at an
 * interval that is far too long for it, and nothing is lost.
 */
#include "apapi/session.h"
#include "session/session.h"
#include "simulation/sim_source.h"
#include "unit/near.h"

#define S UINT64_C(1000000000)
#define RANGE UINT64_C(65535)
#define UNIT_J 1e-3
#define WRAPS 10000

static struct history history;
static struct sim_clock sim;
static struct sim_source source;
static uint64_t first_count, last_count;
static size_t readings;

/* A second of 900 W, a second of 20 W. */
static void make_history(void)
{
    struct history_component *component = &history.components[0];

    history.component_count = 1;
    *component = (struct history_component){.interval_ns = S, .event_count = 1, .read_ns = 10000};
    component->meters[0] = (struct history_meter){.domain = APAPI_DOMAIN_PACKAGE,
                                                  .scale = UNIT_J,
                                                  .range_max = RANGE,
                                                  .offset_j = 60,
                                                  .update_ns = S / 1000,
                                                  .stated_ns = S / 1000};
    power_init(&history.powers[APAPI_DOMAIN_PACKAGE][0], history.parts[APAPI_DOMAIN_PACKAGE][0],
               HISTORY_PARTS);
    power_add_part(&history.powers[APAPI_DOMAIN_PACKAGE][0], S, 900);
    power_add_part(&history.powers[APAPI_DOMAIN_PACKAGE][0], S, 20);
}

static void note(const struct apapi_sample *sample, void *unused)
{
    (void)unused;
    assert_int_equal(sample->readings[0].error, 0);
    last_count = sim_source_count(&history, 0, 0, source.components[0].value_ns);
    first_count = readings++ == 0 ? last_count : first_count;
}

TEST(ten_thousand_wraps)
{
    const struct apapi_session_config config = {.components = "c0", .on_sample = note};
    const double energy_j = (double)WRAPS * (RANGE + 1) * UNIT_J;
    struct apapi_measurement m;
    const struct apapi_event_result *event;
    struct apapi_session *session;
    struct apapi_error err = {""};

    make_history();
    sim_clock_init(&sim, 1, 5000 * S);
    sim_source_use(&source, &history, &sim);
    session = session_create(&config, &sim.base, &err);
    assert_non_null(session);
    assert_int_equal(apapi_session_start(session, 0, NULL), 0);
    sim_clock_sleep(&sim, sim.running->now_ns + (uint64_t)(energy_j / 460 * 1e9) + 2 * S);
    assert_int_equal(apapi_session_stop(session, NULL), 0);
    assert_int_equal(apapi_session_measurement(session, &m, NULL), 0);
    event = &m.components[0].events[0];
    print_message("%zu readings, %llu wraps\n", readings,
                  (unsigned long long)event->incidents.wraps);
    assert_true(m.components[0].interval_ns < 10 * S / 1000);
    assert_true(event->incidents.wraps >= WRAPS);
    assert_true(event->incidents.wraps == last_count / (RANGE + 1) - first_count / (RANGE + 1));
    assert_int_equal(event->incidents.resets, 0);
    assert_int_equal(event->incidents.gaps, 0);
    assert_true(llround(event->total / UNIT_J) == (long long)(last_count - first_count));
    apapi_measurement_clear(&m);
    apapi_session_destroy(session);
    assert_true(sim_clock_finish(&sim));
}
