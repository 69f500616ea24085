/* SPDX-License-Identifier: BSD-3-Clause */
/* The merged record without any record, with hostile texts, and with numbers at their limits. */
#include "unit/merge_encode_fixture.h"

TEST(without_any_record_it_says_which_step)
{
    static const char *const absent[] = {"start", "end",   "elapsed_s", "late_s",
                                         "total", "trust", "exit_code", "name"};
    static const char *const others[] = {NULL, "", "17", "x.0", "0.0", "4294967295.0", "1+2.0"};
    struct apapi_merge *merge = apapi_merge_create();
    json_t *root;

    assert_int_equal(apapi_merge_absent(merge, "n1", "no answer"), 0);
    root = encoded(merge, "17.batch");
    assert_number(root, "job", 17);
    assert_text(root, "step", "batch");
    assert_number(root, "nodes", 1);
    assert_number(root, "recorded", 0);
    assert_text(root, "missing.0.reason", "no answer");
    assert_absent(root, absent, COUNT_OF(absent));
    json_decref(root);
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        root = encoded(merge, others[i]);
        assert_null(at(root, "job"));
        assert_null(at(root, "step"));
        json_decref(root);
    }
    apapi_merge_destroy(merge);
}

TEST(hostile_texts_stay_texts)
{
    static const char *const texts[] = {"\"}],\"job\":0,", "\xFF\xFEn", "a\x1B[31m\nb\\", "{}"};
    struct apapi_merge *merge = apapi_merge_create();
    json_t *root;

    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct apapi_record record = step_record(texts[i], (uint32_t)i);

        snprintf(record.id.job_name, sizeof record.id.job_name, "%s", texts[1]);
        record.complete = false;
        snprintf(record.reason, sizeof record.reason, "%s", texts[i]);
        add(merge, &record);
    }
    root = encoded(merge, NULL);
    assert_number(root, "job", 17);
    assert_text(root, "job_name", "??n");
    assert_text(root, "per_node.0.node", texts[0]);
    assert_text(root, "per_node.1.node", "??n");
    assert_text(root, "incomplete.2.reason", texts[2]);
    assert_text(root, "incomplete.3.reason", texts[3]);
    json_decref(root);
    apapi_merge_destroy(merge);
}

TEST(numbers_at_their_limits)
{
    struct apapi_merge *merge = apapi_merge_create();
    struct apapi_record n1 = step_record("n1", 0), n2 = step_record("n2", 1);
    json_t *root;

    n1.id.tasks = n2.id.tasks = APAPI_UNKNOWN - 1;
    n1.measurement.elapsed_ns = UINT64_MAX;
    n1.measurement.start_unix_ns = INT64_MAX;
    n2.measurement.start_unix_ns = INT64_MIN;
    add(merge, &n1);
    add(merge, &n2);
    root = encoded(merge, NULL);
    assert_null(at(root, "tasks"));
    assert_number(root, "elapsed_s", 18446744073.7096);
    assert_true(json_is_string(at(root, "start")) && json_is_string(at(root, "end")));
    json_decref(root);
    apapi_merge_destroy(merge);
}
