/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "apapi/record.h"
#include "record/text.h"

#define MS UINT64_C(1000000)
#define EVENTS_MAX 40

static const struct apapi_table_head stream_step = {
    .step = "17.0", .name = "stream", .user_s = NAN, .system_s = NAN, .elapsed_s = NAN};
static const struct apapi_table_head sleep_command = {
    .name = "sleep", .user_s = 2.981, .system_s = 0.012, .elapsed_s = 3.002};

/* One node's measurement on the stack; the merge copies it. */
struct node {
    struct apapi_record record;
    struct apapi_component_result components[3];
    struct apapi_event_result events[EVENTS_MAX];
};

static void init_node(struct node *node, const char *name, uint32_t index, uint32_t nodes)
{
    struct apapi_measurement *m = &node->record.measurement;

    memset(node, 0, sizeof(*node));
    snprintf(node->record.id.node, sizeof(node->record.id.node), "%s", name);
    node->record.id.node_index = index;
    node->record.id.nodes = nodes;
    node->record.complete = true;
    m->elapsed_ns = 83400 * MS;
    m->covered = 0.9991;
    m->components = node->components;
    m->component_count = 1;
    for (int i = 0; i < APAPI_DOMAINS; i++) {
        m->domains[i] = APAPI_DOMAIN_UNMEASURED;
    }
    node->components[0] = (struct apapi_component_result){
        .name = "rapl", .source = "sysfs powercap", .measured = true, .event_count = 1};
    node->components[0].events = node->events;
    node->events[0] = (struct apapi_event_result){
        .event = {.name = "rapl:::PACKAGE_ENERGY:PACKAGE0", .domain = APAPI_DOMAIN_PACKAGE},
        .incidents = {.samples = 834}};
}

static void set_domain(struct node *node, enum apapi_domain domain, double energy_j,
                       struct apapi_summary power_w)
{
    node->record.measurement.domains[domain] =
        (struct apapi_domain_result){true, energy_j, NAN, power_w, {0}};
}

static void init_measured(struct node *node, const char *name, uint32_t index, uint32_t nodes)
{
    init_node(node, name, index, nodes);
    set_domain(node, APAPI_DOMAIN_PACKAGE, 12400, (struct apapi_summary){92, 148.6, 181, NAN});
    set_domain(node, APAPI_DOMAIN_DRAM, 1020, (struct apapi_summary){9.8, 12.2, 14.1, NAN});
}

static void set_unmeasured(struct node *node, size_t place, const char *name, const char *reason)
{
    struct apapi_component_result *component = &node->components[place];

    memset(component, 0, sizeof(*component));
    snprintf(component->name, sizeof(component->name), "%s", name);
    snprintf(component->reason, sizeof(component->reason), "%s", reason);
    if (node->record.measurement.component_count <= place) {
        node->record.measurement.component_count = place + 1;
    }
    node->record.measurement.covered = place == 0 ? NAN : 0.9991;
}

static struct apapi_merge *start(void)
{
    struct apapi_merge *merge = apapi_merge_create();

    assert_non_null(merge);
    return merge;
}

static void add(struct apapi_merge *merge, const struct node *node)
{
    assert_int_equal(apapi_merge_add(merge, &node->record), 0);
}

static void assert_narrow(const char *text)
{
    char line[1024];

    for (const char *end; *text; text = end + 1) {
        end = strchr(text, '\n');
        assert_non_null(end);
        snprintf(line, sizeof(line), "%.*s", (int)(end - text), text);
        if (text_columns(line) > TEXT_COLUMNS) {
            fail_msg("too wide: %s", line);
        }
        for (const char *byte = line; *byte; byte++) {
            assert_true((unsigned char)*byte >= 0x20 && *byte != 0x7F);
        }
    }
}

/* Format and give up the merge. */
static char *finish(struct apapi_merge *merge, const struct apapi_table_head *head)
{
    char *text = NULL;

    assert_int_equal(apapi_table_format(merge, head, &text, NULL), 0);
    assert_non_null(text);
    assert_narrow(text);
    apapi_merge_destroy(merge);
    return text;
}

