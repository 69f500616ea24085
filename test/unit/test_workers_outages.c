/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions with sources that fail for a while or permanently. Also run under TSan and ASan. */
#include "unit/workers_fixture.h"

static void start(void)
{
    create_and_start("plain:odd");
    await(&meters[ODD].good, 5);
}

/* Open readers are dead until the source was reopened, or that was tried. */
static void pull(void)
{
    atomic_fetch_add(&meters[ODD].plugged, 1);
    await(&meters[ODD].opens, 2);
}

#define PREPARED(name) TEST_WITH(name, prepare, clean_up)

static void unplug(void)
{
    pull();
    await(&meters[ODD].good, atomic_load(&meters[ODD].good) + 5);
}

/* Open readers stay dead, as after a driver was reloaded. */
PREPARED(a_source_is_reopened)
{
    start();
    unplug();
    halt();
    assert_plain_is_whole();
    assert_int_equal(atomic_load(&meters[ODD].opens), 2);
    assert_int_equal(atomic_load(&meters[ODD].closes), 1);
    assert_int_equal(m.components[1].outages, 1);
    assert_true(m.components[1].outage_ns >= reopen_ns);
    assert_string_equal(m.components[1].reason, "");
    assert_int_equal(m.components[1].events[0].incidents.resets, 0);
    assert_energy(&m.components[1].events[0], atomic_load(&meters[ODD].good) - 1);
    assert_energy(&m.components[1].events[1], 2 * (atomic_load(&meters[ODD].good) - 1));
    assert_true(m.domains[APAPI_DOMAIN_GPU].measured);
    assert_int_equal(apapi_session_start(session, 0, NULL), 0);
    await_more(&meters[ODD], 3);
    halt();
    assert_int_equal(m.components[1].outages, 0);
    assert_true(m.components[1].measured);
}

PREPARED(events_are_found_again_by_name)
{
    const struct apapi_component_result *odd;
    int before;

    start();
    atomic_store(&meters[ODD].first, 1); /* ENERGY1 comes first, ENERGY0 has disappeared */
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
    halt(); /* tries once more, unless an attempt is under way */
    odd = &m.components[1];
    assert_plain_is_whole();
    assert_true(odd->measured);
    assert_string_equal(odd->reason, "no odd here");
    assert_int_equal(odd->outages, 1);
    assert_true(odd->outage_ns >= RETRY_REOPEN_NS);
    assert_energy(&odd->events[0], good - 1);
    assert_true(atomic_load(&meters[ODD].opens) > opens);
    /* fewer and fewer: not half of those that there would have been without pauses */
    assert_in_range(atomic_load(&meters[ODD].reads) - good, 3,
                    odd->outage_ns / intervals.default_ns / 2);
    assert_true(odd->events[0].covered_ns + odd->outage_ns / 2 <= m.elapsed_ns);
}

/* Reopening may hang, too. */
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
    assert_says(m.components[1].reason, "no answer from fake odd");
    destroy();
    atomic_store(&meters[ODD].open_hangs, false);
    await(&meters[ODD].closes, 2);
}
