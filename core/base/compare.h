/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_COMPARE_H
#define APAPI_BASE_COMPARE_H
#include <stdint.h>

/** @return -1, 0, 1: the first number is less, the same, greater. For expressions without effects.
 */
#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* For qsort() and bsearch() of numbers. */

static inline int compare_uint32(const void *left, const void *right)
{
    return COMPARE(*(const uint32_t *)left, *(const uint32_t *)right);
}

static inline int compare_int64(const void *left, const void *right)
{
    return COMPARE(*(const int64_t *)left, *(const int64_t *)right);
}

static inline int compare_double(const void *left, const void *right)
{
    return COMPARE(*(const double *)left, *(const double *)right);
}

#endif
