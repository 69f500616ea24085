/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions with sources that are slow, that hang, that end their thread or that fail for a while:
 * what becomes of them, and that it costs the others nothing. Nothing here depends on how fast the
 * machine is: a call that must not wait for a source is made while the source waits for the test.
 * Run under TSan and ASan, too.
 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "apapi/session.h"
#include "fake/meter.h"
#include "unit/unit.h"

#define STEP_J (FAKE_METER_STEP * 1e-6)

enum { PLAIN, ODD, METERS };

static struct fake_meter meters[METERS + 1];
static const struct apapi_intervals intervals = {.default_ns = 10000000};
static struct apapi_session *session;
static struct apapi_measurement m;
static uint64_t patience_ns;

/* "plain" is an ordinary component; what is special about "odd" is the test's. */
static int prepare(void **state)
{
    (void)state;
    memset(meters, 0, sizeof meters);
    patience_ns = 0;
    meters[PLAIN] = (struct fake_meter){.name = "plain", .domain = APAPI_DOMAIN_PACKAGE};
    meters[ODD] = (struct fake_meter){.name = "odd", .domain = APAPI_DOMAIN_GPU};
    fake_meters_use(meters);
    return 0;
}

static int clean_up(void **state)
{
    (void)state;
    apapi_measurement_clear(&m);
    apapi_session_destroy(session);
    session = NULL;
    fake_meter_free_lost(&meters[ODD]);
    return 0;
}

static void create(const char *components)
{
    const struct apapi_session_config config = {
        .components = components, .intervals = &intervals, .patience_ns = patience_ns};
    struct apapi_error err = {""};

    session = apapi_session_create(&config, &err);
    if (!session) {
        fail_msg("%s", err.text);
    }
}

static void create_and_start(const char *components)
{
    create(components);
    assert_int_equal(apapi_session_start(session, 0, NULL), 0);
}

static void stop(void)
{
    assert_int_equal(apapi_session_stop(session, NULL), 0);
    apapi_measurement_clear(&m);
    assert_int_equal(apapi_session_measurement(session, &m, NULL), 0);
}

static void destroy(void)
{
    apapi_session_destroy(session);
    session = NULL;
}

static void await(const atomic_int *number, int least)
{
    assert_true(fake_wait(number, least));
}

/* Another `count` readings. */
static void await_more(const struct fake_meter *meter, int count)
{
    await(&meter->reads, atomic_load(&meter->reads) + count);
}

static void assert_says(const char *text, const char *part)
{
    if (!strstr(text, part)) {
        fail_msg("'%s' does not say '%s'", text, part);
    }
}

/* The energy of an event is what its good readings show, no more and no less. */
static void assert_energy(const struct apapi_event_result *event, int steps)
{
    if (fabs(event->total - steps * STEP_J) > 1e-9) {
        fail_msg("%s: %g J, not %d steps of %g J", event->event.name, event->total, steps, STEP_J);
    }
}

static void assert_plain_is_whole(void)
{
    const struct apapi_component_result *plain = &m.components[0];

    assert_string_equal(plain->name, "plain");
    assert_true(plain->measured);
    assert_string_equal(plain->reason, "");
    assert_int_equal(plain->outages, 0);
    assert_energy(&plain->events[0], atomic_load(&meters[PLAIN].good) - 1);
    assert_true((double)plain->events[0].covered_ns >= 0.5 * (double)m.elapsed_ns);
}

static void test_nobody_waits_for_a_slow_source(void **state)
{
    const struct apapi_component_result *odd;

    (void)state;
    meters[ODD].slow = true;
    atomic_store(&meters[ODD].open_hangs, true);
    create_and_start("plain:odd");
    await(&meters[PLAIN].reads, 10);
    await(&meters[ODD].opens, 1);
    assert_int_equal(atomic_load(&meters[ODD].reads), 0);
    atomic_store(&meters[ODD].open_hangs, false);
    await(&meters[ODD].reads, 5);
    stop();
    assert_plain_is_whole();
    odd = &m.components[1];
    assert_true(odd->measured);
    assert_string_equal(odd->reason, "");
    assert_string_equal(odd->source, "fake odd");
    assert_energy(&odd->events[0], atomic_load(&meters[ODD].good) - 1);
    assert_true(odd->events[0].covered_ns < m.components[0].events[0].covered_ns);
    assert_true(m.domains[APAPI_DOMAIN_GPU].measured);
}