static void assert_table(struct apapi_merge *merge, const struct apapi_table_head *head,
                         const char *expected)
{
    char *text = finish(merge, head);

    assert_string_equal(text, expected);
    free(text);
}

static void assert_says(struct apapi_merge *merge, const struct apapi_table_head *head,
                        const char *part)
{
    char *text = finish(merge, head);

    if (!strstr(text, part)) {
        fail_msg("\"%s\" is not in\n%s", part, text);
    }
    free(text);
}

static void two_nodes(void **state)
{
    struct apapi_merge *merge = start();
    struct node node;

    (void)state;
    init_measured(&node, "n2", 1, 2);
    add(merge, &node);
    init_measured(&node, "n1", 0, 2);
    set_domain(&node, APAPI_DOMAIN_PACKAGE, 12420, (struct apapi_summary){92.2, 149, 181, NAN});
    add(merge, &node);
    assert_table(merge, &stream_step,
                 "apapi: step 17.0 \"stream\"  2 nodes  1 min 23.4 s  rapl (sysfs powercap)\n"
                 "  domain      energy      mean       min       max\n"
                 "  package   24.82 kJ   297.6 W   184.2 W   362.0 W\n"
                 "  dram       2.04 kJ    24.4 W    19.6 W    28.2 W\n"
                 "  total     26.86 kJ   322.0 W\n"
                 "  mean, min, max: the nodes' own, added up\n"
                 "  n1 13.44 kJ   n2 13.42 kJ                 "
                 "covered 99.9 %, 834 samples per node\n");
}

static void one_command_without_slurm(void **state)
{
    struct apapi_merge *merge = start();
    struct node node;

    (void)state;
    init_node(&node, "laptop", 0, 1);
    set_domain(&node, APAPI_DOMAIN_PACKAGE, 42.1234, (struct apapi_summary){NAN, 14.03, 17.5, NAN});
    set_domain(&node, APAPI_DOMAIN_CORE, 12, (struct apapi_summary){1, 4, 5.25, NAN});
    set_domain(&node, APAPI_DOMAIN_PSYS, 90, (struct apapi_summary){27, 30, 0.052, NAN});
    add(merge, &node);
    assert_table(merge, &sleep_command,
                 "apapi: \"sleep\"  3.002 s  rapl (sysfs powercap)\n"
                 "  domain      energy      mean       min        max\n"
                 "  package    42.12 J   14.03 W         -    17.50 W\n"
                 "  total      42.12 J   14.03 W\n"
                 "  (core)     12.00 J    4.00 W    1.00 W     5.25 W\n"
                 "  (psys)     90.00 J   30.00 W   27.00 W   52.00 mW\n"
                 "  in brackets: inside package or around other domains, not to be added\n"
                 "  covered 99.9 %, 834 samples\n"
                 "  elapsed 3.002 s   user 2.981 s   system 0.012 s\n");
}

static void nothing_measured(void **state)
{
    struct apapi_merge *merge = start();
    struct node node;

    (void)state;
    init_node(&node, "vm", 0, 1);
    set_unmeasured(&node, 0, "rapl",
                   "no such folder as /sys/class/powercap/intel-rapl:0 and no MSR device to be "
                   "read; a virtual machine has no meter");
    add(merge, &node);
    assert_table(merge, &sleep_command,
                 "apapi: \"sleep\"  3.002 s\n"
                 "  rapl: not measured (no such folder as /sys/class/powercap/intel-rapl:0 and no\n"
                 "    MSR device to be read; a virtual machine has no meter)\n"
                 "  elapsed 3.002 s   user 2.981 s   system 0.012 s\n");
}

static void an_empty_merge(void **state)
{
    const struct apapi_table_head nobody = {.user_s = NAN, .system_s = NAN, .elapsed_s = NAN};

    (void)state;
    assert_table(start(), &nobody, "apapi:\n");
}

