/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_RETRY_H
#define SESSION_RETRY_H
#include <stdbool.h>
#include <stdint.h>

/*
 * When a component is tried again of which no event could be read: after 1, 2, 4, 8 ... intervals,
 * at most a minute. Pure arithmetic. Start with all zero.
 */
#define RETRY_PAUSE_MAX_NS UINT64_C(60000000000)
#define RETRY_REOPEN_NS UINT64_C(1000000000) /* after so long its source is reopened */

struct retry {
    uint64_t pause_ns;  /* until the next attempt; 0: the latest reading was good */
    uint64_t good_ns;   /* the latest good reading; the first in vain, if there is none */
    uint64_t failed_ns; /* the latest attempt in vain */
    uint64_t failures;  /* attempts in vain since the latest good reading */
    uint64_t outages;
    uint64_t outage_ns; /* length of those that are over, between good readings */
};

/** There was a good reading. */
void retry_good(struct retry *retry, uint64_t now_ns);

/** An attempt was in vain. */
void retry_failed(struct retry *retry, uint64_t interval_ns, uint64_t now_ns);

/** The latest attempt is made once more at once, by another thread: the pause is for both. */
void retry_repeat(struct retry *retry);

/** It has failed again, and for so long that what is open may never work again. */
bool retry_wants_reopening(const struct retry *retry);

/** @return time without readings, that of an outage which is not over included [ns]. */
uint64_t retry_outage_ns(const struct retry *retry);

#endif
