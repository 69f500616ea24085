/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_NAMES_H
#define APAPI_BASE_NAMES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

/** A list of copied texts. All zero at the start. */
struct namelist {
    char **names;
    size_t count, room;
};

/** Append a copy of a name. 0; -1 with ENOMEM. */
int namelist_add(struct namelist *list, const char *name);

/** Append a copy of the first `size` bytes of a name. 0; -1 with ENOMEM. */
int namelist_add_part(struct namelist *list, const char *name, size_t size);

/** Compare texts for qsort(), as strverscmp() does: n2 before n10. */
int compare_names(const void *left, const void *right);

/** Sort by compare_names(). */
void namelist_sort(struct namelist *list);

/** Sort and remove duplicates. */
void namelist_unique(struct namelist *list);

/** @return whether a sorted list has the name. */
bool namelist_have(const struct namelist *list, const char *name);

/** Free what `list` owns, and set it to zeros. errno is preserved. */
void namelist_free(struct namelist *list);

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

/**
 * Like pool_put(), and keep an array with an element for each number. A new text gets an element of
 * zeros. @param array, room, size  see array_extend()
 */
uint32_t pool_put_row(struct pool *pool, const char *text, void *array, size_t *room, size_t size);

/** @return the number of a text; POOL_NONE: it was not put in. */
uint32_t pool_find(const struct pool *pool, const char *text);

/** @return the text of a number; valid until the next pool_put(). */
const char *pool_text(const struct pool *pool, uint32_t number);

void pool_free(struct pool *pool);

#endif