static void nodes_without_a_record(void **state)
{
    struct apapi_merge *merge = start();
    struct node node;

    (void)state;
    init_measured(&node, "n1", 0, 2);
    add(merge, &node);
    assert_int_equal(apapi_merge_absent(merge, "n2", "connection lost"), 0);
    assert_table(merge, &stream_step,
                 "apapi: step 17.0 \"stream\"  2 nodes, 1 missing  1 min 23.4 s\n"
                 "    rapl (sysfs powercap)\n"
                 "  domain              energy      mean       min       max\n"
                 "  package           12.40 kJ   148.6 W   92.00 W   181.0 W\n"
                 "  dram               1.02 kJ    12.2 W    9.80 W    14.1 W\n"
                 "  total of 1 node   13.42 kJ   160.8 W\n"
                 "  n1 13.42 kJ                                        "
                 "covered 99.9 %, 834 samples\n"
                 "  n2: no record (connection lost)\n");
}

static void a_node_that_nobody_named(void **state)
{
    struct apapi_merge *merge = start();
    struct node node;

    (void)state;
    init_measured(&node, "n1", 0, 3);
    add(merge, &node);
    assert_says(merge, &stream_step, "  3 nodes, 2 missing  ");
}

static void the_same_reason_is_told_once(void **state)
{
    struct apapi_merge *merge = start();
    char *text;

    (void)state;
    for (uint32_t i = 0; i < 8; i++) {
        struct node node;
        char name[8];

        snprintf(name, sizeof(name), "n%u", i + 1);
        init_measured(&node, name, i, 10);
        set_domain(&node, APAPI_DOMAIN_PACKAGE, 12000 + i, (struct apapi_summary){1, 2, 3, NAN});
        set_unmeasured(&node, 1, "nvml", "no driver");
        if (i == 3) {
            set_unmeasured(&node, 0, "rapl", "permission denied");
        }
        node.record.complete = i != 6;
        strcpy(node.record.reason, i == 6 ? "the sampler was killed" : "");
        add(merge, &node);
    }
    assert_int_equal(apapi_merge_absent(merge, "n9", "no answer"), 0);
    assert_int_equal(apapi_merge_absent(merge, "n10", "no answer"), 0);
    text = finish(merge, &stream_step);
    assert_non_null(strstr(text, "\n  nvml: not measured (no driver)\n"
                                 "  rapl on n4: not measured (permission denied)\n"
                                 "  n[9-10]: no record (no answer)\n"
                                 "  n7: incomplete (the sampler was killed)\n"));
    assert_non_null(strstr(text, "\n  lowest n1 13.02 kJ   highest n8 13.03 kJ   "
                                 "mean 13.02 kJ, sd 0.019 %\n"));
    assert_non_null(strstr(text, "\n  total of 8 nodes "));
    free(text);
}

static void set_timeline(struct node *node, enum apapi_domain domain, float first_j, float last_j)
{
    node->record.measurement.domains[domain].timeline =
        (struct apapi_timeline){.bin_ns = 640 * MS,
                                .length_ns = 1280 * MS,
                                .count = 2,
                                .energy_j = {first_j, last_j},
                                .covered_pct = {100, 100}};
}

static void extremes_of_all_nodes_together(void **state)
{
    struct apapi_merge *merge = start();
    struct node node;

    (void)state;
    init_measured(&node, "n1", 0, 2);
    set_domain(&node, APAPI_DOMAIN_CORE, 12000, (struct apapi_summary){80, 90, 120, NAN});
    set_timeline(&node, APAPI_DOMAIN_PACKAGE, 64, 96);
    set_timeline(&node, APAPI_DOMAIN_DRAM, 6.4F, 6.4F);
    add(merge, &node);
    strcpy(node.record.id.node, "n2");
    set_timeline(&node, APAPI_DOMAIN_PACKAGE, 96, 80);
    add(merge, &node);
    assert_says(merge, &stream_step,
                "  package   24.80 kJ   297.2 W   250.0 W   275.0 W\n"
                "  dram       2.04 kJ    24.4 W    20.0 W    20.0 W\n"
                "  total     26.84 kJ   321.6 W   270.0 W   295.0 W\n"
                "  (core)    24.00 kJ   180.0 W   160.0 W   240.0 W\n"
                "  in brackets: inside package or around other domains, not to be added\n"
                "  mean: the nodes' own, added up; min, max: all nodes together, over 640.0 ms\n"
                "  min, max of (core): the nodes' own, added up\n");
}

