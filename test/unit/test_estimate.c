/* SPDX-License-Identifier: BSD-3-Clause */
/* Energy that is estimated from CPU time: the source over a file, and what becomes of it. */
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
    struct apapi_error err = {""};
    struct apapi_reader *reader = apapi_source_estimate.open("estimate", &err);

    if (!reader) {
        fail_msg("%s", err.text);
    }
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

/* Guests are in user and nice already; idle, iowait and steal are no work of this machine. */
TEST(only_busy_time_counts)
{
    static const struct {
        const char *stat;
        double busy_s;
    } cases[] = {
        {USUAL, 0},
        {"cpu  1100 200 300 40000 500 60 70 80 90 10\n", 1},
        {"cpu  1000 300 300 40000 500 60 70 80 90 10\n", 1},
        {"cpu  1000 200 400 40000 500 60 70 80 90 10\n", 1},
        {"cpu  1000 200 300 40100 500 60 70 80 90 10\n", 0},
        {"cpu  1000 200 300 40000 600 60 70 80 90 10\n", 0},
        {"cpu  1000 200 300 40000 500 160 70 80 90 10\n", 1},
        {"cpu  1000 200 300 40000 500 60 170 80 90 10\n", 1},
        {"cpu  1000 200 300 40000 500 60 70 180 90 10\n", 0},
        {"cpu  1000 200 300 40000 500 60 70 80 190 110\n", 0},
        {"cpu  1025 200 300 40000 500 60 70\ncpu0 1\n", 0.25}, /* an older kernel */
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct apapi_reader *reader;

        write_stat(USUAL);
        reader = open_estimate();
        write_stat(cases[i].stat);
        assert_about(value_of(reader, CPU_TIME), cases[i].busy_s);
        assert_about(value_of(reader, ENERGY), 10 * cases[i].busy_s);
        apapi_source_estimate.close(reader);
    }
    write_stat(USUAL);
}

TEST(what_is_no_cpu_time_is_refused)
{
    static const struct {
        const char *stat;
        int error;
    } cases[] = {
        {"", EBADMSG},
        {"\n", EBADMSG},
        {"intr 1 2 3 4 5 6 7\n", EBADMSG},
        {"cpu0 2000 200 300 40000 500 60 70 80 90 10\n", EBADMSG},
        {"cpu  2000 200 300 40000 500 60\n", EBADMSG},
        {"cpu  2000 200 300 40000 500 60 70", EBADMSG},
        {"cpu  2000 200 300 40000 500 60 7x 80\n", EBADMSG},
        {"cpu  2000 -200 300 40000 500 60 70 80\n", EBADMSG},
        {"cpu  2000 0x10 300 40000 500 60 70 80\n", EBADMSG},
        {"cpu  123456789012345678901234567890 200 300 40000 500 60 70 80\n", ERANGE},
        {"cpu  18446744073709551615 200 300 40000 500 60 70 80\n", ERANGE},
    };
    struct apapi_reader *reader = open_estimate();
    struct apapi_error err;

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        write_stat(cases[i].stat);
        assert_int_equal(error_of(reader), cases[i].error);
        assert_null(apapi_source_estimate.open("estimate", &err));
        assert_int_equal(errno, cases[i].error);
        assert_non_null(strstr(err.text, "/proc/stat: "));
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
        {"1", "10W", "core_w is '10W'"},
        {"1", "1 ", "core_w is '1 '"},
        {" 1", "1", "idle_w is ' 1'"},
        {"-1", "1", "idle_w is '-1'"},
        {"nan", "1", "idle_w is 'nan'"},
        {"inf", "1", "idle_w is 'inf'"},
        {"1e400", "1", "idle_w is '1e400'"},
        {"0x10", "1", "idle_w is '0x10'"},
        {"1,5", "1", "idle_w is '1,5'"},
        {"100000.1", "1", "idle_w is '100000.1'"},
        {"1", "1e6", "core_w is '1e6'"},
    };
    struct apapi_error err;

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        set_watts(cases[i].idle_w, cases[i].core_w);
        assert_null(apapi_source_estimate.open("estimate", &err));
        assert_int_equal(errno, EINVAL);
        if (!strstr(err.text, cases[i].says)) {
            fail_msg("\"%s\" is not in \"%s\"", cases[i].says, err.text);
        }
    }
    set_watts("0", "10");
}

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

TEST(a_missing_file)
{
    char path[128], away[160];
    struct apapi_error err;

    snprintf(path, sizeof path, "%s/proc/stat", tree.root);
    snprintf(away, sizeof away, "%s.away", path);
    assert_int_equal(rename(path, away), 0);
    assert_null(apapi_source_estimate.open("estimate", &err));
    assert_int_equal(errno, ENOENT);
    assert_non_null(strstr(err.text, "/proc/stat: No such file or directory"));
    assert_int_equal(rename(away, path), 0);
}

