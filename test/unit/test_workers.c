/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions with sources that are slow, that hang, or that end their thread: the results of these
 * sources, and that the others lose nothing. Nothing here depends on the machine's speed: a call
 * that must not wait for a source is made while the source waits for the test. Also run under TSan
 * and ASan.
 */
#include "apapi/live.h"
#include "unit/workers_fixture.h"

#define HOUR_NS UINT64_C(3600000000000)
#define PREPARED(name) TEST_WITH(name, prepare, clean_up)

PREPARED(nobody_waits_for_a_slow_source)
{
    const struct apapi_component_result *odd;

    meters[ODD].slow = true;
    atomic_store(&meters[ODD].open_hangs, true);
    create_and_start("plain:odd");
    await(&meters[PLAIN].reads, 10);
    await(&meters[ODD].opens, 1);
    assert_int_equal(atomic_load(&meters[ODD].reads), 0);
    atomic_store(&meters[ODD].open_hangs, false);
    await(&meters[ODD].reads, 5);
    halt();
    assert_plain_is_whole();
    odd = &m.components[1];
    assert_true(odd->measured);
    assert_string_equal(odd->reason, "");
    assert_string_equal(odd->source, "fake odd");
    assert_energy(&odd->events[0], atomic_load(&meters[ODD].good) - 1);
    assert_true(odd->events[0].covered_ns < m.components[0].events[0].covered_ns);
    assert_true(m.domains[APAPI_DOMAIN_GPU].measured);
}

PREPARED(patience_has_an_end)
{
    meters[ODD].slow = true;
    atomic_store(&meters[ODD].open_hangs, true);
    config.patience_ns = 20000000;
    create_and_start("plain:odd");
    await(&meters[ODD].stuck, 1);
    halt();
    assert_string_equal(m.components[1].reason, "it was still being opened at the end");
    assert_true(m.components[0].measured);
    atomic_store(&meters[ODD].open_hangs, false);
}

PREPARED(a_source_that_hangs_when_it_is_opened)
{
    atomic_store(&meters[ODD].open_hangs, true);
    create_and_start("plain:odd");
    await(&meters[PLAIN].reads, 10);
    halt();
    assert_plain_is_whole();
    assert_string_equal(m.components[1].reason, "it was still being opened at the end");
    start_again();
    atomic_store(&meters[ODD].open_hangs, false);
    await(&meters[ODD].good, 5);
    halt();
    assert_true(m.components[0].measured);
    assert_true(m.components[1].measured);
}

/* The events of the source are known, but have no meters. */
PREPARED(a_definition_that_does_not_fit_a_slow_source)
{
    static const char ops[] = "odd:::*,APAPI_OP1_NOP,APAPI_STAT_ALL,APAPI_STAT_NO,"
                              "0x7fffffff8000,energy,Ws,2147483648,p,W,1\n";
    struct apapi_event_rules rules = {
        .user_ops = apapi_eventops_parse("ops", ops, strlen(ops), NULL, NULL)};

    assert_non_null(rules.user_ops);
    config.rules = &rules;
    meters[ODD].slow = true;
    create("plain:odd");
    await(&meters[ODD].closes, 1);
    for (int i = 0; i < 2; i++) {
        start_again();
        halt();
        assert_true(m.components[0].measured);
        assert_false(m.components[1].measured);
        assert_contains(m.components[1].reason, "defined to count in");
    }
    destroy();
    apapi_event_rules_clear(&rules);
}

static struct apapi_live_page page;

struct reported {
    atomic_int inside, overlaps, samples;
};

static void take_sample(const struct apapi_sample *sample, void *context)
{
    struct reported *reported = context;

    (void)sample;
    atomic_fetch_add(&reported->overlaps, atomic_fetch_add(&reported->inside, 1) > 0);
    usleep(1000);
    atomic_fetch_add(&reported->samples, 1);
    atomic_fetch_sub(&reported->inside, 1);
}

PREPARED(samples_are_reported_one_at_a_time)
{
    static struct reported reported;

    intervals.default_ns = APAPI_INTERVAL_MIN_NS;
    config.on_sample = take_sample;
    config.context = &reported;
    meters[ODD].own_worker = true;
    create_and_start("plain:odd");
    await(&meters[PLAIN].reads, 100);
    await(&meters[ODD].reads, 100);
    halt();
    assert_int_equal(atomic_load(&reported.overlaps), 0);
    assert_int_equal(atomic_load(&reported.samples),
                     atomic_load(&meters[PLAIN].reads) + atomic_load(&meters[ODD].reads));
}

