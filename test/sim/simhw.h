/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * apapi-simhw: simulated energy meters behind a file tree. A spec (spec.c) becomes a tree of nodes
 * (tree.c). meter.c knows what a read of a node returns at a time; fuse_server.c and file_server.c
 * show the tree to readers. Any error ends the program.
 */
#ifndef SIMHW_H
#define SIMHW_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "load.h"

#define SIM_NS_PER_S 1000000000ULL
#define SIM_TEXT_SIZE 1024 /* longest content of a file, with its newline and the final NUL */
#define SIM_NONE SIZE_MAX  /* no such node */

enum { SIM_FAILURE = 1, SIM_BAD_USE = 2 }; /* exit status */

enum sim_kind { SIM_DIR, SIM_LINK, SIM_TEXT, SIM_ENERGY, SIM_MSR };

/* Power from second 0 of the simulation on. */
struct sim_power {
    uint64_t power_uw;
    struct sim_load *load; /* power that programs add; NULL: none */
};

/* A model-specific register of 8 bytes: a constant, or an energy counter of 32 bits. */
struct sim_register {
    uint32_t number;
    bool counts;
    unsigned int unit_exponent; /* one count is 2^-unit_exponent J */
    uint64_t value;             /* the constant, or the counter at second 0 */
    uint64_t power_uw;
};

enum sim_event_kind { SIM_FAIL, SIM_FREEZE, SIM_RESET, SIM_ABSURD, SIM_VANISH };

/* Something that happens to a node from `from_ns` on and before `to_ns`. */
struct sim_event {
    enum sim_event_kind kind;
    uint64_t from_ns, to_ns;
    bool done;      /* SIM_ABSURD: it was read */
    bool reopen;    /* SIM_VANISH: files that were open before stay dead */
    char value[64]; /* SIM_ABSURD */
};

struct sim_node {
    char *name;
    size_t parent; /* index; the root is its own parent */
    enum sim_kind kind;
    mode_t mode;        /* permission bits */
    char *text;         /* SIM_TEXT: content; SIM_LINK: target */
    uint64_t update_ns; /* 0: the meter moves all the time */
    struct sim_power power;
    uint64_t range_uj, start_uj;
    uint64_t divisor; /* the number is divided by it before it is shown */
    char unit[16];    /* shown after the number and a blank; "": none */
    struct sim_event *events;
    size_t event_count;
    struct sim_register *registers;
    size_t register_count;
};

/* Node 0 is the root folder; a parent always comes before its children. */
struct sim_tree {
    struct sim_node *nodes;
    size_t count;
    bool vanishes; /* a node has a SIM_VANISH */
};

/* Make room for one more element, which is zeroed, at the end of a list. @return the list */
void *sim_grow(void *list, size_t *count, size_t size);

/* Make a tree that has only its root. */
void sim_tree_init(struct sim_tree *tree);

/* @return the child of a folder, or SIM_NONE. */
size_t sim_tree_child(const struct sim_tree *tree, size_t parent, const char *name);

/* @return the node at `path`, in which links are followed, or SIM_NONE. */
size_t sim_tree_find(const struct sim_tree *tree, const char *path);

/* Like sim_tree_find(), but make missing folders. SIM_NONE: not a plain relative path. */
size_t sim_tree_make(struct sim_tree *tree, const char *path);

/* Add a spec to the tree. `exact`: each read is answered for its own moment. */
void sim_spec_load(struct sim_tree *tree, const char *path, bool exact);

/* The spec language, for the usage text. */
extern const char sim_spec_help[];

/* Write the content of a text or energy node at a time, with newline and NUL. @return the length,
 * or a negative errno. A pending SIM_ABSURD is used up. */
ssize_t sim_meter_read(struct sim_node *node, uint64_t time_ns, char text[SIM_TEXT_SIZE]);

/* Read register `number` of an MSR node at a time. @return 0; a negative errno (-EIO: unknown). */
int sim_meter_read_register(const struct sim_node *node, uint64_t time_ns, uint64_t number,
                            uint64_t *value);

/* @return whether the node, or a folder above it, has vanished at that time. */
bool sim_meter_vanished(const struct sim_tree *tree, size_t node, uint64_t time_ns);

/* @return whether a file opened at `opened_ns` is dead at that time: vanished, or replaced. */
bool sim_meter_dead(const struct sim_tree *tree, size_t node, uint64_t opened_ns, uint64_t time_ns);

/* main.c: the run, which ends together with the process that it watches. */

_Noreturn void sim_die(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* @return nanoseconds since second 0; with $APAPI_SIMHW_TIME, its time and a 10 000th of them. */
uint64_t sim_time_ns(void);

/* Make the present second 0. */
void sim_start(const struct sim_tree *tree);

/* Report that the tree can be read: the caller of this program goes on. */
void sim_ready(void);

/* Wait until `fd` is readable. @return false: the watched process has ended. */
bool sim_wait(int fd);

/* Servers: show the tree at `dir` until the run ends. */
void sim_fuse_serve(struct sim_tree *tree, const char *dir);
void sim_file_serve(struct sim_tree *tree, const char *dir);

#endif
