/* SPDX-License-Identifier: BSD-3-Clause */
#include "apapi/record.h"
#include "base/text.h"
#include "measure/domain.h"
#include "unit/unit.h"

#define MS UINT64_C(1000000)
#define EVENTS_MAX 40

static const struct apapi_table_head stream_step = {
    .step = "17.0", .name = "stream", .user_s = NAN, .system_s = NAN, .elapsed_s = NAN};

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
    unmeasure_domains(m->domains);
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
    node->record.measurement.domains[domain] = (struct apapi_domain_result){
        .measured = true, .energy_j = energy_j, .uncertainty_j = NAN, .power_w = power_w};
}

static void init_measured(struct node *node, const char *name, uint32_t index, uint32_t nodes)
{
    init_node(node, name, index, nodes);
    set_domain(node, APAPI_DOMAIN_PACKAGE, 12400, (struct apapi_summary){92, 148.6, 181, NAN});
    set_domain(node, APAPI_DOMAIN_DRAM, 1020, (struct apapi_summary){9.8, 12.2, 14.1, NAN});
}

static void set_unmeasured(struct node *node, size_t index, const char *name, const char *reason)
{
    struct apapi_component_result *component = &node->components[index];

    memset(component, 0, sizeof(*component));
    snprintf(component->name, sizeof(component->name), "%s", name);
    snprintf(component->reason, sizeof(component->reason), "%s", reason);
    if (node->record.measurement.component_count <= index) {
        node->record.measurement.component_count = index + 1;
    }
    node->record.measurement.covered = index == 0 ? NAN : 0.9991;
}

static struct apapi_merge *merge; /* of the test */
static char *text;                /* the latest table */

static void start(void)
{
    merge = apapi_merge_create();
    assert_non_null(merge);
}

static void drop(void)
{
    apapi_merge_destroy(merge);
    free(text);
    text = NULL;
}

/* A test with an empty merge. */
#define TABLE(name) TEST_WITH(name, start, drop)

static void add(const struct node *node)
{
    assert_int_equal(apapi_merge_add(merge, &node->record), 0);
}

static void assert_narrow(const char *table)
{
    char line[1024];

    for (const char *end; *table; table = end + 1) {
        end = strchr(table, '\n');
        assert_non_null(end);
        snprintf(line, sizeof(line), "%.*s", (int)(end - table), table);
        fail_if(text_columns(line) > TEXT_COLUMNS, "too wide: %s", line);
        for (const char *byte = line; *byte; byte++) {
            assert_true((unsigned char)*byte >= 0x20 && *byte != 0x7F);
        }
    }
}

/* Format the merge into `text`; the next one is empty. */
static void finish(const struct apapi_table_head *head)
{
    free(text);
    text = NULL;
    assert_int_equal(apapi_table_format(merge, head, &text, NULL), 0);
    assert_non_null(text);
    assert_narrow(text);
    apapi_merge_destroy(merge);
    start();
}

static void assert_text(const char *part)
{
    assert_contains(text, part);
}

static void assert_says(const struct apapi_table_head *head, const char *part)
{
    finish(head);
    assert_text(part);
}
/* The head of the table, its domains and its nodes. */

/* A node's uncertainty is its own, and not its part of that of all. */
TABLE(each_node_has_its_uncertainty)
{
    static const double uncertainties_j[] = {1240, 6.2};

    for (uint32_t i = 0; i < 2; i++) {
        struct node node;

        init_node(&node, i ? "n2" : "n1", i, 2);
        set_domain(&node, APAPI_DOMAIN_PACKAGE, 12400, (struct apapi_summary){1, 2, 3, NAN});
        node.record.measurement.domains[APAPI_DOMAIN_PACKAGE].uncertainty_j = uncertainties_j[i];
        add(&node);
    }
    finish(&stream_step);
    assert_text("\n  n1 12.4 kJ \302\26110 %   n2 12.40 kJ \302\2610.05 %");
}

TABLE(the_same_reason_is_reported_once)
{
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
        add(&node);
    }
    assert_int_equal(apapi_merge_absent(merge, "n9", "no answer"), 0);
    assert_int_equal(apapi_merge_absent(merge, "n10", "no answer"), 0);
    finish(&stream_step);
    assert_text("\n  nvml: not measured (no driver)\n"
                "  rapl on n4: not measured (permission denied)\n"
                "  n[9-10]: no record (no answer)\n"
                "  n7: incomplete (the sampler was killed)\n");
    assert_text("\n  lowest n1 13.02 kJ   highest n8 13.03 kJ   "
                "mean 13.02 kJ, sd 0.019 %\n");
    assert_text("\n  total of 8 nodes ");
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

