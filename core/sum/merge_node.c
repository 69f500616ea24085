/* SPDX-License-Identifier: BSD-3-Clause */
#include "sum/merge_node.h"

#include <string.h>

#include "apapi/record.h"

uint32_t merge_hash(const char *text)
{
    uint32_t hash = 2166136261U; /* FNV-1a */

    for (size_t i = 0; i < APAPI_TEXT_SIZE - 1 && text[i]; i++) {
        hash = (hash ^ (unsigned char)text[i]) * 16777619U;
    }
    return hash;
}

int merge_node_order(const struct merge_node *left, const struct merge_node *right)
{
    if (left->state != right->state) {
        return left->state < right->state ? -1 : 1;
    }
    if (left->index != right->index) {
        return left->index < right->index ? -1 : 1;
    }
    return strverscmp(left->name, right->name);
}
