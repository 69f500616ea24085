/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whole sessions over files: start, stop, reuse and results; and how users' lists and definitions
 * affect them. Also run under TSan.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "apapi/live.h"
#include "apapi/session.h"
#include "fake/powercap_tree.h"
#include "session/schedule.h"
#include "unit/unit.h"

#define RANGE UINT64_C(262143328850)
#define MS UINT64_C(1000000)
#define EVERYTHING ",APAPI_OP1_DIV_DIFF_TIME,APAPI_STAT_ALL,APAPI_STAT_ALL,"

static struct powercap_tree tree;
static struct apapi_live_page page;
static struct apapi_measurement m;
static int packages;
static bool dense; /* readings follow closely after the first one */

static void make_tree(void)
{
    powercap_tree_create(&tree);
    powercap_tree_zone(&tree, "intel-rapl:0", "package-0", RANGE);
    powercap_tree_zone(&tree, "intel-rapl:0:0", "dram", RANGE);
    powercap_tree_zone(&tree, "intel-rapl:0:1", "core", RANGE);
    packages = 1;
    dense = true;
}

/* No dense start: a counter that the test moves only once would be seen to stand still. */
static void make_packages(void)
{
    make_tree();
    powercap_tree_zone(&tree, "intel-rapl:1", "package-1", RANGE);
    powercap_tree_zone(&tree, "intel-rapl:1:0", "dram", RANGE);
    packages = 2;
    dense = false;
}

static void remove_tree(void)
{
    apapi_measurement_clear(&m);
    powercap_tree_destroy(&tree);
}

void __real_dense_start_next(struct dense_start *start, struct apapi_moment when,
                             struct random *random);

void __wrap_dense_start_next(struct dense_start *start, struct apapi_moment when,
                             struct random *random)
{
    if (dense) {
        __real_dense_start_next(start, when, random);
    } else {
        start->due_ns = UINT64_MAX;
    }
}

static atomic_int samples;

static void count_sample(const struct apapi_sample *sample, void *unused)
{
    (void)sample;
    (void)unused;
    atomic_fetch_add(&samples, 1);
}

/* Wait for 20 ms, or longer if the machine is too busy to read in that time. */
static void pause_for_readings(void)
{
    int before = atomic_load(&samples);

    usleep(20000);
    while (atomic_load(&samples) < before + 3) {
        usleep(1000);
    }
}

static _Atomic(struct apapi_session *) called;
static atomic_int refusals;

static void call_session(const struct apapi_sample *sample, void *unused)
{
    struct apapi_session *session = atomic_load(&called);
    struct apapi_measurement so_far;

    count_sample(sample, unused);
    if (session && refusals == 0) {
        refusals += apapi_session_stop(session, NULL) == -1 && errno == EDEADLK;
        refusals += apapi_session_snapshot(session, &so_far, NULL) == -1 && errno == EDEADLK;
    }
}

static struct apapi_session *create(void)
{
    const struct apapi_intervals fast = {.default_ns = 5 * MS};
    const struct apapi_session_config config = {
        .components = "rapl", .sources = "sysfs", .intervals = &fast, .on_sample = call_session};
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
    if (packages > 1) {
        powercap_tree_energy(&tree, "intel-rapl:1", package_uj);
        powercap_tree_energy(&tree, "intel-rapl:1:0", dram_uj);
    }
}

/* Files are rewritten in place: a reading meanwhile may fail, but must not be wrong. */
static void run(struct apapi_session *session, uint64_t from_uj)
{
    set_energy(from_uj, from_uj);
    assert_int_equal(apapi_session_start(session, 0, NULL), 0);
    set_energy(from_uj + 2, from_uj + 2); /* so that the counters do not stand still */
    pause_for_readings();
    set_energy(from_uj + 3000000, from_uj + 1000000);
    pause_for_readings();
    assert_int_equal(apapi_session_stop(session, NULL), 0);
    assert_int_equal(apapi_session_measurement(session, &m, NULL), 0);
}

static void assert_domain(enum apapi_domain domain, double truth_j)
{
    const struct apapi_timeline *timeline = &m.domains[domain].timeline;

    assert_true(m.domains[domain].measured);
    assert_true(fabs(m.domains[domain].energy_j - truth_j) < 1e-5);
    assert_true(timeline->length_ns == m.elapsed_ns);
    assert_true(fabs(apapi_timeline_energy_j(timeline) - m.domains[domain].energy_j) < 1e-6);
}