TABLE(extremes_of_all_nodes_together)
{
    struct node node;

    init_measured(&node, "n1", 0, 2);
    set_domain(&node, APAPI_DOMAIN_PACKAGE, 10842, (struct apapi_summary){92, 130, 181, NAN});
    set_domain(&node, APAPI_DOMAIN_DRAM, 834, (struct apapi_summary){9.8, 10, 14.1, NAN});
    set_domain(&node, APAPI_DOMAIN_CORE, 7506, (struct apapi_summary){80, 90, 120, NAN});
    set_timeline(&node, APAPI_DOMAIN_PACKAGE, 64, 96);
    set_timeline(&node, APAPI_DOMAIN_DRAM, 6.4F, 6.4F);
    add(&node);
    strcpy(node.record.id.node, "n2");
    set_timeline(&node, APAPI_DOMAIN_PACKAGE, 96, 80);
    add(&node);
    assert_says(&stream_step,
                "  package   21.68 kJ   260.0 W   250.0 W   275.0 W\n"
                "  dram       1.67 kJ    20.0 W    20.0 W    20.0 W\n"
                "  total     23.35 kJ   280.0 W   270.0 W   295.0 W\n"
                "  (core)    15.01 kJ   180.0 W   160.0 W   240.0 W\n"
                "  in brackets: inside package or around other domains, not to be added\n"
                "  mean: energy by time; min, max: all nodes together, over 640.0 ms\n"
                "  min, max of (core): the nodes' own, added up\n");
}

static void cover(struct node *node, enum apapi_domain domain, double covered, double rest_j)
{
    node->record.measurement.domains[domain].covered = covered;
    node->record.measurement.domains[domain].rest_j = rest_j;
}

TABLE(energy_of_a_part_of_the_time_says_so)
{
    struct node node;

    init_measured(&node, "n1", 0, 1);
    cover(&node, APAPI_DOMAIN_PACKAGE, 0.8399, NAN);
    cover(&node, APAPI_DOMAIN_DRAM, 0.8391, NAN);
    add(&node);
    finish(&stream_step);
    assert_text("\n  energy of the covered 83.9 %\n");

    /* once is enough */
    node.record.measurement.covered = 0.8393;
    add(&node);
    finish(&stream_step);
    assert_text("covered 83.9 %, ");
    assert_null(strstr(text, "energy of the covered"));
}

/* 10 s of 90 %, 30 s of 50 %: 60 % of the time. */
TABLE(coverage_of_nodes_is_that_of_their_time)
{
    for (uint32_t i = 0; i < 2; i++) {
        struct node node;

        init_measured(&node, i ? "n2" : "n1", i, 2);
        node.record.measurement.elapsed_ns = (i ? 30000 : 9000) * MS;
        node.record.measurement.late_ns = (i ? 0 : 1000) * MS;
        cover(&node, APAPI_DOMAIN_PACKAGE, i ? 0.5 : 0.9, 1000);
        cover(&node, APAPI_DOMAIN_DRAM, 1, 0);
        add(&node);
    }
    finish(&stream_step);
    assert_text("\n  package: energy of the covered 60.0 %\n"
                "  estimate for the rest, not included: package 2.000 kJ\n");
}

TABLE(an_estimate_of_the_rest_stands_apart)
{
    struct node node;

    init_measured(&node, "n1", 0, 1);
    cover(&node, APAPI_DOMAIN_PACKAGE, 0.8, 3100);
    cover(&node, APAPI_DOMAIN_DRAM, 0.8, 255);
    add(&node);
    finish(&stream_step);
    assert_text("  total     13.42 kJ");
    assert_text("\n  energy of the covered 80.0 %\n"
                "  estimate for the rest, not included: package 3.100 kJ, "
                "dram 255.0 J, total\n    3.355 kJ\n");
}

TABLE(a_total_says_which_domain_it_lacks)
{
    struct node node;

    init_measured(&node, "n1", 0, 1);
    node.record.measurement.domains[APAPI_DOMAIN_PACKAGE].measured = false;
    node.record.measurement.unknown_domains = 1U << APAPI_DOMAIN_PACKAGE | 1U << APAPI_DOMAIN_PSYS;
    add(&node);
    finish(&stream_step);
    assert_text("\n  partial total ");
    assert_text("\n  total without package, whose energy is not known\n");
    assert_null(strstr(text, "psys"));
}

/* --- notes ------------------------------------------------------------------------------------ */

/* Of a part of the total, or of the node where there is nothing else. */
TABLE(a_power_meter_is_named_where_its_readings_are_few)
{
    static const enum apapi_domain domains[] = {APAPI_DOMAIN_PACKAGE, APAPI_DOMAIN_NODE};

    for (size_t i = 0; i < COUNT_OF(domains); i++) {
        struct node node;

        init_node(&node, "n1", 0, 1);
        set_domain(&node, domains[i], 1000, (struct apapi_summary){90, 100, 110, NAN});
        node.record.measurement.domains[domains[i]].uncertainty_j = 60;
        node.events[0] = (struct apapi_event_result){
            .event = {.name = "meter:::POWER", .kind = APAPI_KIND_POWER, .domain = domains[i]},
            .incidents = {.samples = 60, .rough = 1}};
        add(&node);
        finish(&stream_step);
        assert_text("\n  61 readings of a power meter: errors above 5 % are possible\n");
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
        fail_if(cases[i].said ? !strstr(text, cases[i].said) : !!strstr(text, "possible"),
                "case %zu: %s", i, text);
    }
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
        fail_if(cases[i].said ? !strstr(text, cases[i].said) : !!strstr(text, "first"), "%s", text);
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