/* --- sources that hang ------------------------------------------------------------------------ */

static void hang(struct fake_meter *meter)
{
    no_grace();
    atomic_store(&meter->read_hangs, true);
    await(&meter->stuck, 1);
}

PREPARED(a_reader_that_hangs)
{
    const struct apapi_component_result *odd;
    int good;

    meters[ODD].own_worker = true;
    create_and_start("plain:odd");
    await(&meters[ODD].good, 5);
    hang(&meters[ODD]);
    good = atomic_load(&meters[ODD].good);
    await_more(&meters[PLAIN], 20);
    halt();
    odd = &m.components[1];
    assert_plain_is_whole();
    assert_true(odd->measured);
    assert_contains(odd->reason, "no answer from fake odd within 0.1 s");
    assert_energy(&odd->events[0], good - 1);
    assert_true(odd->events[0].covered_ns < m.components[0].events[0].covered_ns);
    destroy();
    assert_int_equal(atomic_load(&meters[ODD].closes), 0);
    atomic_store(&meters[ODD].read_hangs, false);
    await(&meters[ODD].closes, 1);
}

PREPARED(a_reader_that_hangs_at_the_start)
{
    meters[ODD].own_worker = true;
    no_grace();
    atomic_store(&meters[ODD].read_hangs, true);
    create_and_start("plain:odd");
    await_more(&meters[PLAIN], 5);
    halt();
    assert_plain_is_whole();
    assert_false(m.components[1].measured);
    assert_contains(m.components[1].reason, "no answer from fake odd");
    /* a component that returns in a later run is measured in that run, from then on */
    start_again();
    atomic_store(&meters[ODD].read_hangs, false);
    await(&meters[ODD].good, 4);
    last_grace_ns = GRACE_NS;
    halt();
    assert_true(m.components[1].measured);
    assert_string_equal(m.components[1].reason, "");
    assert_energy(&m.components[1].events[0], atomic_load(&meters[ODD].good) - 2);
}

/* A reader ends its own worker, or the shared one, whose other sources are read on. */
PREPARED(a_reader_that_ends_its_thread)
{
    for (int own = 0; own < 2; own++) {
        prepare();
        meters[ODD].own_worker = own;
        create_and_start("plain:odd");
        await(&meters[ODD].good, 5);
        atomic_store(&meters[ODD].ends_thread, true);
        await_more(&meters[PLAIN], 20);
        for (int run = 0; run < 2; run++) {
            halt();
            assert_int_equal(m.components[1].measured, run == 0);
            assert_contains(m.components[1].reason, "fake odd has ended its thread");
            assert_string_equal(m.components[0].reason, "");
            assert_true(m.components[0].measured);
            if (run == 0) {
                assert_plain_is_whole();
                assert_energy(&m.components[1].events[0], atomic_load(&meters[ODD].good) - 1);
                start_again();
            }
        }
        destroy();
        assert_int_equal(atomic_load(&meters[PLAIN].closes), 1);
        assert_int_equal(atomic_load(&meters[ODD].closes), 0);
        fake_meter_free_lost(&meters[ODD]);
    }
}

/* A source that hangs in the shared worker delays the sources of that worker, and no others. */
PREPARED(the_shared_worker_hangs)
{
    int good;

    create_and_start("plain:odd");
    await(&meters[PLAIN].good, 5);
    hang(&meters[PLAIN]);
    good = atomic_load(&meters[PLAIN].good);
    halt();
    assert_true(m.components[0].measured);
    assert_contains(m.components[0].reason, "no answer from fake plain within 0.5 s at the end");
    assert_contains(m.components[1].reason, "not read at the end: no answer from fake plain");
    assert_energy(&m.components[0].events[0], good - 1);
    /* a source that returns in a later run is measured in that run, from then on */
    start_again();
    atomic_store(&meters[PLAIN].read_hangs, false);
    await(&meters[PLAIN].good, good + 4);
    last_grace_ns = GRACE_NS;
    halt();
    for (int i = 0; i < METERS; i++) {
        assert_true(m.components[i].measured);
        assert_string_equal(m.components[i].reason, "");
    }
    assert_energy(&m.components[0].events[0], atomic_load(&meters[PLAIN].good) - good - 2);
}

static atomic_bool hangs_again;

static void hang_again(const struct apapi_sample *sample, void *context)
{
    (void)sample;
    if (atomic_load(&hangs_again)) {
        atomic_store(&((struct fake_meter *)context)->read_hangs, true);
    }
}

static void *let_one_reading_end(void *context)
{
    usleep(100000); /* after the stop */
    atomic_store(&((struct fake_meter *)context)->read_hangs, false);
    return NULL;
}

