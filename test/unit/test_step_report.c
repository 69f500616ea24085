/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/step_report.h"

#include <jansson.h>

#include "unit/unit.h"

static struct step_report step_report;
static struct apapi_merge *merge;

static void add_record(const char *node, double energy_j)
{
    struct apapi_record record = {.id = {.job = 7, .step = "0"}, .complete = true};
    FREED char *line = NULL;

    snprintf(record.id.node, sizeof record.id.node, "%s", node);
    record.measurement.elapsed_ns = 2000000000;
    record.measurement.covered = 1;
    record.measurement.domains[APAPI_DOMAIN_PACKAGE] = (struct apapi_domain_result){
        .measured = true, .energy_j = energy_j, .uncertainty_j = NAN, .power_w = {1, 2, 3, NAN}};
    assert_int_equal(apapi_record_encode(&record, &line, NULL), 0);
    step_report_keep(&step_report, line, strlen(line));
    assert_int_equal(apapi_merge_add(merge, &record), 0);
}

static char *written(enum config_format format)
{
    const struct apapi_table_head head = {
        .step = "7.0", .user_s = NAN, .system_s = NAN, .elapsed_s = NAN};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_int_equal(step_report_write(&step_report, format, &head, merge, out), 0);
    fclose(out);
    return text;
}

static void begin(void)
{
    merge = apapi_merge_create();
    assert_non_null(merge);
}

static void end(void)
{
    step_report_clear(&step_report);
    apapi_merge_destroy(merge);
}

#define PREPARED(name) TEST_WITH(name, begin, end)

PREPARED(json)
{
    FREED char *text = NULL;
    json_t *array;

    add_record("n1", 10);
    add_record("n2", 20);
    assert_int_equal(apapi_merge_absent(merge, "n3", "it \"broke\""), 0);
    assert_int_equal(apapi_merge_absent(merge, "n4", ""), 0); /* no reason */
    text = written(CONFIG_JSON);
    array = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_int_equal(json_array_size(array), 3);
    assert_string_equal(json_string_value(json_object_get(json_array_get(array, 1), "node")), "n2");
    assert_string_equal(json_string_value(json_object_get(json_array_get(array, 2), "node")), "n3");
    assert_string_equal(json_string_value(json_object_get(json_array_get(array, 2), "reason")),
                        "it \"broke\"");
    assert_true(json_is_false(json_object_get(json_array_get(array, 2), "complete")));
    json_decref(array);
}

PREPARED(no_records_at_all)
{
    FREED char *text = written(CONFIG_JSON);

    assert_string_equal(text, "[\n]\n");
}

PREPARED(csv)
{
    FREED char *text = NULL;

    add_record("n1", 10);
    apapi_merge_absent(merge, "n3", "a, b");
    text = written(CONFIG_CSV);
    assert_ptr_equal(strstr(text, "step,node,row,name,domain,"), text);
    assert_contains(text, "\n7.0,n1,step,elapsed,,,s,2,");
    assert_contains(text, "\n7.0,n1,domain,package,package,energy,J,10,,W,1,2,,3,");
    assert_contains(text, "\n7.0,n3,absent,\"a, b\",,,,,,");
}

/* It needs no lines, as a table does not. */
PREPARED(merged)
{
    FREED char *text = NULL, *table = NULL;
    json_t *object;

    add_record("n1", 10);
    add_record("n2", 20);
    step_report_clear(&step_report);
    text = written(CONFIG_MERGED);
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    object = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_int_equal(json_integer_value(json_object_get(object, "recorded")), 2);
    json_decref(object);
    table = written(CONFIG_TABLE);
    assert_contains(table, "  package  ");
    assert_true(step_report_needs_lines(CONFIG_JSON) && step_report_needs_lines(CONFIG_CSV));
    assert_false(step_report_needs_lines(CONFIG_MERGED) || step_report_needs_lines(CONFIG_TABLE));
}
