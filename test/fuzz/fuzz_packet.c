/* SPDX-License-Identifier: BSD-3-Clause */
/* Any text as a packet of event rules. */
#include "base/array.h"
#include "channel/channel.h"
#include "fuzz/fuzz.h"

static void fuzz(char *text, size_t size)
{
    static const char *const kinds[] = {PACKET_EVENTLIST, PACKET_EVENTOPS, PACKET_COMPONENTS,
                                        PACKET_VERBOSE};
    static char packed[PACKET_MAX];
    size_t length = strlen(text);

    (void)size;
    packed[0] = '\0';
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct packet_item item, again;

        if (!packet_find(text, kinds[i], &item)) {
            continue;
        }
        REQUIRE(item.bytes >= text && item.bytes + item.size < text + length);
        REQUIRE(strlen(item.name) < sizeof item.name);
        if (packet_add(packed, kinds[i], item.name, item.bytes, item.size) == 0) {
            REQUIRE(packet_find(packed, kinds[i], &again) && again.size == item.size);
            REQUIRE(memcmp(again.bytes, item.bytes, item.size) == 0);
        }
    }
    packet_is_verbose(text);
}
