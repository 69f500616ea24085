/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_INTERVAL_H
#define APAPI_INTERVAL_H
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define APAPI_COMPONENT_SIZE 64 /* bytes of a component's name with its NUL */
#define APAPI_INTERVALS_MAX 32  /* named entries of one list */

#define APAPI_INTERVAL_DEFAULT_NS UINT64_C(100000000)
#define APAPI_INTERVAL_MIN_NS UINT64_C(1000000)
#define APAPI_INTERVAL_MAX_NS UINT64_C(3600000000000)

/** Sampling intervals: one for everything, and exceptions by component. */
struct apapi_intervals {
    uint64_t default_ns; /* [ns] */
    size_t count;
    struct apapi_named_interval {
        char component[APAPI_COMPONENT_SIZE];
        uint64_t interval_ns; /* [ns] */
    } named[APAPI_INTERVALS_MAX];
};

/**
 * Parse a duration: a decimal number with one of the suffixes ns, us, ms, s, m, h. A bare whole
 * number counts nanoseconds.
 * @param text         "100ms", "1.5s", "250000000"
 * @param duration_ns  result [ns], set on success only
 * @return 0; -1 with errno EINVAL (not a duration) or ERANGE (negative, or over 584 years).
 * Thread-safety: any thread. Does not allocate.
 */
APAPI_API int apapi_duration_parse(const char *text, uint64_t *duration_ns,
                                   struct apapi_error *err);

/**
 * Parse a list of sampling intervals: "100ms", "nvml:250ms:ipmi:3s" or
 * "50ms:ipmi:3s" (the first word without a component is the default for all others).
 * Each interval lies between APAPI_INTERVAL_MIN_NS and APAPI_INTERVAL_MAX_NS.
 * @param list  result, set on success only
 * @return 0; -1 with errno EINVAL (syntax) or ERANGE (out of bounds); `err` names the word.
 * Thread-safety: any thread. Does not allocate.
 */
APAPI_API int apapi_intervals_parse(const char *text, struct apapi_intervals *list,
                                    struct apapi_error *err);

/** @return the interval of `component` [ns]. Thread-safety: any thread. */
APAPI_API uint64_t apapi_intervals_get(const struct apapi_intervals *list, const char *component);

#ifdef __cplusplus
}
#endif
#endif
