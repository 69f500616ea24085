/* SPDX-License-Identifier: BSD-3-Clause */
#include "sum/lacking.h"

#include <errno.h>
#include <string.h>

#include "base/hostlist.h"

struct names {
    struct namelist list;
    uint32_t room; /* for so many more */
};

static int add(void *context, const char *name)
{
    struct names *names = context;

    if (names->room == 0) {
        errno = EINVAL;
        return -1;
    }
    names->room--;
    return namelist_add(&names->list, name);
}

static bool has_twins(const struct namelist *sorted)
{
    for (size_t i = 1; i < sorted->count; i++) {
        if (strcmp(sorted->names[i - 1], sorted->names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool has_all(const struct namelist *sorted, const struct namelist *wanted)
{
    for (size_t i = 0; i < wanted->count; i++) {
        if (!namelist_have(sorted, wanted->names[i])) {
            return false;
        }
    }
    return true;
}

static int subtract(const struct namelist *all, const struct namelist *own,
                    struct namelist *lacking)
{
    for (size_t i = 0; i < all->count; i++) {
        if (!namelist_have(own, all->names[i]) && namelist_add(lacking, all->names[i])) {
            return -1;
        }
    }
    return 1;
}

int lacking_nodes(const char *list, uint32_t nodes, const struct namelist *own,
                  struct namelist *lacking)
{
    struct names all = {.room = nodes};
    int result = 0;

    *lacking = (struct namelist){0};
    if (hostlist_each(list, add, &all) < 0) {
        result = errno == ENOMEM ? -1 : 0;
    } else if (all.room == 0) {
        namelist_sort(&all.list);
        if (!has_twins(&all.list) && has_all(&all.list, own)) {
            result = subtract(&all.list, own, lacking);
        }
    }
    namelist_free(&all.list);
    return result;
}
