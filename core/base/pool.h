/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_POOL_H
#define APAPI_BASE_POOL_H
#include <stddef.h>
#include <stdint.h>

#include "base/grow.h"

#define POOL_NONE UINT32_MAX

/** Distinct texts, numbered from 0 in order of insertion. All zero at the start. */
struct pool {
    char *bytes;
    size_t size, room;
    uint32_t *offsets; /* of the texts in `bytes` */
    size_t count, offset_room;
    uint32_t *slots; /* hash table of numbers */
    size_t slot_count;
};

/** @return the number of a text. A new text is copied. POOL_NONE: out of memory. */
uint32_t pool_put(struct pool *pool, const char *text);

/** The text of a number; valid until the next pool_put(). */
const char *pool_text(const struct pool *pool, uint32_t number);

void pool_free(struct pool *pool);

#endif
