/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RECORD_END_H
#define RECORD_END_H
#include <stdbool.h>
#include <stdint.h>

#include "apapi/measurement.h"

/**
 * When a measurement ended, UTC since 1970 [ns]. Always less than INT64_MAX, which stands for
 * never, even if a forged record says otherwise.
 */
static inline int64_t record_end_ns(const struct apapi_measurement *m)
{
    int64_t end_ns;
    bool beyond = __builtin_add_overflow(m->start_unix_ns, m->elapsed_ns, &end_ns);

    return beyond || end_ns == INT64_MAX ? INT64_MAX - 1 : end_ns;
}

#endif