static void assert_result(void)
{
    assert_domain(APAPI_DOMAIN_PACKAGE, 3);
    assert_domain(APAPI_DOMAIN_DRAM, 1);
    assert_true(m.domains[APAPI_DOMAIN_CORE].measured);
    assert_false(m.domains[APAPI_DOMAIN_GPU].measured);
    assert_true(isnan(m.domains[APAPI_DOMAIN_GPU].energy_j));
    assert_true(fabs(apapi_measurement_total_j(&m) - 4) < 1e-5);
    assert_true(m.elapsed_ns >= 40 * MS);
    /* less the time in which counters stand still at both ends, which depends on the machine */
    assert_true(m.covered > 0 && m.covered <= 1);
    assert_true(m.components[0].events[0].incidents.samples >= 3);
    assert_string_equal(m.components[0].source, "sysfs powercap");
}

#define WITH_TREE(name) TEST_WITH(name, make_tree, remove_tree)

WITH_TREE(start_stop_and_again)
{
    struct apapi_session *session = create();

    assert_fails(ENODATA, apapi_session_measurement(session, &m, NULL));
    for (int i = 0; i < 3; i++) {
        run(session, (uint64_t)i * 1000000000);
        assert_result();
        apapi_measurement_clear(&m);
    }
    apapi_session_destroy(session);
}

