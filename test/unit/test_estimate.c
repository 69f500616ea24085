/* SPDX-License-Identifier: BSD-3-Clause */
/* Energy that is estimated from CPU time: the source over a file, and what its results become. */
#include "apapi/record.h"
#include "apapi/session.h"
#include "base/clock.h"
#include "fake/powercap_tree.h"
#include "sources/sources.h"
#include "unit/near.h"

#define USUAL "cpu  1000 200 300 40000 500 60 70 80 90 10\ncpu0 1 2 3\n"

enum { ENERGY, CPU_TIME };

static struct powercap_tree tree;

static void write_stat(const char *text)
{
    powercap_tree_put(&tree, "proc/stat", text);
}

static void set_watts(const char *idle_w, const char *core_w)
{
    unsetenv("APAPI_ESTIMATE_IDLE_W");
    unsetenv("APAPI_ESTIMATE_CORE_W");
    if (idle_w) {
        setenv("APAPI_ESTIMATE_IDLE_W", idle_w, 1);
    }
    if (core_w) {
        setenv("APAPI_ESTIMATE_CORE_W", core_w, 1);
    }
}

static void make_tree(void)
{
    powercap_tree_create(&tree);
    write_stat(USUAL);
    set_watts("0", "10");
    assert_int_equal(sysconf(_SC_CLK_TCK), 100);
}

static void remove_tree(void)
{
    set_watts(NULL, NULL);
    powercap_tree_destroy(&tree);
}

static struct apapi_reader *open_estimate(void)
{
    struct apapi_reader *reader = apapi_source_estimate.open("estimate", &why);

    fail_if(!reader, "%s", why.text);
    return reader;
}

static double value_of(struct apapi_reader *reader, int event)
{
    struct apapi_reading readings[2];

    apapi_source_estimate.read(reader, readings);
    assert_int_equal(readings[event].error, 0);
    return (double)readings[event].raw * reader->events[event].scale;
}

static int error_of(struct apapi_reader *reader)
{
    struct apapi_reading readings[2];

    apapi_source_estimate.read(reader, readings);
    assert_int_equal(readings[ENERGY].error, readings[CPU_TIME].error);
    return readings[ENERGY].error;
}

static void assert_about(double value, double truth)
{
    assert_differs_less(value, truth, 1e-5);
}

TEST(events_are_marked_and_of_no_domain)
{
    struct apapi_reader *reader = open_estimate();

    assert_int_equal(reader->count, 2);
    assert_string_equal(reader->events[ENERGY].name, "estimate:::NODE_ENERGY");
    assert_string_equal(reader->events[ENERGY].unit, "J");
    assert_int_equal(reader->events[ENERGY].kind, APAPI_KIND_ENERGY);
    assert_string_equal(reader->events[CPU_TIME].name, "estimate:::CPU_TIME");
    assert_string_equal(reader->events[CPU_TIME].unit, "s");
    assert_string_equal(reader->detail, "/proc/stat: 0 W + 10 W per busy core");
    for (size_t i = 0; i < reader->count; i++) {
        assert_true(reader->events[i].estimated && reader->events[i].accumulates);
        assert_int_equal(reader->events[i].domain, APAPI_DOMAIN_NONE);
        assert_int_equal(reader->events[i].update_ns, 10000000);
    }
    apapi_source_estimate.close(reader);
}

TEST(what_is_no_cpu_time_is_refused)
{
    static const struct {
        const char *stat;
        int error;
    } cases[] = {
        {"", EBADMSG},
        {"cpu0 2000 200 300 40000 500 60 70 80 90 10\n", EBADMSG},
        {"cpu  2000 200 300 40000 500 60 70", EBADMSG},
        {"cpu  2000 200 300 40000 500 60 7x 80\n", EBADMSG},
        {"cpu  2000 -200 300 40000 500 60 70 80\n", EBADMSG},
        {"cpu  123456789012345678901234567890 200 300 40000 500 60 70 80\n", ERANGE},
    };
    struct apapi_reader *reader = open_estimate();

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        write_stat(cases[i].stat);
        assert_int_equal(error_of(reader), cases[i].error);
        assert_fails_with(cases[i].error,
                          "/proc/stat: ", apapi_source_estimate.open("estimate", &why));
    }
    write_stat("cpu  1100 200 300 40000 500 60 70 80 90 10\n");
    assert_about(value_of(reader, CPU_TIME), 1);
    apapi_source_estimate.close(reader);
    write_stat(USUAL);
}

TEST(time_that_goes_back_is_reported_and_not_counted)
{
    struct apapi_reader *reader = open_estimate();

    write_stat("cpu  1100 200 300 40000 500 60 70 80 90 10\n");
    assert_about(value_of(reader, CPU_TIME), 1);
    write_stat("cpu  5 0 0 0 0 0 0 0 0 0\n");
    assert_int_equal(error_of(reader), ERANGE);
    write_stat("cpu  25 0 0 0 0 0 0 0 0 0\n");
    assert_about(value_of(reader, CPU_TIME), 1.2);
    apapi_source_estimate.close(reader);
    write_stat(USUAL);
}

TEST(settings_are_needed_and_checked)
{
    static const struct {
        const char *idle_w, *core_w, *says;
    } cases[] = {
        {NULL, NULL, "idle_w and core_w are not set: "},
        {"1", NULL, "core_w is not set: "},
        {NULL, "1", "idle_w is not set: "},
        {NULL, NULL, "APAPI_ESTIMATE_IDLE_W=100 APAPI_ESTIMATE_CORE_W=8"},
        {NULL, NULL, "for job steps in apapi.conf, [estimate]; for atime"},
        {"", "1", "idle_w is '', expected watts, from 0 to 100000"},
        {"1", "ten", "core_w is 'ten', expected watts"},
        {"nan", "1", "idle_w is 'nan'"},
        {"1e400", "1", "idle_w is '1e400'"},
        {"100000.1", "1", "idle_w is '100000.1'"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        set_watts(cases[i].idle_w, cases[i].core_w);
        assert_fails_with(EINVAL, cases[i].says, apapi_source_estimate.open("estimate", &why));
    }
    set_watts("0", "10");
}

TEST(nobody_gets_it_unasked)
{
    assert_null(strstr(apapi_components_default(), "estimate"));
}

ALL_TESTS_IN(make_tree, remove_tree)

TEST(the_environment_wins_over_the_site)
{
    struct apapi_reader *reader;

    set_watts(NULL, "2.5");
    assert_int_equal(apapi_source_set("estimate", "idle_w", "1e5"), 0);
    assert_int_equal(apapi_source_set("estimate", "core_w", "99"), 0);
    reader = open_estimate();
    assert_string_equal(reader->detail, "/proc/stat: 100000 W + 2.5 W per busy core");
    apapi_source_estimate.close(reader);
    assert_int_equal(apapi_source_set("estimate", "idle_w", ""), 0);
    set_watts("0", "10");
}