static void measure(const char *components, const struct apapi_event_rules *rules,
                    struct apapi_measurement *m)
{
    const struct apapi_session_config config = {.components = components, .rules = rules};
    struct apapi_error err = {""};
    struct apapi_session *session;

    write_stat(USUAL);
    session = apapi_session_create(&config, &err);
    if (!session) {
        fail_msg("%s", err.text);
    }
    powercap_tree_energy(&tree, "intel-rapl:0", 0);
    assert_int_equal(apapi_session_start(session, 0, NULL), 0);
    powercap_tree_energy(&tree, "intel-rapl:0", 1); /* it does not stand still */
    usleep(20000);
    write_stat("cpu  1300 200 300 40000 500 60 70 80 90 10\n");
    powercap_tree_energy(&tree, "intel-rapl:0", 5000000);
    assert_int_equal(apapi_session_stop(session, NULL), 0);
    assert_int_equal(apapi_session_measurement(session, m, NULL), 0);
    apapi_session_destroy(session);
}

TEST(nothing_estimated_is_added_to_what_is_measured)
{
    static const char *const lists[] = {"rapl:estimate", "estimate:rapl"};
    static const char text[] =
        "estimate:::*,APAPI_OP1_NOP,APAPI_STAT_ACC,APAPI_STAT_NO,auto,energy,"
        "J,1,-,-,1,energy,package\n";
    struct apapi_event_rules rules = {
        .user_ops = apapi_eventops_parse("text", text, strlen(text), NULL, NULL)};

    assert_non_null(rules.user_ops);
    powercap_tree_zone(&tree, "intel-rapl:0", "package-0", 262143328850);
    for (size_t i = 0; i < 2; i++) {
        struct apapi_measurement m;

        measure(lists[i], &rules, &m);
        assert_about(m.components[1 - i].events[ENERGY].total, 30);
        assert_about(m.components[i].events[0].total, 5);
        assert_about(apapi_measurement_total_j(&m), 5);
        assert_about(m.domains[APAPI_DOMAIN_PACKAGE].energy_j, 5);
        assert_false(m.domains[APAPI_DOMAIN_NODE].measured);
        apapi_measurement_clear(&m);
    }
    apapi_event_rules_clear(&rules);
}

static char *table_of(const struct apapi_record *records, size_t count)
{
    const struct apapi_table_head head = {.user_s = NAN, .system_s = NAN, .elapsed_s = 1};
    struct apapi_merge *merge = apapi_merge_create();
    char *text = NULL;

    assert_non_null(merge);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(apapi_merge_add(merge, &records[i]), 0);
    }
    assert_int_equal(apapi_table_format(merge, &head, &text, NULL), 0);
    apapi_merge_destroy(merge);
    return text;
}

static void assert_says(const char *text, const char *part, bool wanted)
{
    if (!strstr(text, part) == wanted) {
        fail_msg("\"%s\" is %sin\n%s", part, wanted ? "not " : "", text);
    }
}

TEST(a_table_marks_it_and_has_no_total)
{
    struct apapi_record records[2] = {{.id = {.node = "n1", .nodes = 2}, .complete = true},
                                      {.id = {.node = "n2", .nodes = 2}, .complete = true}};
    char *text;

    measure("estimate", NULL, &records[0].measurement);
    measure("estimate", NULL, &records[1].measurement);
    text = table_of(records, 2);
    assert_says(text, "apapi: 2 nodes  1.000 s  estimate (/proc/stat: 0 W + 10 W per busy core)\n",
                true);
    assert_says(text,
                "\n  estimate:::NODE_ENERGY (estimated)            "
                "                   total 60.00 J\n",
                true);
    assert_says(text, "\n  estimate:::CPU_TIME (estimated)  ", true);
    assert_says(text, "domain", false);
    assert_says(text, "\n  total ", false);
    free(text);
    /* an event of the same name that was measured is another one */
    records[1].measurement.components[0].events[ENERGY].event.estimated = false;
    text = table_of(records, 2);
    assert_says(text,
                "\n  estimate:::NODE_ENERGY (estimated)            "
                "                   total 30.00 J\n",
                true);
    assert_says(text,
                "\n  estimate:::NODE_ENERGY                        "
                "                   total 30.00 J\n",
                true);
    free(text);
    apapi_measurement_clear(&records[0].measurement);
    apapi_measurement_clear(&records[1].measurement);
}

TEST(nobody_gets_it_unasked)
{
    assert_null(strstr(apapi_components_default(), "estimate"));
}

ALL_TESTS_IN(make_tree, remove_tree)
