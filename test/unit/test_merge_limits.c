/* SPDX-License-Identifier: BSD-3-Clause */
/* The merged record without any record, with hostile texts, and with numbers at their limits. */
#include "unit/merge_encode_fixture.h"

ENCODED(without_any_record_it_says_which_step)
{
    static const char *const absent[] = {"start", "end",   "elapsed_s", "late_s",
                                         "total", "trust", "exit_code", "name"};
    static const char *const others[] = {NULL, "", "17", "x.0", "0.0", "4294967295.0", "1+2.0"};

    assert_int_equal(apapi_merge_absent(merge, "n1", "no answer"), 0);
    encode("17.batch");
    assert_number("job", 17);
    assert_text("step", "batch");
    assert_number("nodes", 1);
    assert_number("recorded", 0);
    assert_text("missing.0.reason", "no answer");
    assert_absent(absent, COUNT_OF(absent));
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        encode(others[i]);
        assert_null(at(root, "job"));
        assert_null(at(root, "step"));
    }
}

ENCODED(hostile_texts_stay_texts)
{
    static const char *const texts[] = {"\"}],\"job\":0,", "\xFF\xFEn", "a\x1B[31m\nb\\", "{}"};

    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct apapi_record record = step_record(texts[i], (uint32_t)i);

        snprintf(record.id.job_name, sizeof record.id.job_name, "%s", texts[1]);
        record.complete = false;
        snprintf(record.reason, sizeof record.reason, "%s", texts[i]);
        add(&record);
    }
    encode(NULL);
    assert_number("job", 17);
    assert_text("job_name", "??n");
    assert_text("per_node.0.node", texts[0]);
    assert_text("per_node.1.node", "??n");
    assert_text("incomplete.2.reason", texts[2]);
    assert_text("incomplete.3.reason", texts[3]);
}
