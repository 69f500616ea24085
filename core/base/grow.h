/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_GROW_H
#define APAPI_BASE_GROW_H
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#define ARRAY_ROOM_FIRST 16

/**
 * Make room for `more` elements; an array that is full doubles.
 * @param array  NULL where *room is 0
 * @param count  elements that it has
 * @param more   > 0
 * @param room   elements that it has room for
 * @param size   of an element [bytes]
 * @return the array, perhaps in another place, for its owner to note; NULL with errno ENOMEM:
 *         nothing has changed.
 */
static inline void *array_reserve(void *array, size_t count, size_t more, size_t *room, size_t size)
{
    size_t wanted = *room ? 2 * *room : ARRAY_ROOM_FIRST;
    void *grown;

    if (more <= *room - count) {
        return array;
    }
    if (*room > SIZE_MAX / 2 || more > SIZE_MAX / 2) {
        errno = ENOMEM;
        return NULL;
    }
    wanted = wanted - count < more ? count + more : wanted;
    grown = reallocarray(array, wanted, size);
    if (grown) {
        *room = wanted;
    }
    return grown;
}

/** The same for one more. */
static inline void *array_grow(void *array, size_t count, size_t *room, size_t size)
{
    return array_reserve(array, count, 1, room, size);
}

#endif