static void test_patience_with_a_slow_source(void **state)
{
    (void)state;
    meters[ODD].slow = true;
    patience_ns = UINT64_C(60000000000);
    for (int i = 0; i < 20; i++) {
        create("plain:odd");
        assert_int_equal(atomic_load(&meters[ODD].opens), i + 1);
        assert_int_equal(apapi_session_start(session, 0, NULL), 0);
        stop();
        assert_true(m.components[1].measured);
        destroy();
    }
}

static void test_patience_has_an_end(void **state)
{
    (void)state;
    meters[ODD].slow = true;
    atomic_store(&meters[ODD].open_hangs, true);
    patience_ns = 20000000;
    create_and_start("plain:odd");
    await(&meters[ODD].stuck, 1);
    stop();
    assert_string_equal(m.components[1].reason, "it was still being opened at the end");
    assert_true(m.components[0].measured);
    atomic_store(&meters[ODD].open_hangs, false);
}

static void test_a_slow_source_that_is_never_open(void **state)
{
    (void)state;
    meters[ODD].slow = true;
    atomic_store(&meters[ODD].open_hangs, true);
    create_and_start("plain:odd");
    await_more(&meters[PLAIN], 3);
    stop();
    assert_plain_is_whole();
    assert_false(m.components[1].measured);
    assert_says(m.components[1].reason, "still being opened");
    destroy();
    atomic_store(&meters[ODD].open_hangs, false);
    await(&meters[ODD].closes, 1);
    assert_int_equal(atomic_load(&meters[ODD].reads), 0);
}

static void test_what_is_wrong_with_a_slow_source_is_its_reason(void **state)
{
    (void)state;
    meters[ODD].slow = true;
    atomic_store(&meters[ODD].open_fails, ENODEV);
    create_and_start("plain:odd");
    await_more(&meters[PLAIN], 3);
    await(&meters[ODD].opens, 1);
    stop();
    assert_plain_is_whole();
    assert_false(m.components[1].measured);
    assert_string_equal(m.components[1].reason, "no odd here");
}

static void test_a_list_that_does_not_fit_a_slow_source(void **state)
{
    static const char list[] = "plain:::ENERGY0\nodd:::NONE\n";
    struct apapi_event_rules rules = {
        .user_list = apapi_eventlist_parse("list", list, strlen(list), NULL, NULL)};
    const struct apapi_session_config config = {
        .components = "plain:odd", .intervals = &intervals, .rules = &rules};

    (void)state;
    meters[ODD].slow = true;
    session = apapi_session_create(&config, NULL);
    assert_non_null(session);
    assert_int_equal(apapi_session_start(session, 0, NULL), 0);
    await(&meters[ODD].closes, 1);
    stop();
    assert_false(m.components[1].measured);
    assert_says(m.components[1].reason, "odd has no event 'odd:::NONE' here");
    destroy();
    apapi_event_rules_clear(&rules);
}

static void test_no_domain_counts_twice(void **state)
{
    (void)state;
    meters[ODD].slow = true;
    meters[ODD].domain = APAPI_DOMAIN_PACKAGE;
    create_and_start("odd:plain");
    await(&meters[ODD].reads, 3);
    stop();
    assert_true(m.components[0].measured);
    assert_true(m.components[1].measured);
    assert_true(fabs(m.domains[APAPI_DOMAIN_PACKAGE].energy_j -
                     (m.components[1].events[0].total + m.components[1].events[1].total)) < 1e-9);
}

/* Unless the machine has no time for them: it gets some chances. */
static void test_first_readings_of_apart_readers_belong_to_the_start(void **state)
{
    int in_time = 0;

    (void)state;
    meters[ODD].apart = true;
    meters[ODD].takes_a_while = true;
    create("odd");
    for (int i = 0; i < 10 && in_time == 0; i++) {
        atomic_store(&meters[ODD].good, 0);
        assert_int_equal(apapi_session_start(session, 0, NULL), 0);
        in_time = atomic_load(&meters[ODD].good);
        await(&meters[ODD].good, 1);
        stop();
    }
    assert_true(in_time > 0);
    assert_true(m.components[0].measured);
    assert_energy(&m.components[0].events[0], atomic_load(&meters[ODD].good) - 1);
    assert_true(m.domains[APAPI_DOMAIN_GPU].measured);
    assert_true(m.elapsed_ns >= m.components[0].events[0].covered_ns);
}

