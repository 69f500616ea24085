/* SPDX-License-Identifier: BSD-3-Clause */
#include <jansson.h>

#include "report_fixture.h"

static json_t *parse(const struct report *report)
{
    char *text = fixture_text(report_json, report);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

    assert_non_null(root);
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    free(text);
    return root;
}

/* One run is a record: whoever reads records reads it too. */
static void one_run_is_a_record(void **state)
{
    struct report report = fixture_create(1);
    char *text = fixture_text(report_json, &report);
    struct apapi_record record;

    (void)state;
    assert_int_equal(apapi_record_decode(text, strlen(text), &record, NULL), 0);
    assert_string_equal(record.id.name, "a.out");
    assert_int_equal(record.measurement.component_count, 3);
    assert_true(record.measurement.domains[APAPI_DOMAIN_PACKAGE].energy_j == 200);
    fixture_assert_says(text, ",\"program\":{\"command\":[\"./a.out\",\"-x\",\"a\\\"b\"],"
                              "\"elapsed_s\":2.0,\"user_s\":1.5,\"system_s\":0.25,"
                              "\"max_rss_bytes\":12897280,\"exit_status\":0}}\n");
    apapi_record_clear(&record);
    free(text);
    fixture_destroy(&report);
}

static void values_are_there_where_a_definition_wants_them(void **state)
{
    struct report report = fixture_create(1);
    char *text = fixture_text(report_json, &report);

    (void)state;
    fixture_assert_says(
        text, "\"samples\":21,\"wraps\":1,\"value0\":{\"type\":\"energy\",\"unit\":\"Ws\","
              "\"acc\":200.0},\"value1\":{\"type\":\"power\",\"unit\":\"W\",\"min\":90.0,"
              "\"max\":120.0,\"avg\":100.0}}]");
    fixture_assert_says(text, "\"samples\":21,\"failed\":2}]");
    free(text);
    fixture_destroy(&report);
}

static void assert_spread(const json_t *object, const char *key, double mean, double sd)
{
    const json_t *spread = json_object_get(object, key);

    assert_non_null(spread);
    assert_true(json_number_value(json_object_get(spread, "mean")) == mean);
    if (isnan(sd)) {
        assert_null(json_object_get(spread, "sd"));
    } else {
        assert_true(fabs(json_number_value(json_object_get(spread, "sd")) - sd) < 1e-6);
    }
}

static const json_t *first_event(const json_t *root, size_t component)
{
    const json_t *components = json_object_get(root, "components");
    const json_t *events = json_object_get(json_array_get(components, component), "events");

    return json_array_get(events, 0);
}

static void what_is_estimated_is_marked(void **state)
{
    struct report report = fixture_create(1);
    json_t *root;

    (void)state;
    report.runs[0].record.measurement.components[0].events[0].event.estimated = true;
    root = parse(&report);
    assert_true(json_is_true(json_object_get(first_event(root, 0), "estimated")));
    assert_non_null(json_object_get(first_event(root, 0), "value0"));
    assert_null(json_object_get(first_event(root, 1), "estimated"));
    json_decref(root);
    fixture_destroy(&report);
}

static void several_runs_have_statistics(void **state)
{
    struct report report = fixture_create(3);
    json_t *root = parse(&report);
    const json_t *statistics = json_object_get(root, "statistics");
    const json_t *domains = json_object_get(statistics, "domains");
    const json_t *package = json_object_get(domains, "package");

    (void)state;
    assert_int_equal(json_integer_value(json_object_get(root, "apapi")), 1);
    assert_int_equal(json_array_size(json_object_get(root, "runs")), 3);
    assert_spread(statistics, "elapsed_s", 4, 2);
    assert_spread(statistics, "user_s", 1.5, 0);
    assert_int_equal(json_object_size(domains), 1);
    assert_spread(package, "energy_j", 400, 200);
    assert_spread(package, "mean_w", 200, 100);
    assert_spread(json_object_get(statistics, "total"), "energy_j", 400, 200);
    json_decref(root);
    fixture_destroy(&report);
}

static void what_one_run_does_not_know_is_left_out(void **state)
{
    struct report report = fixture_create(2);
    json_t *root;

    (void)state;
    report.runs[1].record.measurement.domains[APAPI_DOMAIN_PACKAGE].measured = false;
    root = parse(&report);
    assert_spread(json_object_get(json_object_get(root, "statistics"), "total"), "energy_j", 200,
                  NAN);
    json_decref(root);
    report.runs[0].record.measurement.domains[APAPI_DOMAIN_PACKAGE].measured = false;
    root = parse(&report);
    assert_null(json_object_get(json_object_get(root, "statistics"), "total"));
    json_decref(root);
    fixture_destroy(&report);
}

static void a_signal_is_told(void **state)
{
    struct report report = fixture_create(3);
    char *text = fixture_text(report_json, &report);

    (void)state;
    fixture_assert_says(text, ",\"exit_status\":3}");
    fixture_assert_says(text, ",\"signal\":9}");
    free(text);
    fixture_destroy(&report);
}

static void a_process_that_ran_already(void **state)
{
    struct report report = fixture_create(1);
    char *text;

    (void)state;
    report.program = NULL;
    report.pid = 4711;
    text = fixture_text(report_json, &report);
    fixture_assert_says(text, "\"program\":{\"pid\":4711,\"elapsed_s\":2.0}}");
    free(text);
    fixture_destroy(&report);
}

static void arguments_that_are_no_text(void **state)
{
    char *odd[] = {(char[]){"p"}, (char[]){"\xFF\x01\xC3\xBC"}, NULL};
    struct report report = fixture_create(1);
    char *text;

    (void)state;
    report.program = odd;
    text = fixture_text(report_json, &report);
    fixture_assert_says(text, "[\"p\",\"?\\u0001\xC3\xBC\"]");
    free(text);
    fixture_destroy(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_run_is_a_record),
        cmocka_unit_test(values_are_there_where_a_definition_wants_them),
        cmocka_unit_test(what_is_estimated_is_marked),
        cmocka_unit_test(several_runs_have_statistics),
        cmocka_unit_test(what_one_run_does_not_know_is_left_out),
        cmocka_unit_test(a_signal_is_told),
        cmocka_unit_test(a_process_that_ran_already),
        cmocka_unit_test(arguments_that_are_no_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