static void what_the_collector_adds(void **state)
{
    struct apapi_table_head head = stream_step;
    struct apapi_merge *merge = start();
    char *text;

    (void)state;
    head.nodes = 4;
    head.note = "3 foreign connections refused";
    assert_int_equal(apapi_merge_expect(merge, "n[1-3]"), 0);
    assert_int_equal(apapi_merge_give_up(merge, "it did not answer in time"), 0);
    text = finish(merge, &head);
    assert_string_equal(text, "apapi: step 17.0 \"stream\"  4 nodes, 4 missing\n"
                              "  n[1-3]: no record (it did not answer in time)\n"
                              "  3 foreign connections refused\n");
    free(text);
}

static void a_domain_that_some_nodes_lack(void **state)
{
    struct apapi_merge *merge = start();
    char *text;

    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        struct node node;
        char name[8];

        snprintf(name, sizeof(name), "n%u", i);
        init_measured(&node, name, i, 4);
        node.record.measurement.domains[APAPI_DOMAIN_PACKAGE].measured = i != 2;
        add(merge, &node);
    }
    text = finish(merge, &stream_step);
    assert_non_null(strstr(text, "\n  partial total "));
    assert_non_null(strstr(text, "\n  package measured on 3 of 4 nodes\n"));
    free(text);
}

static void incidents_are_told_in_words(void **state)
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

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct apapi_merge *merge = start();
        struct node node;
        char *text;

        init_measured(&node, "n1", 0, 1);
        node.events[0].incidents = cases[i].incidents;
        node.components[0].missed = cases[i].missed;
        add(merge, &node);
        text = finish(merge, &stream_step);
        if (!strstr(text, cases[i].said)) {
            fail_msg("%s is not in\n%s", cases[i].said, text);
        }
        free(text);
    }
}

static void a_late_start_is_told(void **state)
{
    static const struct {
        uint64_t late_ns;
        const char *said;
    } cases[] = {{123 * MS, "\n  first 123 ms not covered\n"},
                 {10 * MS, NULL},
                 {12345 * MS, "\n  first 12.3 s not covered\n"}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct apapi_merge *merge = start();
        struct node node;
        char *text;

        init_measured(&node, "n1", 0, 1);
        node.record.measurement.late_ns = cases[i].late_ns;
        add(merge, &node);
        text = finish(merge, &stream_step);
        if (cases[i].said ? !strstr(text, cases[i].said) : !!strstr(text, "first")) {
            fail_msg("%s", text);
        }
        free(text);
    }
}

static void a_stuck_counter_is_told(void **state)
{
    struct apapi_merge *merge = start();
    struct node node;

    (void)state;
    init_measured(&node, "n1", 0, 1);
    strcpy(node.events[0].event.name, "rapl:::PSYS_ENERGY:PACKAGE0");
    node.events[0].stuck = true;
    add(merge, &node);
    assert_says(merge, &stream_step,
                "\n  rapl:::PSYS_ENERGY:PACKAGE0: counter never moved, not counted\n");
}

static void spans_between_nodes_are_shown(void **state)
{
    struct apapi_merge *merge = start();
    struct node node;

    (void)state;
    init_measured(&node, "n1", 0, 2);
    node.record.measurement.covered = 0.99999;
    add(merge, &node);
    strcpy(node.record.id.node, "n2");
    node.events[0].incidents.samples = 801;
    node.record.measurement.covered = 0.951;
    add(merge, &node);
    assert_says(merge, &stream_step, "\n  covered 95.1 to 99.9 %, 801 to 834 samples per node\n");
}

static void set_event(struct node *node, size_t place, const char *name, const char *unit)
{
    struct apapi_event_result *result = &node->events[place];

    memset(result, 0, sizeof(*result));
    snprintf(result->event.name, sizeof(result->event.name), "%s", name);
    snprintf(result->event.unit, sizeof(result->event.unit), "%s", unit);
    result->event.kind = APAPI_KIND_COUNT;
    result->covered_ns = 1000 * MS;
    result->total = NAN;
    result->summary = (struct apapi_summary){40, 45.25, 61, NAN};
    result->incidents.samples = 834;
    if (node->components[0].event_count <= place) {
        node->components[0].event_count = place + 1;
    }
}

