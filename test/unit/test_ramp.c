/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thresholds on a power that rises in a straight line, in simulated time: how far the time and the
 * value of each crossing are from the truth.
 */
#include "apapi/overflow.h"
#include "apapi/session.h"
#include "session/session.h"
#include "simulation/sim_source.h"
#include "unit/near.h"

#define S UINT64_C(1000000000)
#define INTERVAL_NS (S / 10)
#define RISE_S 100
#define FROM_W 100.0
#define TO_W 300.0
#define EVERY_J 25.0 /* 4 to 12 of them in a second */
#define LEVEL_W 210.0
#define SHARE 0.005 /* of the threshold */

static struct history history;
static struct sim_clock sim;
static struct sim_source source;
static struct apapi_session *session;
static uint64_t first_ns; /* of the first reading's value, in the history */
static uint64_t counts[3];

static double slope_w(void)
{
    return (TO_W - FROM_W) / RISE_S;
}

static void make_history(void)
{
    struct history_component *component = &history.components[0];

    history.component_count = 1;
    *component =
        (struct history_component){.interval_ns = INTERVAL_NS, .event_count = 1, .read_ns = 5000};
    component->meters[0] = (struct history_meter){.domain = APAPI_DOMAIN_PACKAGE,
                                                  .scale = 1e-6,
                                                  .range_max = UINT32_MAX,
                                                  .update_ns = S / 1000,
                                                  .stated_ns = S / 1000};
    power_init(&history.powers[APAPI_DOMAIN_PACKAGE][0], history.parts[APAPI_DOMAIN_PACKAGE][0],
               HISTORY_PARTS);
    power_add_line(&history.powers[APAPI_DOMAIN_PACKAGE][0], RISE_S * S, FROM_W, TO_W);
}

static void note(const struct apapi_sample *sample, void *unused)
{
    (void)unused;
    if (sample->time_ns < INTERVAL_NS / 2) {
        first_ns = source.components[0].value_ns;
    }
    session_tell(session);
}

static double true_j(uint64_t time_ns)
{
    const struct power *power = &history.powers[APAPI_DOMAIN_PACKAGE][0];

    return power_energy_j(power, time_ns) - power_energy_j(power, first_ns);
}

/* The error of the time, as energy, is at most what is used in a reading interval. */
static void check_energy(const struct apapi_overflow_crossing *crossing, void *user)
{
    uint64_t *count = user;
    uint64_t time_ns = crossing->time_ns - source.origin_ns;
    double most_j =
        power_at_w(&history.powers[APAPI_DOMAIN_PACKAGE][0], time_ns) * (double)INTERVAL_NS / 1e9;

    *count += crossing->count;
    assert_differs_less(crossing->value, (double)*count * EVERY_J, SHARE * EVERY_J);
    assert_differs_less(true_j(time_ns), crossing->value, most_j);
    /* much closer than that: a line between two readings, and updates of a millisecond */
    assert_differs_less(true_j(time_ns), crossing->value, 0.02 * most_j + TO_W * 0.002);
}

static void check_power(const struct apapi_overflow_crossing *crossing, void *user)
{
    uint64_t *count = user;
    double true_s = (LEVEL_W - FROM_W) / slope_w();

    *count += crossing->count;
    assert_differs_less((double)(crossing->time_ns - source.origin_ns) / 1e9, true_s,
                        (double)INTERVAL_NS / 1e9);
    assert_within(crossing->value, LEVEL_W, SHARE);
}

static void set(const char *event, double threshold, unsigned mode, uint64_t *count)
{
    assert_true(apapi_overflow_set(session, event, threshold, mode,
                                   mode == APAPI_OVERFLOW_EVERY ? check_energy : check_power,
                                   count) >= 0);
}

static void run_ramp(const char *event)
{
    const struct apapi_intervals intervals = {.default_ns = INTERVAL_NS};
    const struct apapi_session_config config = {
        .components = "c0", .intervals = &intervals, .on_sample = note};
    double used_j;

    memset(counts, 0, sizeof counts);
    memset(&history, 0, sizeof history);
    make_history();
    sim_clock_init(&sim, 1, 5000 * S);
    sim_source_use(&source, &history, &sim);
    session = session_create(&config, &sim.base, NULL);
    assert_non_null(session);
    set(event, EVERY_J, APAPI_OVERFLOW_EVERY, &counts[0]);
    set(event, LEVEL_W, APAPI_OVERFLOW_ABOVE, &counts[1]);
    assert_int_equal(apapi_session_start(session, 0, NULL), 0);
    sim_clock_sleep(&sim, source.origin_ns + (RISE_S - 1) * S);
    assert_int_equal(apapi_session_stop(session, NULL), 0);
    used_j = true_j(source.components[0].value_ns);
    apapi_session_destroy(session);
    assert_true(sim_clock_finish(&sim));
    assert_differs_less((double)counts[0], used_j / EVERY_J, 1.01);
    assert_int_equal(counts[1], 1);
}

TEST(of_an_event)
{
    run_ramp("c0:::E0");
}

TEST(of_a_domain)
{
    run_ramp("package");
}

TEST(of_the_node)
{
    run_ramp("total");
}
