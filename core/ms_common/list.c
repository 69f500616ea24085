/* SPDX-License-Identifier: BSD-3-Clause */
#include "ms_common/list.h"

#include <stdlib.h>

static struct ms_list *list_create(enum resource resource)
{
    struct ms_list *node = calloc(1, sizeof *node);
    void *measurement = calloc(1, resource_size(resource));

    if (!node || !measurement) {
        free(node);
        free(measurement);
        return NULL;
    }
    *resource_wait(resource, measurement) = (struct timespec){-1, -1};
    *resource_checks(resource, measurement) = 1;
    node->resource_id = resource_flag(resource);
    node->ms_measurement = measurement;
    return node;
}

int list_append(struct ms_list **list, enum resource resource)
{
    struct ms_list *node = list_create(resource);

    while (*list) {
        list = &(*list)->next;
    }
    *list = node;
    return node ? 0 : -1;
}

void *list_find(const struct ms_list *list, enum resource resource)
{
    while (list && list->resource_id != resource_flag(resource)) {
        list = list->next;
    }
    return list ? list->ms_measurement : NULL;
}

void list_free(struct ms_list *list)
{
    while (list) {
        struct ms_list *next = list->next;

        free(list->ms_measurement);
        free(list);
        list = next;
    }
}
