/* SPDX-License-Identifier: BSD-3-Clause */
#include "sum/lacking.h"

#include <errno.h>

#include "base/hostlist.h"

static int subtract(const struct namelist *all, const struct namelist *own,
                    struct namelist *lacking)
{
    for (size_t i = 0; i < all->count; i++) {
        if (!namelist_have(own, all->names[i]) && namelist_add(lacking, all->names[i])) {
            return -1;
        }
    }
    if (all->count - lacking->count == own->count) {
        return 1;
    }
    namelist_free(lacking); /* some of `own` are not in the list */
    return 0;
}

int lacking_nodes(const char *list, uint32_t nodes, const struct namelist *own,
                  struct namelist *lacking)
{
    struct namelist all = {0};
    int result = 0;

    *lacking = (struct namelist){0};
    if (hostlist_names(list, &all) < 0) {
        result = errno == ENOMEM ? -1 : 0;
    } else if (all.count == nodes) {
        namelist_unique(&all);
        result = all.count == nodes ? subtract(&all, own, lacking) : 0;
    }
    namelist_free(&all);
    return result;
}
