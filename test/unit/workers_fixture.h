/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIT_WORKERS_FIXTURE_H
#define UNIT_WORKERS_FIXTURE_H
/* A session with an ordinary source, "plain", and a source that does what the test wants, "odd". */
#include "apapi/session.h"
#include "fake/meter.h"
#include "session/schedule.h"
#include "session/worker.h"
#include "unit/unit.h"

#define STEP_J (FAKE_METER_STEP * 1e-6)

enum { PLAIN, ODD, METERS };

static struct fake_meter meters[METERS + 1];
static struct apapi_intervals intervals;
static struct apapi_session_config config; /* of the next session */
static struct apapi_session *session;
static struct apapi_measurement m;

/*
 * A session gives a source tenths of a second at its start and its end. A busy machine may need as
 * much to run a thread, so there is a minute more where the test does not let the source hang.
 */
#define GRACE_NS UINT64_C(60000000000)

static uint64_t first_grace_ns, last_grace_ns;
static uint64_t reopen_ns; /* a source that has failed this long is reopened */
static bool dense;         /* readings follow closely after the first one */
static bool checks;        /* counters are looked at after their last reading */

void __real_worker_await_first(struct worker *worker, uint64_t deadline_ns);
uint64_t __real_worker_await_last(struct worker *worker, uint64_t asked_ns, uint64_t limit_ns);
uint64_t __real_apapi_meter_check_ns(const struct apapi_meter *meter);
void __real_dense_start_next(struct dense_start *start, struct apapi_moment when,
                             struct random *random);

void __wrap_worker_await_first(struct worker *worker, uint64_t deadline_ns)
{
    __real_worker_await_first(worker, deadline_ns + first_grace_ns);
}

/* Wait like the product, but for the test's time. */
uint64_t __wrap_worker_await_last(struct worker *worker, uint64_t asked_ns, uint64_t limit_ns)
{
    return __real_worker_await_last(worker, asked_ns + last_grace_ns, limit_ns);
}

/* Like the real function, which has its own test, but with the test's time. */
bool __wrap_retry_wants_reopening(const struct retry *retry)
{
    return retry->failures > 1 && retry->failed_ns - retry->good_ns >= reopen_ns;
}

uint64_t __wrap_apapi_meter_check_ns(const struct apapi_meter *meter)
{
    return checks ? __real_apapi_meter_check_ns(meter) : 0;
}

void __wrap_dense_start_next(struct dense_start *start, struct apapi_moment when,
                             struct random *random)
{
    if (dense) {
        __real_dense_start_next(start, when, random);
    }
}

/* Make no probes: a fake meter counts all readings. */
void __wrap_probe_plan_begin(struct probe_plan *plan, struct apapi_moment when)
{
    (void)plan;
    (void)when;
}

/* Wait no longer than the product does: a source will hang. */
static inline void no_grace(void)
{
    first_grace_ns = last_grace_ns = 0;
}

static inline void prepare(void)
{
    config = (struct apapi_session_config){.intervals = &intervals};
    first_grace_ns = last_grace_ns = GRACE_NS;
    reopen_ns = 150000000;
    dense = checks = false;
    memset(meters, 0, sizeof meters);
    intervals.default_ns = 10000000;
    meters[PLAIN] = (struct fake_meter){.name = "plain", .domain = APAPI_DOMAIN_PACKAGE};
    meters[ODD] = (struct fake_meter){.name = "odd", .domain = APAPI_DOMAIN_GPU};
    fake_meters_use(meters);
}

static inline void clean_up(void)
{
    no_grace();
    apapi_measurement_clear(&m);
    apapi_session_destroy(session);
    session = NULL;
    fake_meter_free_lost(&meters[ODD]);
}

static inline void create(const char *components)
{
    config.components = components;
    session = apapi_session_create(&config, &why);
    fail_if(!session, "%s", why.text);
}

static inline void start_again(void)
{
    assert_int_equal(apapi_session_start(session, 0, NULL), 0);
}

static inline void create_and_start(const char *components)
{
    create(components);
    start_again();
}

static inline void halt(void)
{
    assert_int_equal(apapi_session_stop(session, NULL), 0);
    apapi_measurement_clear(&m);
    assert_int_equal(apapi_session_measurement(session, &m, NULL), 0);
}

static inline void destroy(void)
{
    apapi_session_destroy(session);
    session = NULL;
}

static inline void await(const atomic_int *number, int least)
{
    assert_true(fake_wait(number, least));
}

/* Wait for another `count` readings. */
static inline void await_more(const struct fake_meter *meter, int count)
{
    await(&meter->reads, atomic_load(&meter->reads) + count);
}

/* Check that an event's energy is that of its good readings, no more and no less. */
static inline void assert_energy(const struct apapi_event_result *event, int steps)
{
    fail_if(fabs(event->total - steps * STEP_J) > 1e-9, "%s: %g J, not %d steps of %g J",
            event->event.name, event->total, steps, STEP_J);
}

static inline void assert_plain_is_whole(void)
{
    const struct apapi_component_result *plain = &m.components[0];
    double covered_s, read_s;

    assert_string_equal(plain->name, "plain");
    assert_true(plain->measured);
    assert_string_equal(plain->reason, "");
    assert_int_equal(plain->outages, 0);
    assert_energy(&plain->events[0], atomic_load(&meters[PLAIN].good) - 1);
    /* from the first reading to the beginning of the last one */
    covered_s = (double)plain->events[0].covered_ns / 1e9;
    read_s = (double)plain->period.count * plain->period.mean_s;
    assert_true(covered_s <= read_s + 1e-6);
    assert_true(covered_s >= read_s - plain->period.longest_s - 1e-6);
}

#endif
