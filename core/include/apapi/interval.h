/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_INTERVAL_H
#define APAPI_INTERVAL_H
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"

APAPI_BEGIN_C

/* All functions here may be called from any thread; none allocates. */

#define APAPI_COMPONENT_SIZE 64 /* size of a component's name, with its NUL [bytes] */
#define APAPI_INTERVALS_MAX 32  /* most named entries of one list */

#define APAPI_INTERVAL_DEFAULT_NS UINT64_C(100000000)
#define APAPI_INTERVAL_MIN_NS UINT64_C(1000000)
#define APAPI_INTERVAL_MAX_NS UINT64_C(3600000000000)

/** Sampling intervals: one for all components, and exceptions by component. */
struct apapi_intervals {
    uint64_t default_ns; /* [ns] */
    size_t count;        /* of `named` */
    struct apapi_named_interval {
        char component[APAPI_COMPONENT_SIZE];
        uint64_t interval_ns; /* [ns] */
    } named[APAPI_INTERVALS_MAX];
};

/**
 * Parse a duration: a decimal number with one of the suffixes ns, us, ms, s, m, h. A whole number
 * without a suffix counts nanoseconds; it must be 0, or at least 1000000 (a millisecond).
 * @param text         "100ms", "1.5s", "250000000"
 * @param duration_ns  result [ns]; set on success only
 * @return 0; -1 with errno EINVAL (not a duration), ERANGE (over 584 years, or a missing suffix)
 */
APAPI_API int apapi_duration_parse(const char *text, uint64_t *duration_ns,
                                   struct apapi_error *err);

/**
 * Parse a list of sampling intervals: "100ms", "nvml:250ms:ipmi:3s" or "50ms:ipmi:3s". An interval
 * without a component, at the beginning, is for all components not named. Each interval lies
 * between APAPI_INTERVAL_MIN_NS and APAPI_INTERVAL_MAX_NS.
 * @param list  result; set on success only
 * @return 0; -1 with errno EINVAL, ERANGE (an interval out of bounds); `err` names the word
 */
APAPI_API int apapi_intervals_parse(const char *text, struct apapi_intervals *list,
                                    struct apapi_error *err);

/** @return the interval that the list names for `component`, else list->default_ns [ns]. */
APAPI_API uint64_t apapi_intervals_get(const struct apapi_intervals *list, const char *component);

APAPI_END_C
#endif
