/* SPDX-License-Identifier: BSD-3-Clause */
#include "limit/crossings.h"

#include "unit/unit.h"

TEST(lines_are_added_in_order_of_time)
{
    CLEARED struct apapi_record record = {.crossings = 1, .crossing_count = 1};

    record.crossing = calloc(1, sizeof *record.crossing);
    assert_non_null(record.crossing);
    record.crossing[0].unix_ns = 2000;
    crossings_read(&record, "3000 1100.5\tbudget of 1kJ\tsignal=USR1\tnot sent\n"
                            "1000 501\tbudget of 1kJ, warn=50%\tlog\t\t7\n");
    assert_int_equal(record.crossings, 3);
    assert_int_equal(record.crossing_count, 3);
    assert_string_equal(record.crossing[0].threshold, "budget of 1kJ, warn=50%");
    assert_string_equal(record.crossing[0].result, "");
    assert_int_equal(record.crossing[0].count, 7);
    assert_int_equal(record.crossing[1].unix_ns, 2000);
    assert_int_equal(record.crossing[2].unix_ns, 3000);
    assert_true(record.crossing[2].value == 1100.5);
    assert_string_equal(record.crossing[2].unit, "J");
    assert_string_equal(record.crossing[2].action, "signal=USR1");
    assert_string_equal(record.crossing[2].result, "not sent");
    assert_int_equal(record.crossing[2].count, 1);
}

TEST(malformed_lines_are_left_out)
{
    static const char *const bad[] = {
        "",
        "\n\n",
        "x",
        "1000",
        "1000 \tbudget\tlog\t",
        "-5 1\ta\tb\t",
        "1000 x\ta\tb\t",
        "1000 1 a b c",
        "1000 1\ta\tb",
        "1000 1\ta\tb\tc\tx",
        "99999999999999999999 1\ta\tb\t",
    };
    struct apapi_record record = {0};

    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        crossings_read(&record, bad[i]);
    }
    assert_int_equal(record.crossings, 0);
    assert_null(record.crossing);
}

TEST(no_more_than_a_record_may_have)
{
    CLEARED struct apapi_record record = {0};

    for (int i = 0; i < APAPI_CROSSINGS_MAX + 5; i++) {
        crossings_read(&record, "1000 1\tbudget of 1J\tlog\t\n");
    }
    assert_int_equal(record.crossings, APAPI_CROSSINGS_MAX + 5);
    assert_int_equal(record.crossing_count, APAPI_CROSSINGS_MAX);
}
