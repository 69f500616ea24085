/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/namelist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

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

static int namelist_compare(const void *left, const void *right)
{
    return strverscmp(*(const char *const *)left, *(const char *const *)right);
}

void namelist_sort(struct namelist *list)
{
    if (list->count > 0) {
        qsort(list->names, list->count, sizeof(char *), namelist_compare);
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
           bsearch(&name, list->names, list->count, sizeof(char *), namelist_compare) != NULL;
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
