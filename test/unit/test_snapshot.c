/* SPDX-License-Identifier: BSD-3-Clause */
/* The figures of a session so far, asked for while its threads read on. Run under TSan, too. */
#include "unit/workers_fixture.h"

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

#define PREPARED(name) TEST_WITH(name, prepare, clean_up)

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
            /* the latest reading may not be accounted for yet */
            assert_steps(k, before[k] - 2, atomic_load(&meters[k].good) - 1);
            assert_true(m.components[k].measured);
            assert_string_equal(m.components[k].reason, "");
            assert_true(m.components[k].events[0].covered_ns <= m.elapsed_ns);
            assert_true(m.components[k].events[0].summary.p95 > 0);
        }
        assert_true(m.domains[APAPI_DOMAIN_PACKAGE].energy_j > 0);
        assert_true(m.domains[APAPI_DOMAIN_GPU].energy_j > 0);
        assert_true(m.domains[APAPI_DOMAIN_PACKAGE].timeline.length_ns == m.elapsed_ns);
        assert_true(m.covered > 0 && m.covered <= 1);
        assert_true(m.cpu_ns > 0);
    }
    halt();
    for (size_t k = 0; k < METERS; k++) {
        assert_steps(k, atomic_load(&meters[k].good) - 1, atomic_load(&meters[k].good) - 1);
        assert_string_equal(m.components[k].reason, "");
    }
    assert_true(m.elapsed_ns >= elapsed_ns);
}

/* Whichever worker reads it. */
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
