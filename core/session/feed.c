/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/feed.h"

void feed_clear(struct feed feeds[APAPI_DOMAINS])
{
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        feeds[d] = (struct feed){.place = SIZE_MAX, .late_ns = FEED_NEVER};
    }
}

bool feed_offer(struct feed *feed, size_t place, uint64_t late_ns)
{
    bool better = late_ns < feed->late_ns || (late_ns == feed->late_ns && place <= feed->place);

    if (better || place == feed->place) {
        *feed = (struct feed){.place = place, .late_ns = late_ns};
    }
    return place == feed->place;
}
