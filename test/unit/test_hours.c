/* SPDX-License-Identifier: BSD-3-Clause */
/* Which lines of nodes' own records are returned from which files. */
#include "record/hour.h"
#include "unit/store_fixture.h"

#define S INT64_C(1000000000)
#define HOUR(n, rest)                                                                              \
    "{\"apapi\":1,\"type\":\"hour\",\"node\":\"n1\",\"start\":\"2026-11-21T" n                     \
    ":00:00Z\",\"end\":\"2026-11-21T" n ":59:00Z\",\"measured_s\":3540" rest "}\n"
#define FULL                                                                                       \
    ",\"cluster\":\"c\",\"idle_w\":112.5,\"steps\":17,\"method\":\"cpu-time\",\"domains\":{"       \
    "\"package\":{\"energy_j\":10,\"steps_j\":7,\"idle_j\":2.5,\"unattributed_j\":0.5},"           \
    "\"antimatter\":{\"energy_j\":1}},\"total\":{\"energy_j\":10},"                                \
    "\"node_meter\":{\"energy_j\":15},\"gaps\":[{\"start\":\"2026-11-21T10:10:00Z\","              \
    "\"elapsed_s\":60,\"reason\":\"reboot\"}],\"gaps_total\":3,\"resets\":2"

struct heard {
    size_t hours, problems;
    struct hour last;
    char reasons[4096];
};

static int hear_hour(const struct hour *hour, void *context)
{
    struct heard *heard = context;

    heard->last = *hour;
    heard->hours++;
    return 0;
}

static void hear_problem(const struct apapi_scan_problem *problem, void *context)
{
    struct heard *heard = context;
    size_t used = strlen(heard->reasons);

    heard->problems++;
    snprintf(heard->reasons + used, sizeof heard->reasons - used, "%s:%zu: %s\n",
             strrchr(problem->file, '/') + 1, problem->line, problem->reason);
}

static struct apapi_scan_counts hear(const struct apapi_scan_filter *filter, struct heard *heard)
{
    const struct hours_sink sink = {.hour = hear_hour, .problem = hear_problem, .context = heard};
    struct apapi_scan_counts counts;

    assert_int_equal(hours_read(store, filter, &sink, &counts, NULL), 0);
    return counts;
}

#define PREPARED(name) TEST_WITH(name, make_store, remove_base)

PREPARED(a_line_is_read_whole)
{
    struct heard heard = {0};

    make_day();
    write_file("acct/2026-11-21/n1.hours", HOUR("10", FULL));
    assert_int_equal(hear(&(struct apapi_scan_filter){0}, &heard).records, 1);
    assert_string_equal(heard.last.cluster, "c");
    assert_string_equal(heard.last.method, "cpu-time");
    assert_int_equal(heard.last.start_ns, NOON_NS - 7200 * S);
    assert_int_equal(heard.last.end_ns, NOON_NS - 3660 * S);
    assert_true(heard.last.idle_w == 112.5 && heard.last.steps == 17 && heard.last.resets == 2);
    assert_true(heard.last.domains[APAPI_DOMAIN_PACKAGE].energy_j == 10);
    assert_true(heard.last.domains[APAPI_DOMAIN_PACKAGE].steps_j == 7);
    assert_true(heard.last.domains[APAPI_DOMAIN_PACKAGE].idle_j == 2.5);
    assert_true(heard.last.domains[APAPI_DOMAIN_PACKAGE].unattributed_j == 0.5);
    assert_true(heard.last.total.energy_j == 10 && isnan(heard.last.total.steps_j));
    assert_true(heard.last.node_meter.energy_j == 15);
    assert_true(isnan(heard.last.domains[APAPI_DOMAIN_DRAM].energy_j));
    assert_true(heard.last.gap_count == 1 && heard.last.gap_total == 3);
    assert_string_equal(heard.last.gaps[0].reason, "reboot");
    assert_true(heard.last.gaps[0].elapsed_s == 60);
}

