/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions with sources that are slow, that hang or that end their thread: what becomes of them,
 * and that it costs the others nothing. Nothing here depends on how fast the machine is: a call
 * that must not wait for a source is made while the source waits for the test. Run under TSan and
 * ASan, too.
 */
#include <time.h>

#include "apapi/live.h"
#include "unit/workers_fixture.h"

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
    patience_ns = 20000000;
    create_and_start("plain:odd");
    await(&meters[ODD].stuck, 1);
    halt();
    assert_string_equal(m.components[1].reason, "it was still being opened at the end");
    assert_true(m.components[0].measured);
    atomic_store(&meters[ODD].open_hangs, false);
}

PREPARED(a_slow_source_that_is_never_open)
{
    meters[ODD].slow = true;
    atomic_store(&meters[ODD].open_hangs, true);
    create_and_start("plain:odd");
    await_more(&meters[PLAIN], 3);
    halt();
    assert_plain_is_whole();
    assert_false(m.components[1].measured);
    assert_says(m.components[1].reason, "still being opened");
    destroy();
    atomic_store(&meters[ODD].open_hangs, false);
    await(&meters[ODD].closes, 1);
    assert_int_equal(atomic_load(&meters[ODD].reads), 0);
}

PREPARED(a_list_that_does_not_fit_a_slow_source)
{
    static const char list[] = "plain:::ENERGY0\nodd:::NONE\n";
    struct apapi_event_rules rules = {
        .user_list = apapi_eventlist_parse("list", list, strlen(list), NULL, NULL)};
    const struct apapi_session_config config = {
        .components = "plain:odd", .intervals = &intervals, .rules = &rules};

    meters[ODD].slow = true;
    session = apapi_session_create(&config, NULL);
    assert_non_null(session);
    assert_int_equal(apapi_session_start(session, 0, NULL), 0);
    await(&meters[ODD].closes, 1);
    halt();
    assert_false(m.components[1].measured);
    assert_says(m.components[1].reason, "list:2: odd has no event 'odd:::NONE' here");
    destroy();
    apapi_event_rules_clear(&rules);
}

/* Its events are known and have no meters. */
PREPARED(a_definition_that_does_not_fit_a_slow_source)
{
    static const char ops[] = "odd:::*,APAPI_OP1_NOP,APAPI_STAT_ALL,APAPI_STAT_NO,"
                              "0x7fffffff8000,energy,Ws,2147483648,p,W,1\n";
    struct apapi_event_rules rules = {
        .user_ops = apapi_eventops_parse("ops", ops, strlen(ops), NULL, NULL)};
    const struct apapi_session_config config = {
        .components = "plain:odd", .intervals = &intervals, .rules = &rules};

    assert_non_null(rules.user_ops);
    meters[ODD].slow = true;
    session = apapi_session_create(&config, NULL);
    assert_non_null(session);
    await(&meters[ODD].closes, 1);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(apapi_session_start(session, 0, NULL), 0);
        halt();
        assert_true(m.components[0].measured);
        assert_false(m.components[1].measured);
        assert_says(m.components[1].reason, "defined to count in");
    }
    destroy();
    apapi_event_rules_clear(&rules);
}

/* Steps of both that are never the same energy, however many readings there are of each. */
static void share_a_domain(void)
{
    for (int i = 0; i < METERS; i++) {
        meters[i].domain = APAPI_DOMAIN_PACKAGE;
        meters[i].step = FAKE_METER_STEP + (unsigned)i;
    }
}

/* The domain's energy is that of one component, to the last microjoule. */
static void assert_feeds(size_t index)
{
    const struct apapi_component_result *component = &m.components[index];

    assert_true(m.components[0].measured);
    assert_true(m.components[1].measured);
    assert_true(m.domains[APAPI_DOMAIN_PACKAGE].measured);
    assert_true(fabs(m.domains[APAPI_DOMAIN_PACKAGE].energy_j -
                     (component->events[0].total + component->events[1].total)) < 1e-9);
    assert_true(fabs(m.components[0].events[0].total - m.components[1].events[0].total) > 1e-9);
}

static struct apapi_live_page page;

static void assert_page_has(double energy_j)
{
    struct apapi_live_slot slot = {0};

    assert_true(apapi_live_read(&page.domains[APAPI_DOMAIN_PACKAGE], &slot));
    assert_true(fabs(slot.total - energy_j) < 1e-9);
}

/* The later one stays shut until the earlier one has been read. */
static void open_in_order(int first, int second)
{
    atomic_store(&meters[first].open_hangs, false);
    await(&meters[first].good, 5);
    assert_int_equal(atomic_load(&meters[second].reads), 0);
    atomic_store(&meters[second].open_hangs, false);
    await(&meters[second].good, 3);
}

PREPARED(the_first_named_feeds_a_domain_whichever_opens_first)
{
    static const int orders[][METERS] = {{PLAIN, ODD}, {ODD, PLAIN}};
    static const char *const lists[] = {"plain:odd", "odd:plain"};

    for (int i = 0; i < 4; i++) {
        const int *order = orders[i / 2];

        prepare();
        share_a_domain();
        for (int n = 0; n < METERS; n++) {
            meters[n].slow = true;
            atomic_store(&meters[n].open_hangs, true);
        }
        live = &page;
        create_and_start(lists[i % 2]);
        open_in_order(order[0], order[1]);
        halt();
        assert_feeds(0);
        assert_page_has(m.domains[APAPI_DOMAIN_PACKAGE].energy_j);
        destroy();
        await(&meters[PLAIN].closes, 1);
        await(&meters[ODD].closes, 1);
    }
}

PREPARED(first_readings_of_own_workers_belong_to_the_start)
{
    meters[ODD].own_worker = true;
    meters[ODD].takes_a_while = true;
    create("odd");
    assert_int_equal(apapi_session_start(session, 0, NULL), 0);
    assert_true(atomic_load(&meters[ODD].good) > 0);
    halt();
    assert_true(m.components[0].measured);
    assert_energy(&m.components[0].events[0], atomic_load(&meters[ODD].good) - 1);
    assert_true(m.domains[APAPI_DOMAIN_GPU].measured);
    assert_true(m.elapsed_ns >= m.components[0].events[0].covered_ns);
}

struct reported {
    atomic_int inside, overlaps, samples;
};

static void take_sample(const struct apapi_sample *sample, void *context)
{
    const struct timespec while_inside = {.tv_nsec = 1000000};
    struct reported *reported = context;

    (void)sample;
    atomic_fetch_add(&reported->overlaps, atomic_fetch_add(&reported->inside, 1) > 0);
    clock_nanosleep(CLOCK_MONOTONIC, 0, &while_inside, NULL);
    atomic_fetch_add(&reported->samples, 1);
    atomic_fetch_sub(&reported->inside, 1);
}

PREPARED(samples_are_reported_one_at_a_time)
{
    static struct reported reported;
    const struct apapi_intervals fastest = {.default_ns = APAPI_INTERVAL_MIN_NS};
    const struct apapi_session_config config = {.components = "plain:odd",
                                                .intervals = &fastest,
                                                .on_sample = take_sample,
                                                .context = &reported};

    meters[ODD].own_worker = true;
    session = apapi_session_create(&config, NULL);
    assert_int_equal(apapi_session_start(session, 0, NULL), 0);
    await(&meters[PLAIN].reads, 100);
    await(&meters[ODD].reads, 100);
    halt();
    assert_int_equal(atomic_load(&reported.overlaps), 0);
    assert_int_equal(atomic_load(&reported.samples),
                     atomic_load(&meters[PLAIN].reads) + atomic_load(&meters[ODD].reads));
}
