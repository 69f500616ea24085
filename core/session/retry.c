/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/retry.h"

void retry_good(struct retry *retry, uint64_t now_ns)
{
    if (retry->failures > 0) {
        retry->outage_ns += now_ns - retry->good_ns;
        retry->failures = 0;
        retry->pause_ns = 0;
    }
    retry->good_ns = now_ns;
}

/* A whole number of intervals, so that the readings stay where they would have been. */
static uint64_t longest_pause_ns(uint64_t interval_ns)
{
    return interval_ns < RETRY_PAUSE_MAX_NS ? RETRY_PAUSE_MAX_NS / interval_ns * interval_ns
                                            : interval_ns;
}

void retry_failed(struct retry *retry, uint64_t interval_ns, uint64_t now_ns)
{
    uint64_t longest_ns = longest_pause_ns(interval_ns);

    if (retry->failures++ == 0) {
        retry->outages++;
        retry->pause_ns = interval_ns;
        retry->good_ns = retry->good_ns ? retry->good_ns : now_ns;
    } else {
        retry->pause_ns = retry->pause_ns < longest_ns / 2 ? 2 * retry->pause_ns : longest_ns;
    }
    retry->failed_ns = now_ns;
}

void retry_repeat(struct retry *retry)
{
    retry->pause_ns /= 2;
}

bool retry_wants_reopening(const struct retry *retry)
{
    return retry->failures > 1 && retry->failed_ns - retry->good_ns >= RETRY_REOPEN_NS;
}

uint64_t retry_outage_ns(const struct retry *retry)
{
    return retry->outage_ns + (retry->failures ? retry->failed_ns - retry->good_ns : 0);
}
