/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIT_TABLE_FIXTURE_H
#define UNIT_TABLE_FIXTURE_H
/* Nodes to merge, and the table of the merge. */
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

static inline void init_node(struct node *node, const char *name, uint32_t index, uint32_t nodes)
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

static inline void set_domain(struct node *node, enum apapi_domain domain, double energy_j,
                              struct apapi_summary power_w)
{
    node->record.measurement.domains[domain] = (struct apapi_domain_result){
        .measured = true, .energy_j = energy_j, .uncertainty_j = NAN, .power_w = power_w};
}

static inline void init_measured(struct node *node, const char *name, uint32_t index,
                                 uint32_t nodes)
{
    init_node(node, name, index, nodes);
    set_domain(node, APAPI_DOMAIN_PACKAGE, 12400, (struct apapi_summary){92, 148.6, 181, NAN});
    set_domain(node, APAPI_DOMAIN_DRAM, 1020, (struct apapi_summary){9.8, 12.2, 14.1, NAN});
}

static inline void set_unmeasured(struct node *node, size_t index, const char *name,
                                  const char *reason)
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

static inline void start(void)
{
    merge = apapi_merge_create();
    assert_non_null(merge);
}

static inline void drop(void)
{
    apapi_merge_destroy(merge);
    free(text);
    text = NULL;
}

/* A test with an empty merge. */
#define TABLE(name) TEST_WITH(name, start, drop)

static inline void add(const struct node *node)
{
    assert_int_equal(apapi_merge_add(merge, &node->record), 0);
}

static inline void assert_narrow(const char *table)
{
    char line[1024];

    for (const char *end; *table; table = end + 1) {
        end = strchr(table, '\n');
        assert_non_null(end);
        snprintf(line, sizeof(line), "%.*s", (int)(end - table), table);
        if (text_columns(line) > TEXT_COLUMNS) {
            fail_msg("too wide: %s", line);
        }
        for (const char *byte = line; *byte; byte++) {
            assert_true((unsigned char)*byte >= 0x20 && *byte != 0x7F);
        }
    }
}

/* Format the merge into `text`; the next one is empty. */
static inline void finish(const struct apapi_table_head *head)
{
    free(text);
    text = NULL;
    assert_int_equal(apapi_table_format(merge, head, &text, NULL), 0);
    assert_non_null(text);
    assert_narrow(text);
    apapi_merge_destroy(merge);
    start();
}

static inline void assert_table(const struct apapi_table_head *head, const char *expected)
{
    finish(head);
    assert_string_equal(text, expected);
}

static inline void assert_text(const char *part)
{
    if (!strstr(text, part)) {
        fail_msg("\"%s\" is not in\n%s", part, text);
    }
}

static inline void assert_says(const struct apapi_table_head *head, const char *part)
{
    finish(head);
    assert_text(part);
}

#endif
