/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole sessions over files: start, stop, reuse, and their results. Also run under TSan. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "apapi/session.h"
#include "fake/powercap_tree.h"
#include "unit/unit.h"

#define RANGE UINT64_C(262143328850)

static struct powercap_tree tree;
static const struct apapi_intervals fast = {.default_ns = 5000000};

static void make_tree(void)
{
    powercap_tree_create(&tree);
    powercap_tree_zone(&tree, "intel-rapl:0", "package-0", RANGE);
    powercap_tree_zone(&tree, "intel-rapl:0:0", "dram", RANGE);
    powercap_tree_zone(&tree, "intel-rapl:0:1", "core", RANGE);
}

static void remove_tree(void)
{
    powercap_tree_destroy(&tree);
}

static void pause_ms(long ms)
{
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

static atomic_int samples;

static void count_sample(const struct apapi_sample *sample, void *unused)
{
    (void)sample;
    (void)unused;
    atomic_fetch_add(&samples, 1);
}

/* 20 ms, and longer where the machine is too busy to read in that time. */
static void pause_for_readings(void)
{
    int before = atomic_load(&samples);

    pause_ms(20);
    while (atomic_load(&samples) < before + 3) {
        pause_ms(1);
    }
}

static struct apapi_session *create(const char *components)
{
    const struct apapi_session_config config = {.components = components,
                                                .sources = "sysfs",
                                                .intervals = &fast,
                                                .on_sample = count_sample};
    struct apapi_session *session = apapi_session_create(&config, &why);

    fail_if(!session, "%s", why.text);
    return session;
}

/* Set all meters of the tree. */
static void set_energy(uint64_t package_uj, uint64_t dram_uj)
{
    powercap_tree_energy(&tree, "intel-rapl:0", package_uj);
    powercap_tree_energy(&tree, "intel-rapl:0:0", dram_uj);
    powercap_tree_energy(&tree, "intel-rapl:0:1", package_uj / 2);
}

/* The files are rewritten in place: a reading in the middle may fail, none may be wrong. */
static void run(struct apapi_session *session, uint64_t from_uj, struct apapi_measurement *m)
{
    set_energy(from_uj, from_uj);
    assert_int_equal(apapi_session_start(session, 0, NULL), 0);
    set_energy(from_uj + 2, from_uj + 2); /* it does not stand still */
    pause_for_readings();
    set_energy(from_uj + 3000000, from_uj + 1000000);
    pause_for_readings();
    assert_int_equal(apapi_session_stop(session, NULL), 0);
    assert_int_equal(apapi_session_measurement(session, m, NULL), 0);
}

static void assert_timeline(const struct apapi_measurement *m, enum apapi_domain domain)
{
    const struct apapi_timeline *timeline = &m->domains[domain].timeline;

    assert_true(timeline->length_ns == m->elapsed_ns);
    assert_true(fabs(apapi_timeline_energy_j(timeline) - m->domains[domain].energy_j) < 1e-6);
}

static void assert_result(const struct apapi_measurement *m)
{
    assert_true(m->domains[APAPI_DOMAIN_PACKAGE].measured);
    assert_true(fabs(m->domains[APAPI_DOMAIN_PACKAGE].energy_j - 3) < 1e-5);
    assert_true(fabs(m->domains[APAPI_DOMAIN_DRAM].energy_j - 1) < 1e-5);
    assert_true(m->domains[APAPI_DOMAIN_CORE].measured);
    assert_false(m->domains[APAPI_DOMAIN_GPU].measured);
    assert_true(isnan(m->domains[APAPI_DOMAIN_GPU].energy_j));
    assert_true(fabs(apapi_measurement_total_j(m) - 4) < 1e-5);
    assert_timeline(m, APAPI_DOMAIN_PACKAGE);
    assert_timeline(m, APAPI_DOMAIN_DRAM);
    assert_true(m->elapsed_ns >= 40000000);
    /* not the time in which they stand still at both ends, which depends on the machine */
    assert_true(m->covered > 0 && m->covered <= 1);
    assert_true(m->components[0].events[0].incidents.samples >= 3);
    assert_string_equal(m->components[0].source, "sysfs powercap");
}

#define WITH_TREE(name) TEST_WITH(name, make_tree, remove_tree)

WITH_TREE(start_stop_and_again)
{
    struct apapi_session *session = create("rapl");
    struct apapi_measurement m;

    assert_fails(ENODATA, apapi_session_measurement(session, &m, NULL));
    for (int i = 0; i < 3; i++) {
        run(session, (uint64_t)i * 1000000000, &m);
        assert_result(&m);
        apapi_measurement_clear(&m);
    }
    apapi_session_destroy(session);
}

WITH_TREE(wrong_order_is_reported)
{
    struct apapi_session *session = create("rapl");
    struct apapi_measurement m;

    assert_fails(EALREADY, apapi_session_stop(session, NULL));
    assert_int_equal(apapi_session_start(session, 0, NULL), 0);
    assert_fails(EALREADY, apapi_session_start(session, 0, NULL));
    assert_fails(EBUSY, apapi_session_measurement(session, &m, NULL));
    apapi_session_destroy(session); /* while it runs */
    apapi_session_destroy(NULL);
}

static void *start_and_stop(void *session)
{
    for (int i = 0; i < 100; i++) {
        apapi_session_start(session, 0, NULL);
        apapi_session_stop(session, NULL);
    }
    return NULL;
}

WITH_TREE(any_thread_may_start_and_stop)
{
    struct apapi_session *session = create("rapl");
    pthread_t threads[4];

    for (int i = 0; i < 4; i++) {
        pthread_create(&threads[i], NULL, start_and_stop, session);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    apapi_session_destroy(session);
}

WITH_TREE(unknown_names_are_refused)
{
    static const struct {
        const char *components, *sources, *says;
        int code;
    } bad[] = {
        {"foo", NULL, "unknown component 'foo'", ENOENT},
        {"rapl:foo", NULL, "'foo'", ENOENT},
        {"", NULL, "empty", EINVAL},
        {"rapl:", NULL, "a name is missing", EINVAL},
        {":rapl", NULL, "a name is missing", EINVAL},
        {"rapl", "foo", "unknown source 'foo'", EINVAL},
    };

    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        const struct apapi_session_config config = {.components = bad[i].components,
                                                    .sources = bad[i].sources};

        assert_fails_with(bad[i].code, bad[i].says, apapi_session_create(&config, &why));
    }
}
