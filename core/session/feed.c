/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/feed.h"

void feed_clear(struct feed feeds[APAPI_DOMAINS])
{
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        feeds[d] = (struct feed){.index = SIZE_MAX, .late_ns = FEED_NEVER};
    }
}

bool feed_offer(struct feed *feed, size_t index, uint64_t late_ns)
{
    bool better = late_ns < feed->late_ns || (late_ns == feed->late_ns && index <= feed->index);

    if (better || index == feed->index) {
        *feed = (struct feed){.index = index, .late_ns = late_ns};
    }
    return index == feed->index;
}
