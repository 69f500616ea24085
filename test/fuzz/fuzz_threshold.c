/* SPDX-License-Identifier: BSD-3-Clause */
/* Any text as a threshold. */
#include "fuzz/fuzz.h"
#include "threshold/threshold.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    char *text = fuzz_string(input, size);
    struct threshold threshold = {.hold_ns = 42}, again;
    struct apapi_error err = {""};

    if (threshold_parse(text, &threshold, &err)) {
        REQUIRE(threshold.hold_ns == 42 && err.text[0] != '\0' && strstr(err.text, " ^"));
    } else {
        REQUIRE(threshold.actions != 0 && threshold.meter[0] != '\0' && threshold.amount >= 0);
        REQUIRE(threshold_parse(threshold.text, &again, NULL) == 0);
        REQUIRE(again.condition == threshold.condition && again.unit == threshold.unit);
    }
    free(text);
    return 0;
}
