/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions with sources that hang or end their thread. Nothing here depends on how fast the machine
 * is. Run under TSan and ASan, too.
 */
#include <time.h>

#include "unit/workers_fixture.h"

static void hang(struct fake_meter *meter)
{
    no_grace();
    atomic_store(&meter->read_hangs, true);
    await(&meter->stuck, 1);
}

#define PREPARED(name) TEST_WITH(name, prepare, clean_up)

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
    assert_says(odd->reason, "no answer from fake odd within 0.1 s");
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
    assert_says(m.components[1].reason, "no answer from fake odd");
    /* a component that returns in a later run is measured in that run, from then on */
    assert_int_equal(apapi_session_start(session, 0, NULL), 0);
    atomic_store(&meters[ODD].read_hangs, false);
    await(&meters[ODD].good, 4);
    last_grace_ns = GRACE_NS;
    halt();
    assert_true(m.components[1].measured);
    assert_string_equal(m.components[1].reason, "");
    assert_energy(&m.components[1].events[0], atomic_load(&meters[ODD].good) - 2);
}

PREPARED(a_reader_that_ends_its_thread)
{
    meters[ODD].own_worker = true;
    create_and_start("plain:odd");
    await(&meters[ODD].good, 5);
    atomic_store(&meters[ODD].ends_thread, true);
    await_more(&meters[PLAIN], 20);
    for (int run = 0; run < 2; run++) {
        halt();
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

/* A source of the shared worker that hangs holds up those that it reads, and nobody else. */
PREPARED(the_shared_worker_hangs)
{
    int good;

    create_and_start("plain:odd");
    await(&meters[PLAIN].good, 5);
    hang(&meters[PLAIN]);
    good = atomic_load(&meters[PLAIN].good);
    halt();
    assert_true(m.components[0].measured);
    assert_says(m.components[0].reason, "no answer from fake plain within 0.5 s at the end");
    assert_says(m.components[1].reason, "not read at the end: no answer from fake plain");
    assert_energy(&m.components[0].events[0], good - 1);
    /* what comes back in a later run is measured in that run, from then on */
    assert_int_equal(apapi_session_start(session, 0, NULL), 0);
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

PREPARED(destroyed_while_the_shared_worker_hangs)
{
    create_and_start("plain:odd");
    hang(&meters[PLAIN]);
    destroy();
    atomic_store(&meters[PLAIN].read_hangs, false);
    await(&meters[PLAIN].closes, 1);
    await(&meters[ODD].closes, 1);
}

/* The others that the shared worker reads are read on. */
PREPARED(a_reader_that_ends_the_shared_thread)
{
    create_and_start("plain:odd");
    await(&meters[ODD].good, 5);
    atomic_store(&meters[ODD].ends_thread, true);
    await_more(&meters[PLAIN], 20);
    for (int run = 0; run < 2; run++) {
        halt();
        assert_int_equal(m.components[1].measured, run == 0);
        assert_says(m.components[1].reason, "fake odd has ended its thread");
        assert_string_equal(m.components[0].reason, "");
        assert_true(m.components[0].measured);
        if (run == 0) {
            assert_plain_is_whole();
            assert_int_equal(apapi_session_start(session, 0, NULL), 0);
        }
    }
    destroy();
    assert_int_equal(atomic_load(&meters[PLAIN].closes), 1);
    assert_int_equal(atomic_load(&meters[ODD].closes), 0);
}
