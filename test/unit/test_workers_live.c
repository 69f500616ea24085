/* SPDX-License-Identifier: BSD-3-Clause */
/* The live page of whole sessions, whose components are read by several threads. */
#include "apapi/live.h"
#include "unit/workers_fixture.h"

static struct apapi_live_page page;

static void prepare_page(void)
{
    prepare();
    memset(&page, 0, sizeof page);
    live = &page;
}

static int event_number(const char *name)
{
    for (uint32_t i = 0; i < apapi_live_event_count(&page); i++) {
        if (strcmp(page.names[i].name, name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static struct apapi_live_slot read_slot(const struct apapi_live_slot *slot)
{
    struct apapi_live_slot copy;

    assert_true(apapi_live_read(slot, &copy));
    return copy;
}

static void assert_same(double on_page, double in_result)
{
    if (!(on_page == in_result || (isnan(on_page) && isnan(in_result)))) {
        fail_msg("%.17g on the page, %.17g in the result", on_page, in_result);
    }
}

/* After a stop: every figure of the measurement stands on the page. */
static void assert_page_is_result(void)
{
    assert_int_equal(apapi_live_state(&page), APAPI_LIVE_ENDED);
    assert_int_equal(page.head.start_unix_ns, m.start_unix_ns);
    assert_int_equal(page.head.end_ns - page.head.start_ns, m.elapsed_ns);
    for (size_t c = 0; c < m.component_count; c++) {
        for (size_t i = 0; i < m.components[c].event_count; i++) {
            const struct apapi_event_result *event = &m.components[c].events[i];
            int number = event_number(event->event.name);

            assert_true(number >= 0);
            assert_same(read_slot(&page.events[number]).total, event->total);
        }
    }
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        assert_same(read_slot(&page.domains[d]).total, m.domains[d].energy_j);
    }
}

#define PREPARED(name) TEST_WITH(name, prepare_page, clean_up)

PREPARED(the_states_of_a_session)
{
    create("plain");
    assert_memory_equal(page.head.magic, APAPI_LIVE_MAGIC, sizeof page.head.magic);
    assert_int_equal(apapi_live_state(&page), APAPI_LIVE_STARTING);
    assert_int_equal(apapi_live_event_count(&page), FAKE_METER_EVENTS);
    assert_int_equal(page.head.start_ns, 0);
    assert_int_equal(apapi_session_start(session, 0, NULL), 0);
    assert_int_equal(apapi_live_state(&page), APAPI_LIVE_RUNNING);
    assert_true(page.head.start_ns > 0 && page.head.end_ns == 0);
    assert_true(read_slot(&page.events[0]).readings >= 1);
    await_more(&meters[PLAIN], 5);
    assert_true(read_slot(&page.events[0]).readings >= 5);
    halt();
    assert_page_is_result();
}

/* Counts of before do not count again. */
PREPARED(a_restarted_session_starts_from_nothing)
{
    create_and_start("plain:odd");
    await_more(&meters[PLAIN], 20);
    halt();
    assert_page_is_result();
    assert_int_equal(apapi_session_start(session, 0, NULL), 0);
    assert_int_equal(apapi_live_state(&page), APAPI_LIVE_RUNNING);
    assert_int_equal(page.head.end_ns, 0);
    assert_true(read_slot(&page.events[0]).readings < 20);
    await_more(&meters[PLAIN], 3);
    halt();
    assert_page_is_result();
    assert_int_equal(apapi_live_event_count(&page), 2 * FAKE_METER_EVENTS);
}

PREPARED(a_source_that_opens_late_comes_behind)
{
    meters[ODD].slow = true;
    atomic_store(&meters[ODD].open_hangs, true);
    create_and_start("odd:plain");
    await_more(&meters[PLAIN], 5);
    assert_int_equal(apapi_live_event_count(&page), FAKE_METER_EVENTS);
    assert_int_equal(event_number("odd:::ENERGY0"), -1);
    assert_int_equal(read_slot(&page.domains[APAPI_DOMAIN_GPU]).flags, 0);
    atomic_store(&meters[ODD].open_hangs, false);
    await(&meters[ODD].good, 5);
    assert_int_equal(apapi_live_event_count(&page), 2 * FAKE_METER_EVENTS);
    assert_int_equal(event_number("odd:::ENERGY0"), FAKE_METER_EVENTS);
    assert_int_equal(read_slot(&page.domains[APAPI_DOMAIN_GPU]).flags, APAPI_LIVE_MEASURED);
    halt();
    assert_page_is_result();
}
