/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_NAMELIST_H
#define APAPI_BASE_NAMELIST_H
#include <stdbool.h>
#include <stddef.h>

/** A list of copied texts. All zero at the start. */
struct namelist {
    char **names;
    size_t count, room;
};

/** Append a copy of a name. 0; -1 with ENOMEM. */
int namelist_add(struct namelist *list, const char *name);

/** The same of its first `size` bytes. */
int namelist_add_part(struct namelist *list, const char *name, size_t size);

/** Sort as strverscmp() does: n2 before n10. */
void namelist_sort(struct namelist *list);

/** Sort and remove duplicates. */
void namelist_unique(struct namelist *list);

/** @return whether a sorted list has the name. */
bool namelist_have(const struct namelist *list, const char *name);

/** Free what it owns. errno is preserved. */
void namelist_free(struct namelist *list);

#endif
