/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory, short times and several nodes in a report. */
#include "base/units.h"
#include "report_fixture.h"

TEST(short_times)
{
    static const struct {
        double seconds;
        const char *text;
    } cases[] = {{0, "0.0 us"},
                 {1e-6, "1.0 us"},
                 {0.00099, "990.0 us"},
                 {0.001, "1.00 ms"},
                 {0.0123, "12.30 ms"},
                 {0.1, "100.0 ms"},
                 {0.9994, "999.4 ms"},
                 {1, "1.000 s"},
                 {60, "1 min 0.0 s"},
                 {NAN, "-"},
                 {-1, "-"},
                 {INFINITY, "-"}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[UNITS_SIZE];

        units_short(text, sizeof text, cases[i].seconds);
        assert_string_equal(text, cases[i].text);
    }
}

TEST(memory)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {{0, "0 B"},
                 {1023, "1023 B"},
                 {1024, "1.0 KiB"},
                 {1048524, "1023.9 KiB"},
                 {1048575, "1.0 MiB"},
                 {12897280, "12.3 MiB"},
                 {UINT64_C(5) << 40, "5.0 TiB"},
                 {UINT64_MAX, "16.0 EiB"}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[UNITS_SIZE];

        units_bytes(text, sizeof text, cases[i].bytes);
        assert_string_equal(text, cases[i].text);
    }
}

static void write_table(size_t nodes)
{
    const struct apapi_table_head head = {
        .step = "1.0", .user_s = NAN, .system_s = NAN, .elapsed_s = NAN, .verbose = true};
    struct apapi_merge *merge = apapi_merge_create();

    assert_non_null(merge);
    for (size_t i = 0; i < nodes; i++) {
        struct apapi_record *record = &report.runs[i].record;

        snprintf(record->id.node, sizeof record->id.node, "n%zu", i);
        record->id.node_index = (uint32_t)i;
        record->id.nodes = (uint32_t)nodes;
        assert_int_equal(apapi_merge_add(merge, record), 0);
    }
    free(written);
    written = NULL;
    assert_int_equal(apapi_table_format(merge, &head, &written, NULL), 0);
    apapi_merge_destroy(merge);
}

RUNS(several_nodes_have_no_common_percentile, 2)
{
    write_table(2);
    assert_null(strstr(written, "p95"));
    assert_null(strstr(written, "uncertainty"));
    assert_says("\n  rapl:::PACKAGE_ENERGY:PACKAGE0                                   "
                "total 600.0 J\n");
    write_table(1);
    assert_says("p95\n");
}
