/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RECORD_ENDING_H
#define RECORD_ENDING_H
#include "apapi/record.h"

/* Combine numbers of several records. Each may be APAPI_UNKNOWN. */

/** @return the greater one, or the one that is known. */
static inline uint32_t known_greater(uint32_t a, uint32_t b)
{
    if (a == APAPI_UNKNOWN || b == APAPI_UNKNOWN) {
        return a == APAPI_UNKNOWN ? b : a;
    }
    return a > b ? a : b;
}

/** @return the sum; unknown if one is unknown. */
static inline uint32_t known_sum(uint32_t a, uint32_t b)
{
    return b > APAPI_UNKNOWN - a ? APAPI_UNKNOWN : a + b; /* an overflow is unknown, too */
}

/**
 * Combine how the tasks of two nodes ended: unknown if one is unknown. Signal and code are unknown
 * if there was none.
 */
static inline struct apapi_ending ending_of_both(const struct apapi_ending *a,
                                                 const struct apapi_ending *b)
{
    bool all_failed_known = a->failed != APAPI_UNKNOWN && b->failed != APAPI_UNKNOWN;

    if (a->code == APAPI_UNKNOWN || b->code == APAPI_UNKNOWN) {
        return APAPI_ENDING_UNKNOWN;
    }
    return (struct apapi_ending){.code = known_greater(a->code, b->code),
                                 .signal = known_greater(a->signal, b->signal),
                                 .failed = all_failed_known ? known_sum(a->failed, b->failed)
                                                            : known_greater(a->failed, b->failed)};
}

#endif
