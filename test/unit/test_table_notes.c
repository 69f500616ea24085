/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines below the domains: other events, and faults. */
#include "unit/table_fixture.h"

TABLE(what_the_collector_adds)
{
    struct apapi_table_head head = stream_step;

    head.nodes = 4;
    head.note = "3 foreign connections refused";
    assert_int_equal(apapi_merge_expect(merge, "n[1-3]"), 0);
    assert_int_equal(apapi_merge_give_up(merge, "it did not answer in time"), 0);
    finish(&head);
    assert_string_equal(text, "apapi: step 17.0 \"stream\"  4 nodes, 4 missing\n"
                              "  n[1-3]: no record (it did not answer in time)\n"
                              "  3 foreign connections refused\n");
}

TABLE(incidents_are_reported_in_words)
{
    static const struct {
        struct apapi_incidents incidents;
        uint64_t missed;
        const char *said;
    } cases[] = {
        {{.samples = 834, .failed = 3, .resets = 1, .refused = 2, .gaps = 1},
         4,
         "\n  3 readings failed, 2 refused, 1 reset, 1 gap, 4 ticks missed\n"},
        {{.samples = 1, .failed = 1}, 0, "\n  covered 99.9 %, 1 sample\n  1 reading failed\n"},
        {{.samples = 5, .wraps = 7}, 0, "\n  covered 99.9 %, 5 samples\n"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct node node;

        init_measured(&node, "n1", 0, 1);
        node.events[0].incidents = cases[i].incidents;
        node.components[0].missed = cases[i].missed;
        add(&node);
        assert_says(&stream_step, cases[i].said);
    }
}

/* The total is 13 420 J. */
TABLE(a_possible_error_is_reported_where_the_uncertainty_is_large)
{
    static const struct {
        struct apapi_incidents incidents;
        double uncertainty_j;
        const char *said; /* NULL: nothing */
    } cases[] = {
        {{.samples = 3, .rough = 1},
         680,
         "\n  short run, 4 readings: errors above 5 % are possible\n"},
        {{.samples = 60, .rough = 2}, 680, "\n  61 readings: errors above 5 % are possible\n"},
        {{.samples = 3, .rough = 1}, 660, NULL},
        {{.samples = 3}, 680, NULL},
        {{.samples = 3, .rough = 1}, NAN, NULL},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct node node;

        init_measured(&node, "n1", 0, 1);
        node.events[0].incidents = cases[i].incidents;
        node.record.measurement.domains[APAPI_DOMAIN_PACKAGE].uncertainty_j =
            cases[i].uncertainty_j;
        node.record.measurement.domains[APAPI_DOMAIN_DRAM].uncertainty_j = 0;
        add(&node);
        finish(&stream_step);
        if (cases[i].said ? !strstr(text, cases[i].said) : !!strstr(text, "possible")) {
            fail_msg("case %zu: %s", i, text);
        }
    }
}

TABLE(a_record_that_could_not_be_written_is_reported)
{
    struct node node;

    init_measured(&node, "n1", 0, 1);
    strcpy(node.record.unwritten, "/acct: No space left on device");
    add(&node);
    assert_says(&stream_step,
                "\n  n1: not in the accounting files (/acct: No space left on device)\n");
}

TABLE(crossings_are_reported)
{
    const int64_t start_ns = INT64_C(1795260001000000000);
    struct apapi_crossing crossings[] = {
        {"total every 1kJ", start_ns + 1203 * (int64_t)MS, 1000, "J", 1, "log", ""},
        {"node > 600W", start_ns + 2000 * (int64_t)MS, 612.5, "W", 1, "signal=USR1",
         "to 2 processes"},
        {"total every 1kJ", start_ns + 3500 * (int64_t)MS, 3000, "J", 3, "log", ""}};
    struct node node;

    init_measured(&node, "n1", 0, 1);
    node.record.measurement.start_unix_ns = start_ns;
    node.record.crossing = crossings;
    node.record.crossing_count = node.record.crossings = COUNT_OF(crossings);
    add(&node);
    assert_says(&stream_step,
                "\n  node > 600W: crossed (at 2.000 s with 612.5 W; to 2 processes)\n"
                "  total every 1kJ: crossed (3 times, first at 1.203 s, last at 3.500 s with\n"
                "    3.000 kJ; log)\n");
}

TABLE(a_late_start_is_reported)
{
    static const struct {
        uint64_t late_ns;
        const char *said;
    } cases[] = {{123 * MS, "\n  first 123 ms not covered\n"},
                 {10 * MS, NULL},
                 {12345 * MS, "\n  first 12.3 s not covered\n"}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct node node;

        init_measured(&node, "n1", 0, 1);
        node.record.measurement.late_ns = cases[i].late_ns;
        add(&node);
        finish(&stream_step);
        if (cases[i].said ? !strstr(text, cases[i].said) : !!strstr(text, "first")) {
            fail_msg("%s", text);
        }
    }
}

TABLE(spans_between_nodes_are_shown)
{
    struct node node;

    init_measured(&node, "n1", 0, 2);
    node.record.measurement.covered = 0.99999;
    add(&node);
    strcpy(node.record.id.node, "n2");
    node.events[0].incidents.samples = 801;
    node.record.measurement.covered = 0.951;
    add(&node);
    assert_says(&stream_step, "\n  covered 95.1 to 99.9 %, 801 to 834 samples per node\n");
}

static void set_event(struct node *node, size_t index, const char *name, const char *unit)
{
    struct apapi_event_result *result = &node->events[index];

    memset(result, 0, sizeof(*result));
    snprintf(result->event.name, sizeof(result->event.name), "%s", name);
    snprintf(result->event.unit, sizeof(result->event.unit), "%s", unit);
    result->event.kind = APAPI_KIND_COUNT;
    result->covered_ns = 1000 * MS;
    result->total = NAN;
    result->summary = (struct apapi_summary){40, 45.25, 61, NAN};
    result->incidents.samples = 834;
    if (node->components[0].event_count <= index) {
        node->components[0].event_count = index + 1;
    }
}

TABLE(other_events_have_a_line_each)
{
    struct node node;

    init_measured(&node, "n1", 0, 2);
    set_event(&node, 1, "coretemp:::hwmon0:temp1_input", "C");
    node.events[1].event.kind = APAPI_KIND_TEMPERATURE;
    node.events[1].event.domain = APAPI_DOMAIN_PACKAGE;
    set_event(&node, 2, "net:::a_very_long_interface_name_indeed:rx:packets", "packets");
    node.events[2].event.accumulates = true;
    node.events[2].total = 1048576;
    set_event(&node, 3, "ipmi:::FAN \x1B[1m", "W");
    node.events[3].event.kind = APAPI_KIND_POWER;
    add(&node);
    strcpy(node.record.id.node, "n2");
    node.record.id.node_index = 1;
    node.events[1].summary = (struct apapi_summary){38.5, 51.25, 70, NAN};
    node.events[1].covered_ns = 2000 * MS;
    node.events[3].summary = (struct apapi_summary){NAN, NAN, NAN, NAN};
    add(&node);
    assert_says(
        &stream_step,
        "  event                                         mean           min           max\n"
        "  coretemp:::hwmon0:temp1_input               49.2 C        38.5 C        70.0 C\n"
        "  net:::a_very_...me_indeed:rx:packets                     total 2097152 packets\n"
        "  ipmi:::FAN ?[1m                            45.25 W       40.00 W       61.00 W\n");
}

TABLE(not_all_of_many_events_are_shown)
{
    struct node node;

    init_measured(&node, "n1", 0, 1);
    for (size_t i = 1; i < EVENTS_MAX; i++) {
        char name[32];

        snprintf(name, sizeof(name), "x:::e%zu", i);
        set_event(&node, i, name, "%");
    }
    add(&node);
    finish(&stream_step);
    assert_text("  x:::e20 ");
    assert_text("\n  ... and 19 more (see the record)\n");
}

TABLE(hostile_texts_stay_harmless)
{
    struct apapi_table_head head = {
        .step = "17.0\x1B[2J", .user_s = 1, .system_s = 2, .elapsed_s = 3};
    char name[400];
    struct node node;

    memset(name, 'w', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    memcpy(name, "\x1B]0;\xC2\x9B\xFF\n", 8);
    head.name = name;
    init_node(&node, "", 0, UINT32_MAX - 1);
    memset(node.record.id.node, 'n', sizeof(node.record.id.node) - 1);
    node.record.id.node[0] = '\x1B';
    memset(node.components[0].source, '\r', sizeof(node.components[0].source) - 1);
    set_unmeasured(&node, 1, "a\nb", "");
    memset(node.components[1].reason, 'r', sizeof(node.components[1].reason) - 1);
    set_domain(&node, APAPI_DOMAIN_PACKAGE, 1e300,
               (struct apapi_summary){-1e300, 1e-300, 1e18, NAN});
    set_event(&node, 1, name, "uuuuuuuuuuuuuuu");
    node.events[1].summary = (struct apapi_summary){-1e300, 1e300, 1e300, NAN};
    add(&node);
    assert_int_equal(apapi_merge_absent(merge, "x\x1B[31m", "bad\x7F\x1B"), 0);
    finish(&head);
    assert_text("apapi: step 17.0?[2J \"?]0;???wwwwwwwwwwwwwwwwwwwwww...\"");
    assert_text("  x?[31m: no record (bad?"
                "?)\n");
}