WITH_TREE(wrong_order_is_reported)
{
    struct apapi_session *session = create();

    assert_fails(EALREADY, apapi_session_stop(session, NULL));
    assert_int_equal(apapi_session_start(session, 0, NULL), 0);
    assert_fails(EALREADY, apapi_session_start(session, 0, NULL));
    assert_fails(EBUSY, apapi_session_measurement(session, &m, NULL));
    apapi_session_destroy(session); /* while the session runs */
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
    struct apapi_session *session = create();
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

/* --- lists, definitions and intervals --------------------------------------------------------- */

/* @param list, ops  NULL: none */
static struct apapi_event_rules parse(const char *list, const char *ops)
{
    struct apapi_event_rules rules = {0};

    if (list) {
        rules.user_list = apapi_eventlist_parse("list", list, strlen(list), NULL, &why);
    }
    if (ops) {
        rules.user_ops = apapi_eventops_parse("ops", ops, strlen(ops), NULL, &why);
    }
    fail_if((list && !rules.user_list) || (ops && !rules.user_ops), "%s", why.text);
    return rules;
}

/* Let each package use 102 J, and each DRAM 20 J. */
static void use_energy(struct apapi_session *session)
{
    struct apapi_measurement so_far;

    set_energy(1000000, 1000000);
    assert_int_equal(apapi_session_start(session, 0, NULL), 0);
    usleep(60000);
    set_energy(103000000, 21000000);
    assert_int_equal(apapi_session_snapshot(session, &so_far, NULL), 0);
    apapi_measurement_clear(&so_far);
    assert_int_equal(apapi_session_stop(session, NULL), 0);
    assert_int_equal(apapi_session_measurement(session, &m, NULL), 0);
}

static void measure(const char *list, const char *ops, bool softfail)
{
    struct apapi_event_rules rules = parse(list, ops);
    const struct apapi_intervals intervals = {.default_ns = 3600000 * MS};
    const struct apapi_session_config config = {.components = "rapl",
                                                .sources = "sysfs",
                                                .intervals = &intervals,
                                                .min_interval_ns = intervals.default_ns,
                                                .rules = &rules,
                                                .softfail = softfail,
                                                .live = &page};
    struct apapi_session *session;

    memset(&page, 0, sizeof page);
    session = apapi_session_create(&config, &why);
    fail_if(!session, "%s", why.text);
    use_energy(session);
    apapi_session_destroy(session);
    apapi_event_rules_clear(&rules);
}

static void assert_j(double value_j, double truth_j)
{
    fail_if(!(fabs(value_j - truth_j) < 1e-6), "%.9g J, not %.9g J", value_j, truth_j);
}

/* Check that the result is that of the whole node, also on the live page. */
static void assert_whole(void)
{
    assert_j(m.domains[APAPI_DOMAIN_PACKAGE].energy_j, 204);
    assert_j(m.domains[APAPI_DOMAIN_DRAM].energy_j, 40);
    assert_j(apapi_measurement_total_j(&m), 244);
    assert_j(apapi_timeline_energy_j(&m.domains[APAPI_DOMAIN_PACKAGE].timeline), 204);
    assert_j(page.domains[APAPI_DOMAIN_PACKAGE].total, 204);
    assert_j(page.domains[APAPI_DOMAIN_DRAM].total, 40);
    assert_true(m.components[0].measured);
    assert_true(m.covered > 0);
}

#define WITH_PACKAGES(name) TEST_WITH(name, make_packages, remove_tree)

/* Whatever lists and definitions show, the total stays 244 J. */
WITH_PACKAGES(lists_and_definitions_move_no_energy)
{
    static const struct {
        const char *list, *ops;
        size_t events;
        enum apapi_kind kind; /* of the first event */
    } cases[] = {
        {"rapl:::PACKAGE_ENERGY:PACKAGE0\n", NULL, 1, APAPI_KIND_ENERGY},
        {"rapl:::NONE_OF_THEM\n", NULL, 0, APAPI_KIND_ENERGY},
        /* definitions with another domain */
        {NULL,
         "rapl:::DRAM*" EVERYTHING "auto,energy,J,1,power,W,1,energy,package\n"
         "rapl:::PACKAGE*" EVERYTHING "auto,energy,J,1,power,W,1,energy,none\n",
         5, APAPI_KIND_ENERGY},
        /* another kind than the source's: readers of the event do not take it for an energy */
        {"rapl:::PACKAGE*\n", "rapl:::*" EVERYTHING "auto,heat,J,1,power,W,1,temperature,package\n",
         2, APAPI_KIND_TEMPERATURE},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        measure(cases[i].list, cases[i].ops, cases[i].events == 0);
        assert_int_equal(m.components[0].event_count, cases[i].events);
        assert_int_equal(page.head.event_count, cases[i].events);
        assert_true(m.components[0].user_rules);
        for (size_t k = 0; k < cases[i].events; k++) {
            assert_int_equal(m.components[0].events[k].event.kind, cases[i].kind);
        }
        assert_true(i > 0 || fabs(m.components[0].events[0].total - 102) < 1e-6);
        assert_whole();
        apapi_measurement_clear(&m);
    }
}

/* Measure with an interval and a floor. @return the interval that was kept [ns]. */
static uint64_t keep_interval(uint64_t requested_ns, uint64_t floor_ns, const char *ops)
{
    struct apapi_event_rules rules = parse(NULL, ops);
    const struct apapi_intervals intervals = {.default_ns = requested_ns};
    const struct apapi_session_config config = {.components = "rapl",
                                                .sources = "sysfs",
                                                .intervals = &intervals,
                                                .min_interval_ns = floor_ns,
                                                .rules = &rules,
                                                .on_sample = count_sample};
    struct apapi_session *session = apapi_session_create(&config, NULL);
    uint64_t most, interval_ns;

    assert_non_null(session);
    atomic_store(&samples, 0);
    use_energy(session);
    interval_ns = m.components[0].interval_ns;
    /* first, last, one on the way to the grid; 4 early ones, because the counters stand still */
    most = m.elapsed_ns / interval_ns + 3 + 4;
    assert_in_range(atomic_load(&samples), 2, most);
    apapi_session_destroy(session);
    apapi_event_rules_clear(&rules);
    apapi_measurement_clear(&m);
    return interval_ns;
}

WITH_PACKAGES(a_session_is_not_called_in_on_sample)
{
    struct apapi_session *session = create();

    atomic_store(&called, session);
    run(session, 0);
    atomic_store(&called, NULL);
    assert_int_equal(refusals, 2);
    refusals = 0;
    apapi_measurement_clear(&m);
    apapi_session_destroy(session);
}

WITH_PACKAGES(a_definition_without_a_domain_makes_no_reading_every_ms)
{
    static const char ops[] = "rapl:::*" EVERYTHING "auto,energy,J,1,power,W,1,energy,none\n";

    assert_int_equal(keep_interval(1000 * MS, 0, ops), 1000 * MS);
    assert_int_equal(keep_interval(1000 * MS, 1000 * MS, ops), 1000 * MS);
}

WITH_PACKAGES(the_floor_is_under_every_interval)
{
    assert_int_equal(keep_interval(1 * MS, 50 * MS, NULL), 50 * MS);
    assert_int_equal(keep_interval(50 * MS, 1 * MS, NULL), 50 * MS);
    assert_int_equal(keep_interval(100 * MS, 1000 * MS, NULL), 1000 * MS);
}

/* A range of 262 kJ lasts 131 s at 2 kW. */
WITH_PACKAGES(only_a_counters_own_range_goes_below_the_floor)
{
    assert_in_range(keep_interval(100 * MS, 3600000 * MS, NULL), 32767 * MS, 32768 * MS);
}