static void other_events_have_a_line_each(void **state)
{
    struct apapi_merge *merge = start();
    struct node node;

    (void)state;
    init_measured(&node, "n1", 0, 2);
    set_event(&node, 1, "coretemp:::hwmon0:temp1_input", "C");
    node.events[1].event.kind = APAPI_KIND_TEMPERATURE;
    node.events[1].event.domain = APAPI_DOMAIN_PACKAGE;
    set_event(&node, 2, "net:::a_very_long_interface_name_indeed:rx:packets", "packets");
    node.events[2].event.accumulates = true;
    node.events[2].total = 1048576;
    set_event(&node, 3, "ipmi:::FAN \x1B[1m", "W");
    node.events[3].event.kind = APAPI_KIND_POWER;
    add(merge, &node);
    strcpy(node.record.id.node, "n2");
    node.record.id.node_index = 1;
    node.events[1].summary = (struct apapi_summary){38.5, 51.25, 70, NAN};
    node.events[1].covered_ns = 2000 * MS;
    node.events[3].summary = (struct apapi_summary){NAN, NAN, NAN, NAN};
    add(merge, &node);
    assert_says(
        merge, &stream_step,
        "  event                                         mean           min           max\n"
        "  coretemp:::hwmon0:temp1_input               49.2 C        38.5 C        70.0 C\n"
        "  net:::a_very_...me_indeed:rx:packets                     total 2097152 packets\n"
        "  ipmi:::FAN ?[1m                            45.25 W       40.00 W       61.00 W\n");
}

static void not_all_of_many_events_are_shown(void **state)
{
    struct apapi_merge *merge = start();
    struct node node;
    char *text;

    (void)state;
    init_measured(&node, "n1", 0, 1);
    for (size_t i = 1; i < EVENTS_MAX; i++) {
        char name[32];

        snprintf(name, sizeof(name), "x:::e%zu", i);
        set_event(&node, i, name, "%");
    }
    add(merge, &node);
    text = finish(merge, &stream_step);
    assert_non_null(strstr(text, "  x:::e20 "));
    assert_non_null(strstr(text, "\n  ... and 19 more (see the record)\n"));
    free(text);
}

static void hostile_texts_stay_harmless(void **state)
{
    struct apapi_table_head head = {
        .step = "17.0\x1B[2J", .user_s = 1, .system_s = 2, .elapsed_s = 3};
    struct apapi_merge *merge = start();
    char name[400];
    struct node node;
    char *text;

    (void)state;
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
    add(merge, &node);
    assert_int_equal(apapi_merge_absent(merge, "x\x1B[31m", "bad\x7F\x1B"), 0);
    text = finish(merge, &head);
    assert_non_null(strstr(text, "apapi: step 17.0?[2J \"?]0;???wwwwwwwwwwwwwwwwwwwwww...\""));
    assert_non_null(strstr(text, "  x?[31m: no record (bad?"
                                 "?)\n"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_nodes),
        cmocka_unit_test(one_command_without_slurm),
        cmocka_unit_test(nothing_measured),
        cmocka_unit_test(an_empty_merge),
        cmocka_unit_test(nodes_without_a_record),
        cmocka_unit_test(a_node_that_nobody_named),
        cmocka_unit_test(the_same_reason_is_told_once),
        cmocka_unit_test(extremes_of_all_nodes_together),
        cmocka_unit_test(what_the_collector_adds),
        cmocka_unit_test(a_domain_that_some_nodes_lack),
        cmocka_unit_test(incidents_are_told_in_words),
        cmocka_unit_test(a_late_start_is_told),
        cmocka_unit_test(a_stuck_counter_is_told),
        cmocka_unit_test(spans_between_nodes_are_shown),
        cmocka_unit_test(other_events_have_a_line_each),
        cmocka_unit_test(not_all_of_many_events_are_shown),
        cmocka_unit_test(hostile_texts_stay_harmless),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