/* One that nobody waits for at the start makes two readings at the stop. */
static void test_a_run_without_any_time(void **state)
{
    bool measured = false;

    (void)state;
    meters[ODD].slow = true;
    meters[ODD].takes_a_while = true;
    create_and_start("odd");
    await(&meters[ODD].good, 1);
    stop();
    for (int i = 0; i < 10 && !measured; i++) {
        assert_int_equal(apapi_session_start(session, 0, NULL), 0);
        stop();
        measured = m.components[0].measured;
    }
    assert_true(measured);
}

static void hang(struct fake_meter *meter)
{
    atomic_store(&meter->read_hangs, true);
    await(&meter->stuck, 1);
}

static void test_a_reader_that_hangs(void **state)
{
    const struct apapi_component_result *odd;
    int good;

    (void)state;
    meters[ODD].apart = true;
    create_and_start("plain:odd");
    await(&meters[ODD].good, 5);
    hang(&meters[ODD]);
    good = atomic_load(&meters[ODD].good);
    await_more(&meters[PLAIN], 20);
    stop();
    odd = &m.components[1];
    assert_plain_is_whole();
    assert_true(odd->measured);
    assert_says(odd->reason, "no answer from fake odd within 0.1 s");
    assert_energy(&odd->events[0], good - 1);
    assert_true(odd->events[0].covered_ns < m.components[0].events[0].covered_ns);
    destroy();
    assert_int_equal(atomic_load(&meters[ODD].closes), 0);
    atomic_store(&meters[ODD].read_hangs, false);
    await(&meters[ODD].closes, 1);
}

static void test_a_reader_that_hangs_at_the_start(void **state)
{
    (void)state;
    meters[ODD].apart = true;
    atomic_store(&meters[ODD].read_hangs, true);
    create_and_start("plain:odd");
    await_more(&meters[PLAIN], 5);
    stop();
    assert_plain_is_whole();
    assert_false(m.components[1].measured);
    assert_says(m.components[1].reason, "no answer from fake odd");
    /* what comes back in a later run is measured in that run, from then on */
    assert_int_equal(apapi_session_start(session, 0, NULL), 0);
    atomic_store(&meters[ODD].read_hangs, false);
    await(&meters[ODD].good, 4);
    stop();
    assert_true(m.components[1].measured);
    assert_string_equal(m.components[1].reason, "");
    assert_energy(&m.components[1].events[0], atomic_load(&meters[ODD].good) - 2);
}

static void test_destroyed_while_it_runs_and_hangs(void **state)
{
    (void)state;
    meters[ODD].apart = true;
    create_and_start("odd:plain");
    await(&meters[ODD].good, 2);
    hang(&meters[ODD]);
    destroy();
    assert_int_equal(atomic_load(&meters[PLAIN].closes), 1);
    atomic_store(&meters[ODD].read_hangs, false);
    await(&meters[ODD].closes, 1);
}

static void test_a_reader_that_ends_its_thread(void **state)
{
    (void)state;
    meters[ODD].apart = true;
    create_and_start("plain:odd");
    await(&meters[ODD].good, 5);
    atomic_store(&meters[ODD].ends_thread, true);
    await_more(&meters[PLAIN], 20);
    for (int run = 0; run < 2; run++) {
        stop();
        assert_int_equal(m.components[1].measured, run == 0);
        assert_says(m.components[1].reason, "fake odd has ended its thread");
        if (run == 0) {
            assert_plain_is_whole();
            assert_energy(&m.components[1].events[0], atomic_load(&meters[ODD].good) - 1);
            assert_int_equal(apapi_session_start(session, 0, NULL), 0);
        }
    }
    destroy();
    assert_int_equal(atomic_load(&meters[ODD].closes), 0);
}

