/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/node_cores.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/hostlist.h"
#include "config/slurm_conf.h"

#define COUNT_MAX 1000000
#define LIST_MAX (1 << 20)

/* What a line says of a node; 0: nothing. */
struct shape {
    uint32_t cpus, boards, sockets, board_sockets, cores, threads;
};

static const struct {
    const char *key;
    size_t offset;
} core_keys[] = {{"CPUs", offsetof(struct shape, cpus)},
                 {"Procs", offsetof(struct shape, cpus)},
                 {"Boards", offsetof(struct shape, boards)},
                 {"Sockets", offsetof(struct shape, sockets)},
                 {"SocketsPerBoard", offsetof(struct shape, board_sockets)},
                 {"CoresPerSocket", offsetof(struct shape, cores)},
                 {"ThreadsPerCore", offsetof(struct shape, threads)}};

struct node_search {
    const char *node;
    struct shape defaults, found;
};

struct match {
    const char *node;
    bool found;
};

static int note_name(void *context, const char *name)
{
    struct match *match = context;

    match->found |= strcmp(name, match->node) == 0;
    return 0;
}

static bool names(const char *value, const char *node)
{
    struct match match = {node, false};
    int length = slurm_conf_length(value);
    char *list = length < LIST_MAX ? strndup(value, (size_t)length) : NULL;

    if (list) {
        hostlist_each(list, note_name, &match);
    }
    free(list);
    return match.found;
}

static void read_shape(char *line, struct shape *shape)
{
    for (size_t i = 0; i < sizeof core_keys / sizeof *core_keys; i++) {
        const char *value = slurm_conf_find(line, core_keys[i].key);
        unsigned long number = value ? strtoul(value, NULL, 10) : 0;

        if (number > 0 && number < COUNT_MAX) {
            *(uint32_t *)(void *)((char *)shape + core_keys[i].offset) = (uint32_t)number;
        }
    }
}

static void node_cores_search(char *line, void *context)
{
    struct node_search *search = context;
    const char *value = slurm_conf_find(line, "NodeName");

    if (!value) {
        return;
    }
    if (strncasecmp(value, "DEFAULT", 7) == 0 && slurm_conf_length(value) == 7) {
        read_shape(line, &search->defaults);
    } else if (names(value, search->node)) {
        search->found = search->defaults;
        read_shape(line, &search->found);
    }
}

static uint32_t or_one(uint32_t count)
{
    return count ? count : 1;
}

/* Where only CPUs are said, Slurm takes each for a core. */
static uint32_t cores_of(const struct shape *shape)
{
    uint64_t cores = or_one(shape->cores), per_socket = cores * or_one(shape->threads), sockets;

    if (!shape->cpus && !shape->boards && !shape->sockets && !shape->board_sockets &&
        !shape->cores) {
        return 0;
    }
    if (shape->board_sockets) {
        sockets = (uint64_t)or_one(shape->boards) * shape->board_sockets;
    } else if (shape->sockets) {
        sockets = shape->sockets;
    } else {
        sockets = shape->cpus ? shape->cpus / per_socket : or_one(shape->boards);
    }
    return sockets * cores < COUNT_MAX ? (uint32_t)(sockets * cores) : 0;
}

uint32_t config_node_cores(const char *path, const char *node)
{
    struct node_search search = {.node = node};

    slurm_conf_each(path, node_cores_search, &search);
    return cores_of(&search.found);
}
