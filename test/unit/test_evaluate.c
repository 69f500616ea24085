/* SPDX-License-Identifier: BSD-3-Clause */
/* The verdict of `apapi doctor` on an event by two readings. */
#include "cli/doctor/evaluate.h"
#include "unit/unit.h"

static const struct apapi_event energy = {
    "e",  "J",       APAPI_KIND_ENERGY, APAPI_DOMAIN_PACKAGE, APAPI_TYPE_UINT64,
    true, 999999999, .scale = 1e-6};
static const struct apapi_event power = {
    "p", "W", APAPI_KIND_POWER, APAPI_DOMAIN_GPU, APAPI_TYPE_INT64, .scale = 1e-3};
static const struct apapi_event temperature = {
    "t", "C", APAPI_KIND_TEMPERATURE, APAPI_DOMAIN_NONE, APAPI_TYPE_INT64, .scale = 1e-3};
static const struct apapi_event packets = {
    "n", "", APAPI_KIND_COUNT, APAPI_DOMAIN_NONE, APAPI_TYPE_UINT64, true, .scale = 1};
static const struct apapi_event load = {
    "l", "%", APAPI_KIND_UTILIZATION, APAPI_DOMAIN_NONE, APAPI_TYPE_FP64, .scale = 1};

static bool evaluate(const struct apapi_event *event, struct apapi_reading before,
                     struct apapi_reading after, char text[96])
{
    const struct two_readings readings = {before, after, 0.1};

    return evaluate_event(event, &readings, text, 96);
}

static const struct evaluation_case {
    const struct apapi_event *event;
    int64_t before, after;
    const char *text;
} cases[] = {
    {&energy, 1000000, 11000000, ""}, /* 100 W for 0.1 s */
    {&energy, 1000000, 1000000, "opens but never moves: dead"},
    {&energy, 999000000, 4000000, ""}, /* wrapped */
    {&energy, 0, 900000000, "implausible: 9.000 kW"},
    {&energy, 0, 1000000000, "implausible: above its own range"},
    {&power, 250000, 250000, ""}, /* a gauge may stand still */
    {&power, 250000, 0, "implausible: 0.00 W"},
    {&power, 250000, 50000000, "implausible: 50.00 kW"},
    {&temperature, 45000, -20000, ""},
    {&temperature, 45000, 255000000, "implausible: 255000 C"},
    {&packets, 7, 7, ""}, /* it may be idle */
};

TEST(all)
{
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct apapi_reading before = {.raw = (uint64_t)cases[i].before};
        const struct apapi_reading after = {.raw = (uint64_t)cases[i].after};
        char text[96] = "";

        assert_int_equal(evaluate(cases[i].event, before, after, text), !*cases[i].text);
        assert_string_equal(text, cases[i].text);
    }
}

TEST(no_number)
{
    const struct apapi_reading good = {.raw = 1}, bad = {.error = ENODATA};
    const double none = NAN;
    struct apapi_reading reading = {0};
    char text[96];

    assert_false(evaluate(&energy, good, bad, text));
    assert_string_equal(text, strerror(ENODATA));
    assert_false(evaluate(&energy, bad, good, text));
    assert_string_equal(text, strerror(ENODATA));
    memcpy(&reading.raw, &none, sizeof none);
    assert_false(evaluate(&load, reading, reading, text));
    assert_string_equal(text, "implausible: -");
}

/* A counter without a range never goes back. */
TEST(backwards)
{
    const struct apapi_reading before = {.raw = 20}, after = {.raw = 10};
    struct apapi_event endless = energy;
    char text[96];

    endless.range_max = 0;
    assert_false(evaluate(&endless, before, after, text));
    assert_string_equal(text, "goes backwards");
}
