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

RUNS(arguments_that_are_no_text, 1)
{
    char *odd[] = {(char[]){"p"}, (char[]){"\xFF\x01\xC3\xBC"}, NULL};

    report.program = odd;
    fixture_write(report_json);
    assert_says("[\"p\",\"?\\u0001\xC3\xBC\"]");
}
