/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "base/text.h"

/* --- namelist ------------------------------------------------------------------------------- */

int namelist_add_part(struct namelist *list, const char *name, size_t size)
{
    if (array_add(&list->names, list->count, &list->room, sizeof(char *))) {
        return -1;
    }
    list->names[list->count] = strndup(name, size);
    if (!list->names[list->count]) {
        return -1;
    }
    list->count++;
    return 0;
}

int namelist_add(struct namelist *list, const char *name)
{
    return namelist_add_part(list, name, strlen(name));
}

int compare_names(const void *left, const void *right)
{
    return strverscmp(*(const char *const *)left, *(const char *const *)right);
}

void namelist_sort(struct namelist *list)
{
    if (list->count > 0) {
        qsort(list->names, list->count, sizeof(char *), compare_names);
    }
}

void namelist_unique(struct namelist *list)
{
    size_t kept = 0;

    namelist_sort(list);
    for (size_t i = 0; i < list->count; i++) {
        if (kept > 0 && strcmp(list->names[kept - 1], list->names[i]) == 0) {
            free(list->names[i]);
        } else {
            list->names[kept++] = list->names[i];
        }
    }
    list->count = kept;
}

bool namelist_have(const struct namelist *list, const char *name)
{
    return list->count > 0 &&
           bsearch(&name, list->names, list->count, sizeof(char *), compare_names) != NULL;
}

void namelist_free(struct namelist *list)
{
    int saved = errno;

    for (size_t i = 0; i < list->count; i++) {
        free(list->names[i]);
    }
    free(list->names);
    *list = (struct namelist){0};
    errno = saved;
}

/* --- pool ----------------------------------------------------------------------------------- */

static uint32_t *pool_find_slot(const struct pool *pool, const char *text)
{
    uint64_t hash = text_hash(text);
    size_t at = (size_t)(hash ^ hash >> 32) & (pool->slot_count - 1);

    while (pool->slots[at] != POOL_NONE && strcmp(pool_text(pool, pool->slots[at]), text) != 0) {
        at = (at + 1) & (pool->slot_count - 1);
    }
    return &pool->slots[at];
}

static int grow_slots(struct pool *pool)
{
    size_t count = pool->slot_count ? 2 * pool->slot_count : 64;
    uint32_t *slots = reallocarray(NULL, count, sizeof *slots);

    if (!slots) {
        return -1;
    }
    memset(slots, 0xff, count * sizeof *slots);
    free(pool->slots);
    pool->slots = slots;
    pool->slot_count = count;
    for (size_t i = 0; i < pool->count; i++) {
        *pool_find_slot(pool, pool_text(pool, (uint32_t)i)) = (uint32_t)i;
    }
    return 0;
}

uint32_t pool_put(struct pool *pool, const char *text)
{
    size_t size = strlen(text) + 1;
    uint32_t *slot;

    if (2 * (pool->count + 1) > pool->slot_count && grow_slots(pool)) {
        return POOL_NONE;
    }
    slot = pool_find_slot(pool, text);
    if (*slot != POOL_NONE) {
        return *slot;
    }
    if (array_extend(&pool->bytes, pool->size, size, &pool->room, 1) ||
        pool->size + size >= POOL_NONE ||
        array_add(&pool->offsets, pool->count, &pool->offset_room, sizeof *pool->offsets)) {
        return POOL_NONE;
    }
    memcpy(pool->bytes + pool->size, text, size);
    pool->offsets[pool->count] = (uint32_t)pool->size;
    pool->size += size;
    *slot = (uint32_t)pool->count;
    return (uint32_t)pool->count++;
}

uint32_t pool_put_row(struct pool *pool, const char *text, void *array, size_t *room, size_t size)
{
    size_t before = pool->count;
    uint32_t number = array_add(array, before, room, size) ? POOL_NONE : pool_put(pool, text);
    char *rows;

    if (number == before) {
        memcpy(&rows, array, sizeof rows);
        memset(rows + number * size, 0, size);
    }
    return number;
}

uint32_t pool_find(const struct pool *pool, const char *text)
{
    return pool->slot_count ? *pool_find_slot(pool, text) : POOL_NONE;
}

const char *pool_text(const struct pool *pool, uint32_t number)
{
    return pool->bytes + pool->offsets[number];
}

void pool_free(struct pool *pool)
{
    free(pool->bytes);
    free(pool->offsets);
    free(pool->slots);
    *pool = (struct pool){0};
}
