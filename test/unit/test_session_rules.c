/* SPDX-License-Identifier: BSD-3-Clause */
/* The influence of users' lists and definitions on a measurement, and its limits. */
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

static void make_tree(void)
{
    powercap_tree_create(&tree);
    powercap_tree_zone(&tree, "intel-rapl:0", "package-0", RANGE);
    powercap_tree_zone(&tree, "intel-rapl:0:0", "dram", RANGE);
    powercap_tree_zone(&tree, "intel-rapl:1", "package-1", RANGE);
    powercap_tree_zone(&tree, "intel-rapl:1:0", "dram", RANGE);
}

static void remove_tree(void)
{
    apapi_measurement_clear(&m);
    powercap_tree_destroy(&tree);
}

static void set_energy(uint64_t package_uj, uint64_t dram_uj)
{
    powercap_tree_energy(&tree, "intel-rapl:0", package_uj);
    powercap_tree_energy(&tree, "intel-rapl:0:0", dram_uj);
    powercap_tree_energy(&tree, "intel-rapl:1", package_uj);
    powercap_tree_energy(&tree, "intel-rapl:1:0", dram_uj);
}

/* NULL: none. */
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

/* A counter that the test moves once would be seen to stand still at the start. */

void __wrap_dense_start_next(struct dense_start *dense, struct apapi_moment when,
                             struct random *random)
{
    (void)when;
    (void)random;
    dense->due_ns = UINT64_MAX;
}

/* Each package uses 102 J, each DRAM 20 J. */
static void use_energy(struct apapi_session *session)
{
    struct apapi_measurement so_far;

    set_energy(1000000, 1000000);
    assert_int_equal(apapi_session_start(session, 0, NULL), 0);
    nanosleep(&(struct timespec){.tv_nsec = 60 * (long)MS}, NULL);
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

/* The whole node's; the live page says so, too. */
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

#define WITH_TREE(name) TEST_WITH(name, make_tree, remove_tree)

/* Whatever is shown: the total stays 244 J. */
WITH_TREE(lists_and_definitions_move_no_energy)
{
    static const struct {
        const char *list, *ops;
        size_t events;
        enum apapi_kind kind; /* of the first one */
    } cases[] = {
        {"rapl:::PACKAGE_ENERGY:PACKAGE0\n", NULL, 1, APAPI_KIND_ENERGY},
        {"rapl:::NONE_OF_THEM\n", NULL, 0, APAPI_KIND_ENERGY},
        /* to another domain */
        {NULL,
         "rapl:::DRAM*" EVERYTHING "auto,energy,J,1,power,W,1,energy,package\n"
         "rapl:::PACKAGE*" EVERYTHING "auto,energy,J,1,power,W,1,energy,none\n",
         4, APAPI_KIND_ENERGY},
        /* another kind than the source's: no energy to who reads the event */
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

static atomic_int readings;

static void count_reading(const struct apapi_sample *sample, void *unused)
{
    (void)sample;
    (void)unused;
    atomic_fetch_add(&readings, 1);
}

/* @return the interval that is kept [ns]. */
static uint64_t keep_interval(uint64_t requested_ns, uint64_t floor_ns, const char *ops)
{
    struct apapi_event_rules rules = parse(NULL, ops);
    const struct apapi_intervals intervals = {.default_ns = requested_ns};
    const struct apapi_session_config config = {.components = "rapl",
                                                .sources = "sysfs",
                                                .intervals = &intervals,
                                                .min_interval_ns = floor_ns,
                                                .rules = &rules,
                                                .on_sample = count_reading};
    struct apapi_session *session = apapi_session_create(&config, NULL);
    uint64_t most, interval_ns;

    assert_non_null(session);
    atomic_store(&readings, 0);
    use_energy(session);
    interval_ns = m.components[0].interval_ns;
    /* the first, the last, one on the way to the grid; 4 early ones, as the counters stand still */
    most = m.elapsed_ns / interval_ns + 3 + 4;
    assert_in_range(atomic_load(&readings), 2, most);
    apapi_session_destroy(session);
    apapi_event_rules_clear(&rules);
    apapi_measurement_clear(&m);
    return interval_ns;
}

WITH_TREE(a_definition_without_a_domain_makes_no_reading_every_ms)
{
    static const char ops[] = "rapl:::*" EVERYTHING "auto,energy,J,1,power,W,1,energy,none\n";

    assert_int_equal(keep_interval(1000 * MS, 0, ops), 1000 * MS);
    assert_int_equal(keep_interval(1000 * MS, 1000 * MS, ops), 1000 * MS);
}

WITH_TREE(the_floor_is_under_every_interval)
{
    assert_int_equal(keep_interval(1 * MS, 50 * MS, NULL), 50 * MS);
    assert_int_equal(keep_interval(50 * MS, 1 * MS, NULL), 50 * MS);
    assert_int_equal(keep_interval(100 * MS, 1000 * MS, NULL), 1000 * MS);
}

/* 262 kJ at 2 kW last 131 s. */
WITH_TREE(only_a_counters_own_range_goes_below_the_floor)
{
    assert_in_range(keep_interval(100 * MS, 3600000 * MS, NULL), 32767 * MS, 32768 * MS);
}
