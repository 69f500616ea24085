/* SPDX-License-Identifier: BSD-3-Clause */
#include <jansson.h>

#include "report_fixture.h"

static json_t *parse(void)
{
    json_t *root;

    fixture_write(report_json);
    root = json_loads(written, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    assert_ptr_equal(strchr(written, '\n'), written + strlen(written) - 1);
    return root;
}

/* One run is a record that readers of records can read. */
RUNS(one_run_is_a_record, 1)
{
    struct apapi_record record;

    fixture_write(report_json);
    assert_int_equal(apapi_record_decode(written, strlen(written), &record, NULL), 0);
    assert_string_equal(record.id.name, "a.out");
    assert_int_equal(record.measurement.component_count, 3);
    assert_true(record.measurement.domains[APAPI_DOMAIN_PACKAGE].energy_j == 200);
    assert_says(",\"program\":{\"command\":[\"./a.out\",\"-x\",\"a\\\"b\"],"
                "\"elapsed_s\":2.0,\"user_s\":1.5,\"system_s\":0.25,"
                "\"max_rss_bytes\":12897280,\"exit_status\":0}}\n");
    apapi_record_clear(&record);
}

RUNS(values_are_there_where_a_definition_wants_them, 1)
{
    fixture_write(report_json);
    assert_says("\"samples\":21,\"wraps\":1,\"value0\":{\"type\":\"energy\",\"unit\":\"Ws\","
                "\"acc\":200.0},\"value1\":{\"type\":\"power\",\"unit\":\"W\",\"min\":90.0,"
                "\"max\":120.0,\"avg\":100.0}}]");
    assert_says("\"samples\":21,\"failed\":2}]");
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

RUNS(what_is_estimated_is_marked, 1)
{
    json_t *root;

    fixture_event(0)->event.estimated = true;
    root = parse();
    assert_true(json_is_true(json_object_get(first_event(root, 0), "estimated")));
    assert_non_null(json_object_get(first_event(root, 0), "value0"));
    assert_null(json_object_get(first_event(root, 1), "estimated"));
    json_decref(root);
}

RUNS(several_runs_have_statistics, 3)
{
    json_t *root = parse();
    const json_t *statistics = json_object_get(root, "statistics");
    const json_t *domains = json_object_get(statistics, "domains");
    const json_t *package = json_object_get(domains, "package");

    assert_int_equal(json_integer_value(json_object_get(root, "apapi")), 1);
    assert_int_equal(json_array_size(json_object_get(root, "runs")), 3);
    assert_spread(statistics, "elapsed_s", 4, 2);
    assert_spread(statistics, "user_s", 1.5, 0);
    assert_int_equal(json_object_size(domains), 1);
    assert_spread(package, "energy_j", 400, 200);
    assert_spread(package, "mean_w", 200, 100);
    assert_spread(json_object_get(statistics, "total"), "energy_j", 400, 200);
    json_decref(root);
}

RUNS(what_one_run_does_not_know_is_left_out, 2)
{
    json_t *root;

    report.runs[1].record.measurement.domains[APAPI_DOMAIN_PACKAGE].measured = false;
    root = parse();
    assert_spread(json_object_get(json_object_get(root, "statistics"), "total"), "energy_j", 200,
                  NAN);
    json_decref(root);
    report.runs[0].record.measurement.domains[APAPI_DOMAIN_PACKAGE].measured = false;
    root = parse();
    assert_null(json_object_get(json_object_get(root, "statistics"), "total"));
    json_decref(root);
}

RUNS(a_signal_is_reported, 3)
{
    fixture_write(report_json);
    assert_says(",\"exit_status\":3}");
    assert_says(",\"signal\":9}");
}

RUNS(arguments_that_are_no_text, 1)
{
    char *odd[] = {(char[]){"p"}, (char[]){"\xFF\x01\xC3\xBC"}, NULL};

    report.program = odd;
    fixture_write(report_json);
    assert_says("[\"p\",\"?\\u0001\xC3\xBC\"]");
}