/* Its hour may end at midnight, and its line then be written into the next day's file. */
PREPARED(a_line_in_the_next_days_file_is_found)
{
    struct heard heard = {0};

    make_day();
    assert_int_equal(mkdir(in_base("acct/2026-11-22"), 0700), 0);
    write_file("acct/2026-11-22/n1.hours", HOUR("23", ""));
    hear(&(struct apapi_scan_filter){.to_unix_ns = NOON_NS + 12 * 3600 * S}, &heard);
    assert_int_equal(heard.hours, 1);
}

PREPARED(bad_lines_are_named_and_skipped)
{
    static const char *const lines[] = {
        "nonsense\n",
        "{\"apapi\":2,\"type\":\"hour\"}\n",
        "{\"apapi\":1}\n",
        "{\"apapi\":1,\"type\":\"hour\",\"node\":\"n1\"}\n",
        HOUR("10", ",\"total\":{\"energy_j\":-1}"),
        HOUR("10", ",\"domains\":{\"dram\":{\"idle_j\":\"x\"}}"),
        HOUR("10", ",\"gaps\":[{}]"),
        HOUR("10", ",\"steps\":-1"),
        "{\"apapi\":1,\"type\":\"hour\",\"node\":\"n1\",\"start\":\"2026-11-21T10:00:00Z\","
        "\"end\":\"2026-11-21T11:00:00Z\",\"measured_s\":3700}\n",
        "{\"apapi\":1,\"type\":\"hour\",\"node\":\"n1\",\"start\":\"2026-11-21T10:00:00Z\","
        "\"end\":\"2026-11-21T09:00:00Z\",\"measured_s\":0}\n",
        "{\"apapi\":1,\"type\":\"day\",\"node\":\"n1\"}\n", /* not bad */
        HOUR("10", ""),                                     /* not bad */
        HOUR("10", ",\"idle_w\":-1"),
        "{\"apapi\":1,\"type\":\"ho"};
    char text[8192] = "";
    struct heard heard = {0};
    struct apapi_scan_counts counts;

    make_day();
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        strcat(text, lines[i]);
    }
    write_file("acct/2026-11-21/n1.hours", text);
    counts = hear(&(struct apapi_scan_filter){0}, &heard);
    assert_int_equal(counts.records, 1);
    assert_int_equal(counts.skipped, 12);
    assert_int_equal(counts.newer, 1);
    assert_int_equal(heard.problems, 12);
    assert_contains(heard.reasons, "n1.hours:1: ");
    assert_contains(heard.reasons, "n1.hours:2: version 2 of a node's record");
    assert_contains(heard.reasons, "n1.hours:3: type: must be");
    assert_contains(heard.reasons, "n1.hours:4: record: start: is missing");
    assert_contains(heard.reasons, "n1.hours:5: record: total.energy_j: below 0");
    assert_contains(heard.reasons, "n1.hours:6: record: domains.dram.idle_j: not a number");
    assert_contains(heard.reasons, "n1.hours:7: record: gaps[0].start: is missing");
    assert_contains(heard.reasons, "n1.hours:9: record: measured_s: longer than the time");
    assert_contains(heard.reasons, "n1.hours:10: record: end: must be after start");
    assert_contains(heard.reasons, "n1.hours:14: the end of the line is missing");
}

PREPARED(a_filter_chooses)
{
    static const struct {
        struct apapi_scan_filter filter;
        size_t hours;
    } cases[] = {{{0}, 3},
                 {{.nodes = "n2"}, 0},
                 {{.from_unix_ns = NOON_NS - 7199 * S}, 2},
                 {{.to_unix_ns = NOON_NS}, 2},
                 {{.to_unix_ns = NOON_NS + 1}, 3},
                 {{.from_unix_ns = NOON_NS + 12 * 3600 * S}, 0}};

    make_day();
    write_file("acct/2026-11-21/n1.hours", HOUR("10", "") HOUR("11", "") HOUR("12", ""));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct heard heard = {0};

        fail_if(hear(&cases[i].filter, &heard).records != cases[i].hours, "case %zu: %zu, not %zu",
                i, heard.hours, cases[i].hours);
        assert_int_equal(heard.problems, 0);
    }
}
