/* SPDX-License-Identifier: BSD-3-Clause */
/* Any text as a duration and as a list of intervals. */
#include <inttypes.h>

#include "apapi/interval.h"
#include "fuzz/fuzz.h"

static void check_duration(const char *text)
{
    struct apapi_error err = {""};
    uint64_t ns = 42, again = 0;
    char canonical[32];

    if (apapi_duration_parse(text, &ns, &err)) {
        REQUIRE(ns == 42 && err.text[0] != '\0');
        return;
    }
    snprintf(canonical, sizeof canonical, "%" PRIu64 "ns", ns);
    REQUIRE(apapi_duration_parse(canonical, &again, NULL) == 0 || ns == UINT64_MAX);
    REQUIRE(again == ns || ns == UINT64_MAX);
}

static void check_interval(uint64_t interval_ns)
{
    REQUIRE(interval_ns >= APAPI_INTERVAL_MIN_NS && interval_ns <= APAPI_INTERVAL_MAX_NS);
}

static void check_list(const char *text)
{
    struct apapi_intervals list = {.default_ns = 42};
    struct apapi_error err = {""};

    if (apapi_intervals_parse(text, &list, &err)) {
        REQUIRE(list.default_ns == 42 && err.text[0] != '\0');
        return;
    }
    REQUIRE(list.count <= APAPI_INTERVALS_MAX);
    check_interval(list.default_ns);
    for (size_t i = 0; i < list.count; i++) {
        check_interval(list.named[i].interval_ns);
        REQUIRE(strlen(list.named[i].component) > 0);
        check_interval(apapi_intervals_get(&list, list.named[i].component));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    char *text = fuzz_string(input, size);

    check_duration(text);
    check_list(text);
    free(text);
    return 0;
}
