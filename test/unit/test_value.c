/* SPDX-License-Identifier: BSD-3-Clause */
/* value0 and value1 as the original APAPI defines them, its defects put right. */
#include "measure/meter.h"
#include "unit/near.h"

/* The original's own example: value0 of 7, then 4 after 500 ns. */
TEST(operations)
{
    static const struct {
        enum apapi_operation operation;
        double value1;
    } cases[] = {
        {APAPI_OP1_SAMPLE_DIFF, -3},
        {APAPI_OP1_DIV_DIFF_TIME, 0.008},
        {APAPI_OP1_SAMPLE1_MUL_DIFF_TIME, 2000},
        {APAPI_OP1_AVG_SAMPLE_MUL_DIFF_TIME, 2750},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct apapi_values values;

        apapi_values_restart(&values, cases[i].operation);
        apapi_values_first(&values, 7);
        apapi_values_add(&values, 4, 500);
        assert_near(values.stats[1].last, cases[i].value1);
        assert_near(values.stats[0].last, 4);
    }
}

/* A first increment has no predecessor: the difference is unknown, not the absolute value. */
TEST(difference_needs_a_predecessor)
{
    struct apapi_values values;

    apapi_values_restart(&values, APAPI_OP1_SAMPLE_DIFF);
    apapi_values_add(&values, 500, 100);
    assert_int_equal(values.stats[1].count, 0);
    apapi_values_add(&values, 510, 100);
    assert_near(values.stats[1].last, 10);
    apapi_values_break(&values);
    apapi_values_add(&values, 0, 100);
    assert_int_equal(values.stats[1].count, 1);
}

/* 50 W x 1 s and 100 W x 3 s are 87.5 W; maximum of negative values; factors divide. */
TEST(statistics)
{
    struct apapi_values values;
    struct apapi_value_result result = {.factor = 1000};

    apapi_values_restart(&values, APAPI_OP1_SAMPLE1_MUL_DIFF_TIME);
    apapi_values_add(&values, 50000, 1000000000);
    apapi_values_add(&values, 100000, 3000000000u);
    apapi_value_result(&values.stats[0], &result);
    assert_near(result.min, 50);
    assert_near(result.max, 100);
    assert_near(result.avg, 87.5);
    assert_near(result.acc, 150);
    assert_near(result.last, 100);
    result.factor = 1e12; /* mW x ns in Ws */
    apapi_value_result(&values.stats[1], &result);
    assert_near(result.acc, 350);

    apapi_values_restart(&values, APAPI_OP1_NOP);
    apapi_values_add(&values, -5, 1);
    apapi_values_add(&values, -3, 1);
    result.factor = 1;
    apapi_value_result(&values.stats[0], &result);
    assert_near(result.max, -3);
    assert_near(result.min, -5);
}
