/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree of nodes: folders, links and the nodes of the specs. */
#include "simhw.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TREE_LINK_MAX = 8, TREE_NAME_MAX = 255, TREE_GROWTH = 64 };

/* Append a folder. Its index, or SIM_NONE with ENOMEM. */
static size_t tree_add(struct sim_tree *tree, size_t parent, const char *name)
{
    struct sim_node *node;

    if (tree->count % TREE_GROWTH == 0) {
        struct sim_node *nodes;

        nodes = realloc(tree->nodes, (tree->count + TREE_GROWTH) * sizeof(*nodes));
        if (nodes == NULL) {
            return SIM_NONE;
        }
        tree->nodes = nodes;
    }
    node = &tree->nodes[tree->count];
    memset(node, 0, sizeof(*node));
    node->name = strdup(name);
    if (node->name == NULL) {
        return SIM_NONE;
    }
    node->parent = parent;
    node->kind = SIM_DIR;
    node->mode = 0755;
    return tree->count++;
}

int sim_tree_init(struct sim_tree *tree, bool exact)
{
    memset(tree, 0, sizeof(*tree));
    tree->exact = exact;
    return tree_add(tree, 0, "") == SIM_NONE ? -1 : 0;
}

void sim_tree_clear(struct sim_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++) {
        sim_node_clear_content(&tree->nodes[i]);
        free(tree->nodes[i].events);
        free(tree->nodes[i].name);
    }
    free(tree->nodes);
    memset(tree, 0, sizeof(*tree));
}

size_t sim_tree_child(const struct sim_tree *tree, size_t parent, const char *name)
{
    for (size_t i = 1; i < tree->count; i++) {
        if (tree->nodes[i].parent == parent && strcmp(tree->nodes[i].name, name) == 0) {
            return i;
        }
    }
    return SIM_NONE;
}

static size_t tree_walk(const struct sim_tree *tree, size_t from, const char *path, int links);

/* Where link `node` leads, or SIM_NONE. */
static size_t tree_follow(const struct sim_tree *tree, size_t node, int links)
{
    const struct sim_node *link = &tree->nodes[node];

    if (links >= TREE_LINK_MAX) {
        errno = ELOOP;
        return SIM_NONE;
    }
    return tree_walk(tree, link->parent, link->text, links + 1);
}

/* One component of a path. */
static size_t tree_step(const struct sim_tree *tree, size_t from, const char *name, int links)
{
    size_t next;

    if (*name == '\0' || strcmp(name, ".") == 0) {
        return from;
    }
    if (strcmp(name, "..") == 0) {
        return tree->nodes[from].parent;
    }
    next = sim_tree_child(tree, from, name);
    if (next != SIM_NONE && tree->nodes[next].kind == SIM_LINK) {
        return tree_follow(tree, next, links);
    }
    return next;
}

static size_t tree_walk(const struct sim_tree *tree, size_t from, const char *path, int links)
{
    size_t at = from;

    while (*path != '\0' && at != SIM_NONE) {
        char name[TREE_NAME_MAX + 1];
        size_t length = strcspn(path, "/");

        if (length > TREE_NAME_MAX) {
            return SIM_NONE;
        }
        memcpy(name, path, length);
        name[length] = '\0';
        at = tree_step(tree, at, name, links);
        path += length + (path[length] == '/');
    }
    return at;
}

size_t sim_tree_find(const struct sim_tree *tree, const char *path)
{
    return tree_walk(tree, 0, path, 0);
}

/* Is it a name that a folder can hold? */
static bool tree_name_ok(const char *name)
{
    return *name != '\0' && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
           strlen(name) <= TREE_NAME_MAX;
}

/* The child `name` of folder `at`, created if it is missing. */
static size_t tree_enter(struct sim_tree *tree, size_t at, const char *name)
{
    size_t next;

    if (tree->nodes[at].kind != SIM_DIR) {
        errno = ENOTDIR;
        return SIM_NONE;
    }
    next = sim_tree_child(tree, at, name);
    if (next == SIM_NONE) {
        return tree_add(tree, at, name);
    }
    if (tree->nodes[next].kind != SIM_LINK) {
        return next;
    }
    errno = ENOENT;
    return tree_follow(tree, next, 0);
}

size_t sim_tree_make(struct sim_tree *tree, const char *path)
{
    char *copy = strdup(path);
    char *rest = copy;
    size_t at = copy == NULL ? SIM_NONE : 0;

    while (rest != NULL && at != SIM_NONE) {
        char *name = strsep(&rest, "/");

        if (!tree_name_ok(name)) {
            errno = EINVAL;
            at = SIM_NONE;
        } else {
            at = tree_enter(tree, at, name);
        }
    }
    free(copy);
    return at;
}

int sim_tree_path(const struct sim_tree *tree, size_t node, const char *dir, char *path,
                  size_t size)
{
    size_t used;

    if (node == 0) {
        if ((size_t)snprintf(path, size, "%s", dir) < size) {
            return 0;
        }
        errno = ENAMETOOLONG;
        return -1;
    }
    if (sim_tree_path(tree, tree->nodes[node].parent, dir, path, size) != 0) {
        return -1;
    }
    used = strlen(path);
    if ((size_t)snprintf(path + used, size - used, "/%s", tree->nodes[node].name) < size - used) {
        return 0;
    }
    errno = ENAMETOOLONG;
    return -1;
}

struct sim_event *sim_node_add_event(struct sim_node *node)
{
    struct sim_event *events;

    events = realloc(node->events, (node->event_count + 1) * sizeof(*events));
    if (events == NULL) {
        return NULL;
    }
    node->events = events;
    memset(&events[node->event_count], 0, sizeof(*events));
    return &events[node->event_count++];
}

struct sim_register *sim_node_add_register(struct sim_node *node)
{
    struct sim_register *registers;

    registers = realloc(node->registers, (node->register_count + 1) * sizeof(*registers));
    if (registers == NULL) {
        return NULL;
    }
    node->registers = registers;
    memset(&registers[node->register_count], 0, sizeof(*registers));
    return &registers[node->register_count++];
}

void sim_node_clear_content(struct sim_node *node)
{
    free(node->text);
    node->text = NULL;
    node->divisor = 0;
    node->unit[0] = '\0';
    free(node->registers);
    node->registers = NULL;
    node->register_count = 0;
}
