/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_ARRAY_H
#define APAPI_BASE_ARRAY_H
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/** Number of elements of an array; not of a pointer. */
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/** @return -1, 0, 1: a < b, a == b, a > b. The arguments are evaluated twice. */
#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* Comparisons of numbers for qsort() and bsearch(). */

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

#define ARRAY_ROOM_FIRST 16

/**
 * Make room for `more` elements. The size of a full array is doubled.
 * @param array  address of the pointer to the array, which may move; the pointer is NULL if *room
 *               is 0
 * @param count  elements in use
 * @param more   > 0
 * @param room   allocated elements
 * @param size   of an element [bytes]
 * @return 0; -1 with errno ENOMEM: nothing has changed.
 */
static inline int array_extend(void *array, size_t count, size_t more, size_t *room, size_t size)
{
    size_t wanted = *room ? 2 * *room : ARRAY_ROOM_FIRST;
    void *old, *grown;

    if (more <= *room - count) {
        return 0;
    }
    if (*room > SIZE_MAX / 2 || more > SIZE_MAX / 2) {
        errno = ENOMEM;
        return -1;
    }
    wanted = wanted - count < more ? count + more : wanted;
    memcpy(&old, array, sizeof old);
    grown = reallocarray(old, wanted, size);
    if (!grown) {
        return -1;
    }
    *room = wanted;
    memcpy(array, &grown, sizeof grown);
    return 0; // cppcheck-suppress memleak; the array owns it
}

/** array_extend() by one element. */
static inline int array_add(void *array, size_t count, size_t *room, size_t size)
{
    return array_extend(array, count, 1, room, size);
}

/** @return a copy of `count` elements, for free(); NULL: there are none, or errno is ENOMEM. */
static inline void *array_copy(const void *array, size_t count, size_t size)
{
    void *copy = count ? reallocarray(NULL, count, size) : NULL;

    return copy ? memcpy(copy, array, count * size) : NULL;
}

#endif