/* A reading that ends after the stop counts, although it is not the last: the run is as long. */
PREPARED(the_shared_worker_hangs_twice_at_the_end)
{
    pthread_t thread;

    atomic_store(&hangs_again, false);
    config.on_sample = hang_again;
    config.context = &meters[PLAIN];
    create_and_start("plain");
    await(&meters[PLAIN].good, 2);
    hang(&meters[PLAIN]);
    atomic_store(&hangs_again, true);
    assert_int_equal(pthread_create(&thread, NULL, let_one_reading_end, &meters[PLAIN]), 0);
    halt();
    pthread_join(thread, NULL);
    assert_contains(m.components[0].reason, "no answer from fake plain within 0.5 s at the end");
    assert_true(m.components[0].events[0].covered_ns <= m.elapsed_ns);
    atomic_store(&meters[PLAIN].read_hangs, false);
}

/* --- outages ---------------------------------------------------------------------------------- */

static void start(void)
{
    create_and_start("plain:odd");
    await(&meters[ODD].good, 5);
}

/* Unplug the source: open readers are dead until it was reopened, or until that was tried. */
static void pull(void)
{
    atomic_fetch_add(&meters[ODD].plugged, 1);
    await(&meters[ODD].opens, 2);
}

/* The live page also marks the source, as long as it fails. */
PREPARED(a_source_that_fails_is_marked_on_the_live_page)
{
    const uint32_t number = FAKE_METER_EVENTS + 1;
    struct apapi_live_slot slot;

    memset(&page, 0, sizeof page);
    config.live = &page;
    create_and_start("plain:odd");
    assert_string_equal(page.names[number].name, "odd:::ENERGY1");
    await(&meters[ODD].good, 3);
    atomic_store(&meters[ODD].read_fails, EIO);
    await(&meters[ODD].opens, 2);
    assert_true(apapi_live_read(&page.events[number], &slot));
    assert_true(slot.flags & APAPI_LIVE_FAILED);
    atomic_store(&meters[ODD].read_fails, 0);
    await(&meters[ODD].good, atomic_load(&meters[ODD].good) + 3);
    assert_true(apapi_live_read(&page.events[number], &slot));
    assert_false(slot.flags & APAPI_LIVE_FAILED);
    halt();
}

PREPARED(events_are_found_again_by_name)
{
    const struct apapi_component_result *odd;
    int before;

    start();
    atomic_store(&meters[ODD].first, 1); /* now ENERGY1 is first, and ENERGY0 is gone */
    atomic_store(&meters[ODD].present, 1);
    atomic_store(&meters[ODD].open_hangs, true);
    pull();
    before = atomic_load(&meters[ODD].good);
    atomic_store(&meters[ODD].open_hangs, false);
    await(&meters[ODD].good, before + 5);
    halt();
    odd = &m.components[1];
    assert_int_equal(odd->event_count, 2);
    assert_energy(&odd->events[0], before - 1);
    assert_true(odd->events[0].incidents.failed >= 5);
    assert_energy(&odd->events[1], 2 * (atomic_load(&meters[ODD].good) - 1));
    assert_true(odd->events[0].covered_ns < odd->events[1].covered_ns);
}

PREPARED(a_source_that_is_gone_for_ever)
{
    const struct apapi_component_result *odd;
    int good, opens;

    reopen_ns = RETRY_REOPEN_NS;
    start();
    opens = atomic_load(&meters[ODD].opens);
    atomic_store(&meters[ODD].open_fails, ENODEV);
    pull();
    good = atomic_load(&meters[ODD].good);
    halt(); /* this tries once more, unless an attempt is under way */
    odd = &m.components[1];
    assert_plain_is_whole();
    assert_true(odd->measured);
    assert_string_equal(odd->reason, "no odd here");
    assert_int_equal(odd->outages, 1);
    assert_true(odd->outage_ns >= RETRY_REOPEN_NS);
    assert_energy(&odd->events[0], good - 1);
    assert_true(atomic_load(&meters[ODD].opens) > opens);
    /* ever fewer: not half of the attempts that there would be without pauses */
    assert_in_range(atomic_load(&meters[ODD].reads) - good, 3,
                    odd->outage_ns / intervals.default_ns / 2);
    assert_true(odd->events[0].covered_ns + odd->outage_ns / 2 <= m.elapsed_ns);
}

