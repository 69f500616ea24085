/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree of nodes: folders, links and the nodes of the specs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "simhw.h"

enum { TREE_LINKS_MAX = 8, TREE_NAME_MAX = 255 };

void *sim_grow(void *list, size_t *count, size_t size)
{
    char *grown = realloc(list, (*count + 1) * size);

    if (grown) {
        memset(grown + (*count)++ * size, 0, size);
        return grown;
    }
    sim_die(SIM_FAILURE, "%s", strerror(ENOMEM));
}

/* Append a folder. */
static size_t tree_add(struct sim_tree *tree, size_t parent, const char *name, size_t length)
{
    struct sim_node *node;

    tree->nodes = sim_grow(tree->nodes, &tree->count, sizeof *tree->nodes);
    node = &tree->nodes[tree->count - 1];
    node->name = strndup(name, length);
    node->parent = parent;
    node->kind = SIM_DIR;
    node->mode = 0755;
    return tree->count - 1;
}

void sim_tree_init(struct sim_tree *tree)
{
    tree_add(tree, 0, "", 0);
}

static size_t tree_child(const struct sim_tree *tree, size_t parent, const char *name,
                         size_t length)
{
    for (size_t i = 1; i < tree->count; i++) {
        const struct sim_node *node = &tree->nodes[i];

        if (node->parent == parent && strncmp(node->name, name, length) == 0 &&
            node->name[length] == '\0') {
            return i;
        }
    }
    return SIM_NONE;
}

size_t sim_tree_child(const struct sim_tree *tree, size_t parent, const char *name)
{
    return tree_child(tree, parent, name, strlen(name));
}

/* @param making  the same tree: missing folders are made; NULL: only look */
static size_t tree_walk(const struct sim_tree *tree, struct sim_tree *making, size_t at,
                        const char *path, int links)
{
    while (*path && at != SIM_NONE) {
        size_t length = strcspn(path, "/");
        size_t next = at;

        if (length == 2 && strncmp(path, "..", 2) == 0) {
            next = tree->nodes[at].parent;
        } else if (length > 0) {
            next = tree_child(tree, at, path, length);
        }
        if (next == SIM_NONE && making && length <= TREE_NAME_MAX &&
            tree->nodes[at].kind == SIM_DIR) {
            next = tree_add(making, at, path, length);
        }
        if (next != SIM_NONE && tree->nodes[next].kind == SIM_LINK) {
            next = links == TREE_LINKS_MAX ? SIM_NONE
                                           : tree_walk(tree, NULL, tree->nodes[next].parent,
                                                       tree->nodes[next].text, links + 1);
        }
        at = next;
        path += length + (path[length] == '/');
    }
    return at;
}

size_t sim_tree_find(const struct sim_tree *tree, const char *path)
{
    return tree_walk(tree, NULL, 0, path, 0);
}

size_t sim_tree_make(struct sim_tree *tree, const char *path)
{
    return *path == '/' ? SIM_NONE : tree_walk(tree, tree, 0, path, 0);
}
