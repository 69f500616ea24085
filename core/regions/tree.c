/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions/tree.h"

#include <pthread.h>
#include <string.h>

uint8_t tree_children[PAGE_NODES][INTERN_NAMES];
static uint8_t tree_names[PAGE_NODES]; /* a node's is set before it is known */
static pthread_mutex_t tree_lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t tree_add(struct page_program *page, uint32_t parent, uint32_t number)
{
    uint32_t node = page->head.node_count;

    if (node >= PAGE_REST || parent == PAGE_REST || number == INTERN_OTHER) {
        return PAGE_REST;
    }
    page->nodes[node].parent = parent;
    memcpy(page->nodes[node].name, intern_shown(number), strlen(intern_shown(number)) + 1);
    tree_names[node] = (uint8_t)number;
    __atomic_store_n(&page->head.node_count, node + 1, __ATOMIC_RELEASE);
    return node;
}

uint32_t tree_node(struct page_program *page, uint32_t parent, uint32_t number)
{
    uint32_t node;

    pthread_mutex_lock(&tree_lock);
    node = tree_children[parent][number];
    if (node == 0) {
        node = tree_add(page, parent, number);
        __atomic_store_n(&tree_children[parent][number], (uint8_t)node, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&tree_lock);
    return node;
}

uint32_t tree_name(uint32_t node)
{
    return node == PAGE_REST ? INTERN_OTHER : tree_names[node];
}

bool tree_has(const struct page_program *page, uint32_t node, uint32_t number)
{
    while (node != 0 && tree_name(node) != number) {
        node = page->nodes[node].parent;
    }
    return node != 0;
}

void tree_clear(void)
{
    memset(tree_children, 0, sizeof tree_children);
}

void tree_unlock(void)
{
    pthread_mutex_init(&tree_lock, NULL);
}
