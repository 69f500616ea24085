/* SPDX-License-Identifier: BSD-3-Clause */
#include "limit/crossings.h"

#include "unit/unit.h"

/* As a step's collector has them: without an actor. */
static struct crossings kept = {.actor.fd = -1};

static void keep(int64_t unix_ns, const char *threshold, const char *result)
{
    struct crossings_kept *one = &kept.kept[kept.count++];

    one->crossing = (struct apapi_crossing){
        .unix_ns = unix_ns, .value = 1100.5, .unit = "J", .count = 7, .action = "log"};
    strcpy(one->crossing.threshold, threshold);
    strcpy(one->crossing.result, result);
    kept.total++;
}

TEST(those_of_a_step_are_added_in_order_of_time)
{
    CLEARED struct apapi_record record = {.crossings = 1, .crossing_count = 1};
    FREED char *line = NULL;

    record.crossing = calloc(1, sizeof *record.crossing);
    assert_non_null(record.crossing);
    record.crossing[0].unix_ns = 2000;
    kept.total = kept.count = 0;
    assert_null(crossings_encode(&kept));
    keep(3000, "budget of 1kJ", "not sent");
    keep(1000, "budget of 1kJ, warn=50%", "");
    kept.kept[1].asked_ns = 1; /* long ago */
    line = crossings_encode(&kept);
    assert_non_null(line);
    crossings_decode(line, &record);
    assert_int_equal(record.crossings, 3);
    assert_int_equal(record.crossing_count, 3);
    assert_string_equal(record.crossing[0].threshold, "budget of 1kJ, warn=50%");
    assert_string_equal(record.crossing[0].result, "not sent yet");
    assert_int_equal(record.crossing[0].count, 7);
    assert_int_equal(record.crossing[1].unix_ns, 2000);
    assert_int_equal(record.crossing[2].unix_ns, 3000);
    assert_true(record.crossing[2].value == 1100.5);
    assert_string_equal(record.crossing[2].unit, "J");
    assert_string_equal(record.crossing[2].result, "not sent");
}

TEST(what_is_malformed_is_left_out)
{
    struct apapi_record record = {0};

    crossings_decode("", &record);
    crossings_decode("{\"apapi\":1", &record);
    assert_int_equal(record.crossings, 0);
    assert_null(record.crossing);
}

TEST(no_more_than_a_record_may_have)
{
    CLEARED struct apapi_record record = {0};
    FREED char *line = NULL;

    kept.total = kept.count = 0;
    for (int i = 0; i < APAPI_CROSSINGS_MAX - 1; i++) {
        keep(i, "total every 1J", "");
    }
    line = crossings_encode(&kept);
    for (int i = 0; i < 3; i++) { /* the last one finds no room */
        crossings_decode(line, &record);
    }
    assert_int_equal(record.crossings, 3 * (APAPI_CROSSINGS_MAX - 1));
    assert_int_equal(record.crossing_count, APAPI_CROSSINGS_MAX);
}
