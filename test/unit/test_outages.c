/* SPDX-License-Identifier: BSD-3-Clause */
/* Outages in the record and in the table, on one node and on several. */
#include "apapi/record.h"
#include "unit/unit.h"

#define MS UINT64_C(1000000)

struct node {
    struct apapi_record record;
    struct apapi_component_result component;
};

static void make_node(struct node *node, const char *name, uint64_t outages, uint64_t outage_ns,
                      const char *reason)
{
    memset(node, 0, sizeof *node);
    snprintf(node->record.id.node, sizeof node->record.id.node, "%s", name);
    node->record.id.job = node->record.id.uid = node->record.id.tasks = APAPI_UNKNOWN;
    node->record.id.nodes = 3;
    node->record.complete = true;
    node->record.measurement.elapsed_ns = 60000 * MS;
    node->record.measurement.covered = 0.5;
    node->record.measurement.component_count = 1;
    node->record.measurement.components = &node->component;
    node->component = (struct apapi_component_result){.name = "rapl",
                                                      .measured = true,
                                                      .source = "sysfs powercap",
                                                      .interval_ns = 100 * MS,
                                                      .outages = outages,
                                                      .outage_ns = outage_ns};
    snprintf(node->component.reason, sizeof node->component.reason, "%s", reason);
}

static char *encode(const struct node *node)
{
    char *line = NULL;

    assert_int_equal(apapi_record_encode(&node->record, &line, NULL), 0);
    return line;
}

TEST(record_keeps_outages)
{
    struct apapi_record copy;
    struct node node;
    char *line;

    make_node(&node, "n1", 2, 12300 * MS + 1, "Input/output error");
    line = encode(&node);
    assert_non_null(strstr(line, "\"outages\":2,\"outage_s\":12.300000001"));
    assert_int_equal(apapi_record_decode(line, strlen(line), &copy, NULL), 0);
    assert_int_equal(copy.measurement.components[0].outages, 2);
    assert_int_equal(copy.measurement.components[0].outage_ns, 12300 * MS + 1);
    assert_string_equal(copy.measurement.components[0].reason, "Input/output error");
    assert_true(copy.measurement.components[0].measured);
    apapi_record_clear(&copy);
    free(line);
}

static void assert_table(const struct node *nodes, size_t count, const char *says)
{
    const struct apapi_table_head head = {.user_s = NAN, .system_s = NAN, .elapsed_s = NAN};
    struct apapi_merge *merge = apapi_merge_create();
    char *text = NULL;

    for (size_t i = 0; i < count; i++) {
        assert_int_equal(apapi_merge_add(merge, &nodes[i].record), 0);
    }
    assert_int_equal(apapi_table_format(merge, &head, &text, NULL), 0);
    if (!strstr(text, says)) {
        fail_msg("this does not say '%s':\n%s", says, text);
    }
    free(text);
    apapi_merge_destroy(merge);
}

TEST(table_shows_an_outage)
{
    struct node node;

    make_node(&node, "n1", 2, 12300 * MS, "");
    node.record.id.nodes = 1;
    assert_table(&node, 1, "\n  rapl: no readings for 12.3 s in 2 outages\n");
    make_node(&node, "n1", 1, 2000 * MS, "sysfs powercap: Input/output error");
    node.record.id.nodes = 1;
    assert_table(
        &node, 1,
        "\n  rapl: no readings for 2.000 s in 1 outage (sysfs powercap: Input/output error)\n");
}
