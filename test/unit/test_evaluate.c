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

/* A counter without a range never goes back. */
static const struct apapi_event endless = {
    "e", "J", APAPI_KIND_ENERGY, APAPI_DOMAIN_PACKAGE, APAPI_TYPE_UINT64, true, .scale = 1e-6};

static const struct evaluation_case {
    const struct apapi_event *event;
    struct apapi_reading before, after;
    const char *text;
} cases[] = {
    {&energy, {1000000, 0}, {11000000, 0}, ""}, /* 100 W for 0.1 s */
    {&energy, {1000000, 0}, {1000000, 0}, "opens but never moves: dead"},
    {&energy, {999000000, 0}, {4000000, 0}, ""}, /* wrapped */
    {&energy, {0, 0}, {900000000, 0}, "implausible: 9.000 kW"},
    {&energy, {0, 0}, {1000000000, 0}, "implausible: above its own range"},
    {&energy, {1, 0}, {0, ENODATA}, "No data available"},
    {&energy, {0, ENODATA}, {1, 0}, "No data available"},
    {&endless, {20, 0}, {10, 0}, "goes backwards"},
    {&power, {250000, 0}, {250000, 0}, ""}, /* a gauge may stand still */
    {&power, {250000, 0}, {0, 0}, "implausible: 0.00 W"},
    {&power, {250000, 0}, {50000000, 0}, "implausible: 50.00 kW"},
    {&temperature, {45000, 0}, {(uint64_t)INT64_C(-20000), 0}, ""},
    {&temperature, {45000, 0}, {255000000, 0}, "implausible: 255000 C"},
    {&packets, {7, 0}, {7, 0}, ""}, /* it may be idle */
    {&load, {UINT64_C(0x7FF8) << 48, 0}, {UINT64_C(0x7FF8) << 48, 0}, "implausible: -"}, /* NaN */
};

TEST(verdicts)
{
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct two_readings readings = {cases[i].before, cases[i].after, 0.1};
        char text[96] = "";

        assert_int_equal(evaluate_event(cases[i].event, &readings, text, sizeof text),
                         !*cases[i].text);
        assert_string_equal(text, cases[i].text);
    }
}
