/* SPDX-License-Identifier: BSD-3-Clause */
/* libms_common_apapi: measurements as its programs make them, of counters that the test moves. */
#include <pthread.h>
#include <time.h>

#include "base/clock.h"
#include "fake/powercap_tree.h"
#include "ms_common/interface.h"
#include "unit/unit.h"

#define RANGE_UJ 262143328850
#define START_UJ 5000000

static struct powercap_tree tree;
static struct ms_system *system_of_test;
static struct ms_list *list;

/* Steps are small, so that the power is plausible, however short the time is. */
static void move_to(double package_j, double dram_j)
{
    powercap_tree_energy(&tree, "intel-rapl:0", START_UJ + (uint64_t)(package_j * 1e6));
    powercap_tree_energy(&tree, "intel-rapl:0:0", START_UJ + (uint64_t)(dram_j * 1e6));
}

static void open_all(void)
{
    system_of_test = ms_init(NULL, 0, 0, 0, 0, 0, 0, 0);
    assert_non_null(system_of_test);
    list = ms_alloc_measurement(system_of_test);
    assert_non_null(list);
    ms_set_timer(list, MS_ALL, 0, 5000000, 1);
    ms_init_measurement(system_of_test, list, MS_ALL);
}

static void close_all(void)
{
    ms_free_measurement(list);
    ms_fini(system_of_test);
    list = NULL;
    system_of_test = NULL;
}

static void measure_make_tree(void)
{
    powercap_tree_create(&tree);
    powercap_tree_zone(&tree, "intel-rapl:0", "package-0", RANGE_UJ);
    powercap_tree_zone(&tree, "intel-rapl:0:0", "dram", RANGE_UJ);
    powercap_tree_put(&tree, "sys/class/hwmon/hwmon0/name", "k10temp\n");
    powercap_tree_put(&tree, "sys/class/hwmon/hwmon0/temp1_input", "45000\n");
    move_to(0, 0);
    setenv("APAPI_SOURCES", "sysfs", 1);
}

static void measure_remove_tree(void)
{
    powercap_tree_destroy(&tree);
    unsetenv("APAPI_SOURCES");
    unsetenv("APAPI_CMPLIST");
}

static void stop(void)
{
    ms_stop_measurement(system_of_test);
    ms_join_measurement(system_of_test);
    ms_fini_measurement(system_of_test);
}

#define WITH_TREE(name) TEST_WITH(name, measure_make_tree, measure_remove_tree)

WITH_TREE(list_that_is_freed_meanwhile)
{
    open_all();
    ms_start_measurement(system_of_test);
    ms_free_measurement(list);
    list = NULL;
    stop();
    close_all();
}

static void *start_and_stop(void *unused)
{
    (void)unused;
    for (int i = 0; i < 20; i++) {
        ms_start_measurement(system_of_test);
        ms_stop_measurement(system_of_test);
    }
    return NULL;
}

WITH_TREE(orders_of_two_threads)
{
    pthread_t other;

    open_all();
    assert_int_equal(pthread_create(&other, NULL, start_and_stop, NULL), 0);
    start_and_stop(NULL);
    pthread_join(other, NULL);
    stop();
    close_all();
}