static void pause_ms(long ms)
{
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

/* Shorter than a second: the same descriptors, and what was counted meanwhile is not lost. */
static void test_a_short_outage_is_bridged(void **state)
{
    int before, after;

    (void)state;
    create_and_start("plain:odd");
    await(&meters[ODD].good, 5);
    before = atomic_load(&meters[ODD].reads);
    atomic_store(&meters[ODD].read_fails, EIO);
    await_more(&meters[ODD], 2);
    pause_ms(500);
    after = atomic_load(&meters[ODD].reads);
    atomic_store(&meters[ODD].read_fails, 0);
    await(&meters[ODD].good, atomic_load(&meters[ODD].good) + 3);
    stop();
    assert_plain_is_whole();
    assert_in_range(after - before, 2, 9);
    assert_true(m.components[1].outages >= 1);
    assert_true(m.components[1].outage_ns >= 500000000);
    assert_string_equal(m.components[1].reason, "");
    assert_energy(&m.components[1].events[0], atomic_load(&meters[ODD].good) - 1);
    assert_int_equal(m.components[1].events[0].incidents.resets, 0);
    assert_true(m.components[1].events[0].covered_ns > m.components[1].outage_ns);
}

static void unplug(void)
{
    await(&meters[ODD].good, 5);
    atomic_fetch_add(&meters[ODD].plugged, 1);
    await(&meters[ODD].opens, 2);
    await(&meters[ODD].good, atomic_load(&meters[ODD].good) + 5);
}

/* What is open is dead for ever, as after a driver was loaded anew. */
static void test_a_source_is_opened_anew(void **state)
{
    (void)state;
    create_and_start("plain:odd");
    unplug();
    stop();
    assert_plain_is_whole();
    assert_int_equal(atomic_load(&meters[ODD].opens), 2);
    assert_int_equal(atomic_load(&meters[ODD].closes), 1);
    assert_int_equal(m.components[1].outages, 1);
    assert_true(m.components[1].outage_ns >= 1000000000);
    assert_string_equal(m.components[1].reason, "");
    assert_int_equal(m.components[1].events[0].incidents.resets, 0);
    assert_energy(&m.components[1].events[0], atomic_load(&meters[ODD].good) - 1);
    assert_energy(&m.components[1].events[1], 2 * (atomic_load(&meters[ODD].good) - 1));
    assert_true(m.domains[APAPI_DOMAIN_GPU].measured);
    assert_int_equal(apapi_session_start(session, 0, NULL), 0);
    await_more(&meters[ODD], 3);
    stop();
    assert_int_equal(m.components[1].outages, 0);
    assert_true(m.components[1].measured);
}

/* A counter that begins anew is no energy, and the outage is not covered. */
static void test_a_counter_that_begins_anew(void **state)
{
    const struct apapi_component_result *odd;

    (void)state;
    meters[ODD].relative = true;
    create_and_start("plain:odd");
    unplug();
    stop();
    odd = &m.components[1];
    assert_plain_is_whole();
    assert_int_equal(odd->events[0].incidents.resets, 1);
    assert_energy(&odd->events[0], atomic_load(&meters[ODD].good) - 2);
    assert_true(odd->events[0].covered_ns + odd->outage_ns / 2 <= m.elapsed_ns);
    assert_true(m.covered < 1);
}

/* It cannot be opened at first; when it can, that is no reason any more. */
static void test_a_source_that_comes_back_late(void **state)
{
    (void)state;
    create_and_start("plain:odd");
    await(&meters[ODD].good, 5);
    atomic_store(&meters[ODD].open_fails, ENODEV);
    atomic_fetch_add(&meters[ODD].plugged, 1);
    await(&meters[ODD].opens, 2);
    atomic_store(&meters[ODD].open_fails, 0);
    await(&meters[ODD].good, atomic_load(&meters[ODD].good) + 3);
    stop();
    assert_int_equal(m.components[1].outages, 1);
    assert_string_equal(m.components[1].reason, "");
    assert_energy(&m.components[1].events[0], atomic_load(&meters[ODD].good) - 1);
}

static void test_events_are_found_again_by_name(void **state)
{
    const struct apapi_component_result *odd;
    int before;

    (void)state;
    create_and_start("plain:odd");
    await(&meters[ODD].good, 5);
    atomic_store(&meters[ODD].first, 1); /* ENERGY1 comes first, ENERGY0 is gone */
    atomic_store(&meters[ODD].present, 1);
    atomic_fetch_add(&meters[ODD].plugged, 1);
    before = atomic_load(&meters[ODD].good);
    await(&meters[ODD].good, before + 5);
    stop();
    odd = &m.components[1];
    assert_int_equal(odd->event_count, 2);
    assert_energy(&odd->events[0], before - 1);
    assert_true(odd->events[0].incidents.failed >= 5);
    assert_energy(&odd->events[1], 2 * (atomic_load(&meters[ODD].good) - 1));
    assert_true(odd->events[0].covered_ns < odd->events[1].covered_ns);
}

static void test_a_source_that_is_gone_for_ever(void **state)
{
    const struct apapi_component_result *odd;
    int good;

    (void)state;
    create_and_start("plain:odd");
    await(&meters[ODD].good, 5);
    atomic_store(&meters[ODD].open_fails, ENODEV);
    atomic_fetch_add(&meters[ODD].plugged, 1);
    await(&meters[ODD].opens, 2);
    good = atomic_load(&meters[ODD].good);
    stop(); /* tries once more */
    odd = &m.components[1];
    assert_plain_is_whole();
    assert_true(odd->measured);
    assert_string_equal(odd->reason, "no odd here");
    assert_int_equal(odd->outages, 1);
    assert_true(odd->outage_ns >= 1000000000);
    assert_energy(&odd->events[0], good - 1);
    assert_int_equal(atomic_load(&meters[ODD].opens), 3);
    assert_in_range(atomic_load(&meters[ODD].reads) - good, 5, 15);
    assert_true(odd->events[0].covered_ns + odd->outage_ns / 2 <= m.elapsed_ns);
}

/* Opening anew may hang, too. */
static void test_reopening_hangs(void **state)
{
    (void)state;
    create_and_start("plain:odd");
    await(&meters[ODD].good, 5);
    atomic_store(&meters[ODD].open_hangs, true);
    atomic_fetch_add(&meters[ODD].plugged, 1);
    await(&meters[ODD].opens, 2);
    await_more(&meters[PLAIN], 5);
    stop();
    assert_plain_is_whole();
    assert_true(m.components[1].measured);
    assert_says(m.components[1].reason, "no answer from fake odd");
    destroy();
    atomic_store(&meters[ODD].open_hangs, false);
    await(&meters[ODD].closes, 2);
}

struct told {
    atomic_int inside, overlaps, samples;
};

static void take_sample(const struct apapi_sample *sample, void *context)
{
    struct told *told = context;

    (void)sample;
    atomic_fetch_add(&told->overlaps, atomic_fetch_add(&told->inside, 1) > 0);
    pause_ms(1);
    atomic_fetch_add(&told->samples, 1);
    atomic_fetch_sub(&told->inside, 1);
}

static void test_samples_are_told_one_at_a_time(void **state)
{
    static struct told told;
    const struct apapi_intervals fastest = {.default_ns = APAPI_INTERVAL_MIN_NS};
    const struct apapi_session_config config = {.components = "plain:odd",
                                                .intervals = &fastest,
                                                .on_sample = take_sample,
                                                .context = &told};

    (void)state;
    meters[ODD].apart = true;
    session = apapi_session_create(&config, NULL);
    assert_int_equal(apapi_session_start(session, 0, NULL), 0);
    await(&meters[PLAIN].reads, 100);
    await(&meters[ODD].reads, 100);
    stop();
    assert_int_equal(atomic_load(&told.overlaps), 0);
    assert_int_equal(atomic_load(&told.samples),
                     atomic_load(&meters[PLAIN].reads) + atomic_load(&meters[ODD].reads));
}

static void test_many_starts(void **state)
{
    (void)state;
    meters[ODD].apart = true;
    create("plain:odd");
    for (int i = 0; i < 100; i++) {
        assert_int_equal(apapi_session_start(session, 0, NULL), 0);
        stop();
        assert_true(m.components[1].measured);
    }
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, prepare, clean_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_nobody_waits_for_a_slow_source),
        TEST(test_patience_with_a_slow_source),
        TEST(test_patience_has_an_end),
        TEST(test_a_slow_source_that_is_never_open),
        TEST(test_what_is_wrong_with_a_slow_source_is_its_reason),
        TEST(test_a_list_that_does_not_fit_a_slow_source),
        TEST(test_no_domain_counts_twice),
        TEST(test_first_readings_of_apart_readers_belong_to_the_start),
        TEST(test_a_run_without_any_time),
        TEST(test_a_reader_that_hangs),
        TEST(test_a_reader_that_hangs_at_the_start),
        TEST(test_destroyed_while_it_runs_and_hangs),
        TEST(test_a_reader_that_ends_its_thread),
        TEST(test_a_short_outage_is_bridged),
        TEST(test_a_source_is_opened_anew),
        TEST(test_a_counter_that_begins_anew),
        TEST(test_a_source_that_comes_back_late),
        TEST(test_events_are_found_again_by_name),
        TEST(test_a_source_that_is_gone_for_ever),
        TEST(test_reopening_hangs),
        TEST(test_samples_are_told_one_at_a_time),
        TEST(test_many_starts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
