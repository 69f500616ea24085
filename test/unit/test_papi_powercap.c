/* SPDX-License-Identifier: BSD-3-Clause */
/* What PAPI's powercap component makes of counters, and how it is undone. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sources/papi/papi_faults.h"
#include "unit/unit.h"

#define RANGE UINT64_C(262143328850)
#define OTHER_RANGE UINT64_C(65532610987)

static void test_known_values(void **state)
{
    static const struct {
        uint64_t start, counter, wrap;
        long long gained;
    } cases[] = {
        {1000, 1500, RANGE, 500},             /* ordinary */
        {1000, 1000, RANGE, 1000},            /* not moved: the counter itself */
        {0, 1500, RANGE, 1500},               /* started at 0 */
        {RANGE - 10, 20, RANGE, 30},          /* wrapped */
        {1000, 20, OTHER_RANGE, 65532610007}, /* wrapped, with another zone's range */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct papi_zone zone = {
            .known = true, .start = cases[i].start, .range = RANGE, .wrap = cases[i].wrap};

        assert_int_equal(papi_zone_gained(&zone, cases[i].counter), cases[i].gained);
    }
}

/* Where one counter only can have given the value, it is found. */
static void test_the_counter_comes_back(void **state)
{
    unsigned found[3] = {0};

    (void)state;
    srandom(4);
    for (int i = 0; i < 1000000; i++) {
        struct papi_zone zone = {.known = true, .range = RANGE};
        uint64_t counter = ((uint64_t)random() << 20 | (uint64_t)random()) % (RANGE + 1);
        uint64_t back = 0;
        int candidates;

        zone.start = ((uint64_t)random() << 20 | (uint64_t)random()) % (RANGE + 1);
        zone.wrap = i % 2 ? RANGE : OTHER_RANGE;
        candidates = papi_zone_counter(&zone, papi_zone_gained(&zone, counter), &back);
        assert_in_range(candidates, 1, 2);
        found[candidates]++;
        if (candidates == 1) {
            assert_int_equal(back, counter);
        }
    }
    assert_true(found[1] > 800000);
}

static void test_values_of_no_counter(void **state)
{
    const struct papi_zone zone = {.known = true, .start = 1000, .range = RANGE, .wrap = RANGE};
    uint64_t counter;

    (void)state;
    assert_int_equal(papi_zone_counter(&zone, -2000, &counter), 0);
    assert_int_equal(papi_zone_counter(&zone, 1LL << 60, &counter), 0);
    assert_int_equal(papi_zone_counter(&zone, INT64_MIN, &counter), 0);
}

/* A zone whose file holds `text`; NULL: it cannot be read. */
static struct papi_zone zone_with_file(const char *text, uint64_t start)
{
    struct papi_zone zone = {.known = true, .start = start, .range = RANGE, .wrap = RANGE};
    int ends[2];

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    if (!text) {
        zone.fd = ends[0]; /* pread() gives ESPIPE */
        close(ends[1]);
        return zone;
    }
    close(ends[0]);
    close(ends[1]);
    zone.fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    assert_true(zone.fd >= 0);
    assert_int_equal(write(zone.fd, text, strlen(text)), strlen(text));
    return zone;
}

static void test_what_is_read_is_not_asked_for_again(void **state)
{
    struct papi_powercap powercap;
    struct apapi_reading reading;

    (void)state;
    papi_powercap_init(&powercap);
    powercap.zones[powercap.count++] = zone_with_file(NULL, 1000);
    papi_powercap_correct(&powercap, (long long[]){500}, &reading);
    assert_int_equal(reading.error, 0);
    assert_int_equal(reading.raw, 1500);
    papi_powercap_close(&powercap);
}

/* PAPI gives the value that it read last, of whatever zone, for one that cannot be read. */
static void test_stale_values_are_errors(void **state)
{
    struct papi_powercap powercap;
    struct apapi_reading readings[3];

    (void)state;
    papi_powercap_init(&powercap);
    powercap.zones[powercap.count++] = zone_with_file("7500\n", 7000);
    powercap.zones[powercap.count++] = zone_with_file(NULL, 1000);
    powercap.zones[powercap.count++] = zone_with_file(NULL, 9000);
    papi_powercap_correct(
        &powercap, (long long[]){500, 6500, papi_zone_gained(&powercap.zones[2], 7500)}, readings);
    assert_int_equal(readings[0].error, 0);
    assert_int_equal(readings[0].raw, 7500);
    assert_int_equal(readings[1].error, ESPIPE);
    assert_int_equal(readings[2].error, ESPIPE);

    /* the first zone: what the last one has left; here it stands still in truth */
    papi_powercap_correct(
        &powercap, (long long[]){500, 600, papi_zone_gained(&powercap.zones[2], 9700)}, readings);
    assert_int_equal(readings[0].error, 0);
    assert_int_equal(readings[0].raw, 7500);
    assert_int_equal(readings[1].error, 0);
    assert_int_equal(readings[1].raw, 1600);
    assert_int_equal(readings[2].raw, 9700);
    papi_powercap_close(&powercap);
}

static void test_a_counter_that_has_not_moved_is_asked_for(void **state)
{
    struct papi_powercap powercap;
    struct apapi_reading reading;

    (void)state;
    papi_powercap_init(&powercap);
    powercap.zones[powercap.count++] = zone_with_file("1000\n", 1000);
    papi_powercap_correct(&powercap, (long long[]){1000}, &reading);
    assert_int_equal(reading.error, 0);
    assert_int_equal(reading.raw, 1000);
    papi_powercap_close(&powercap);
}

static int read_nothing(void *unused)
{
    (void)unused;
    return 0;
}

static void test_the_start_is_found(void **state)
{
    static const struct {
        uint64_t earlier;
        long long gained;
        bool known;
        uint64_t start;
    } cases[] = {
        {990, 5, true, 995},     /* moved since the start */
        {990, 1000, true, 1000}, /* not moved */
        {0, 1000, false, 0},     /* not moved, or started at 0: wait until it moves */
        {990, 2000, false, 0},   /* nothing that PAPI could have made of it */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct papi_powercap powercap;

        papi_powercap_init(&powercap);
        powercap.zones[powercap.count++] = zone_with_file("1000\n", 0);
        powercap.zones[0].known = false;
        powercap.zones[0].earlier = cases[i].earlier;
        assert_int_equal(
            papi_powercap_calibrate(&powercap, read_nothing, NULL, (long long[]){cases[i].gained}),
            cases[i].known);
        if (cases[i].known) {
            assert_int_equal(powercap.zones[0].start, cases[i].start);
        }
        papi_powercap_close(&powercap);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_values),
        cmocka_unit_test(test_the_counter_comes_back),
        cmocka_unit_test(test_values_of_no_counter),
        cmocka_unit_test(test_what_is_read_is_not_asked_for_again),
        cmocka_unit_test(test_stale_values_are_errors),
        cmocka_unit_test(test_a_counter_that_has_not_moved_is_asked_for),
        cmocka_unit_test(test_the_start_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
