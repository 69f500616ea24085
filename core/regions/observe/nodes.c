/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions/observe/nodes.h"

#include <stdio.h>
#include <string.h>

void nodes_init(struct nodes *nodes)
{
    memset(nodes, 0, sizeof(*nodes));
    nodes->count = NODES_FIRST;
}

size_t nodes_find(struct nodes *nodes, size_t parent, const char *name)
{
    size_t i = NODES_FIRST;

    if (parent == NODES_REST) {
        return NODES_REST;
    }
    while (i < nodes->count &&
           (nodes->list[i].parent != parent || strcmp(nodes->list[i].name, name) != 0)) {
        i++;
    }
    if (i == NODES_MAX) {
        nodes->lost++;
        return NODES_REST;
    }
    if (i == nodes->count) {
        nodes->list[i].parent = (uint32_t)parent;
        snprintf(nodes->list[i].name, sizeof nodes->list[i].name, "%s", name);
        nodes->count++;
    }
    return i;
}

/* From the end: the innermost names are there in any case. */
void nodes_path(const struct nodes *nodes, size_t node, char path[APAPI_REGION_PATH_SIZE])
{
    static const char cut[] = "...";
    size_t at = APAPI_REGION_PATH_SIZE - 1;

    path[at] = '\0';
    for (; node >= NODES_FIRST; node = nodes->list[node].parent) {
        const char *name = nodes->list[node].name;
        size_t size = strlen(name), slash = path[at] != '\0';

        if (size + slash + sizeof(cut) > at) {
            at -= sizeof(cut) - 1 + slash;
            memcpy(path + at, ".../", sizeof(cut) - 1 + slash);
            break;
        }
        at -= size + slash;
        memcpy(path + at, name, size);
        if (slash) {
            path[at + size] = '/';
        }
    }
    memmove(path, path + at, APAPI_REGION_PATH_SIZE - at);
}
