/* SPDX-License-Identifier: BSD-3-Clause */
/* Any text as a parcel of event rules. */
#include "channel/parcel.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    static const char *const kinds[] = {PARCEL_EVENTLIST, PARCEL_EVENTOPS, PARCEL_COMPONENTS,
                                        PARCEL_VERBOSE};
    static char packed[PARCEL_MAX];
    char *text = fuzz_string(input, size);
    size_t length = strlen(text);

    packed[0] = '\0';
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct parcel_item item, again;

        if (!parcel_find(text, kinds[i], &item)) {
            continue;
        }
        REQUIRE(item.bytes >= text && item.bytes + item.size < text + length);
        REQUIRE(strlen(item.name) < sizeof item.name);
        if (parcel_add(packed, kinds[i], item.name, item.bytes, item.size) == 0) {
            REQUIRE(parcel_find(packed, kinds[i], &again) && again.size == item.size);
            REQUIRE(memcmp(again.bytes, item.bytes, item.size) == 0);
        }
    }
    parcel_is_verbose(text);
    free(text);
    return 0;
}
