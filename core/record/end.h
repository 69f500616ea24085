/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RECORD_END_H
#define RECORD_END_H
#include <stdint.h>

#include "apapi/measurement.h"

/** When a measurement ended, UTC since 1970 [ns]; INT64_MAX - 1 at most. */
static inline int64_t record_end_ns(const struct apapi_measurement *m)
{
    int64_t end_ns;

    return __builtin_add_overflow(m->start_unix_ns, m->elapsed_ns, &end_ns) ? INT64_MAX - 1
                                                                            : end_ns;
}

#endif