/* To reopen a source may hang, too. */
PREPARED(reopening_hangs)
{
    start();
    no_grace();
    atomic_store(&meters[ODD].open_hangs, true);
    pull();
    await_more(&meters[PLAIN], 5);
    halt();
    assert_plain_is_whole();
    assert_true(m.components[1].measured);
    assert_contains(m.components[1].reason, "no answer from fake odd");
    destroy();
    atomic_store(&meters[ODD].open_hangs, false);
    await(&meters[ODD].closes, 2);
}

/* --- at the start and at the end -------------------------------------------------------------- */

/* The look is at least 32 ms later. It counts nowhere; test_meter.c tests the time it covers. */
PREPARED(counters_are_looked_at_after_their_last_reading)
{
    int reads;

    checks = true;
    meters[PLAIN].update_ns = 1000000;
    intervals.default_ns = 3000000; /* too short for probes */
    create_and_start("plain");
    usleep(40000);
    halt();
    reads = atomic_load(&meters[PLAIN].good);
    assert_energy(&m.components[0].events[0], reads - 2);
    assert_int_equal(m.components[0].events[0].incidents.samples, reads - 2);
}

static void hang_after_the_last(const struct apapi_sample *sample, void *context)
{
    struct fake_meter *meter = context;

    (void)sample;
    atomic_store(&meter->read_hangs, atomic_load(&meter->good) == 2);
}

/* A source that hangs in the look has been read. */
PREPARED(nobody_waits_long_for_that_look)
{
    checks = true;
    last_grace_ns = 1000000000; /* for the last reading, as the look has no end */
    meters[ODD].own_worker = true;
    intervals.default_ns = HOUR_NS;
    config.on_sample = hang_after_the_last;
    config.context = &meters[ODD];
    create_and_start("odd");
    await(&meters[ODD].good, 1);
    usleep(40000);
    halt();
    assert_string_equal(m.components[0].reason, "");
    assert_energy(&m.components[0].events[0], 1);
    atomic_store(&meters[ODD].read_hangs, false);
}

/* --- the figures so far, asked for while the threads read on ---------------------------------- */

static void look(void)
{
    apapi_measurement_clear(&m);
    fail_if(apapi_session_snapshot(session, &m, &why), "%s", why.text);
}

static double steps_of(size_t component)
{
    return m.components[component].events[0].total / STEP_J;
}

static void assert_steps(size_t component, double least, double most)
{
    double steps = steps_of(component);

    fail_if(!(steps >= least - 1e-6 && steps <= most + 1e-6) || fabs(steps - round(steps)) > 1e-6,
            "%g steps, not %g to %g", steps, least, most);
}

PREPARED(it_grows_and_disturbs_nothing)
{
    uint64_t elapsed_ns = 0;

    meters[ODD].own_worker = true;
    create_and_start("plain:odd");
    await_more(&meters[ODD], 2);
    for (int i = 0; i < 20; i++) {
        int before[METERS];

        await_more(&meters[PLAIN], 2);
        for (int k = 0; k < METERS; k++) {
            before[k] = atomic_load(&meters[k].good);
        }
        look();
        assert_true(m.elapsed_ns > elapsed_ns);
        elapsed_ns = m.elapsed_ns;
        for (size_t k = 0; k < METERS; k++) {
            /* the latest reading may not be counted yet */
            assert_steps(k, before[k] - 2, atomic_load(&meters[k].good) - 1);
            assert_true(m.components[k].measured);
            assert_string_equal(m.components[k].reason, "");
            assert_true(m.components[k].events[0].covered_ns <= m.elapsed_ns);
            assert_true(m.components[k].events[0].summary.mean > 0);
        }
        assert_true(m.cpu_ns > 0);
    }
    halt();
    for (size_t k = 0; k < METERS; k++) {
        assert_steps(k, atomic_load(&meters[k].good) - 1, atomic_load(&meters[k].good) - 1);
        assert_string_equal(m.components[k].reason, "");
    }
    assert_true(m.elapsed_ns >= elapsed_ns);
}

/* Whichever worker reads the source. */
PREPARED(what_hangs_keeps_what_it_has)
{
    for (int own = 0; own < 2; own++) {
        meters[ODD].own_worker = own != 0;
        create_and_start("plain:odd");
        await_more(&meters[ODD], 3);
        atomic_store(&meters[ODD].stuck, 0);
        atomic_store(&meters[ODD].read_hangs, true);
        assert_true(fake_wait(&meters[ODD].stuck, 1));
        look();
        assert_true(m.components[1].measured);
        assert_true(steps_of(1) >= 1);
        atomic_store(&meters[ODD].read_hangs, false);
        await_more(&meters[ODD], 2);
        look();
        assert_true(steps_of(1) >= 1);
        destroy();
    }
}
