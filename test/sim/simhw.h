/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * apapi-simhw: simulated energy meters behind a file tree.
 *
 * A spec (spec.c) becomes a tree of nodes (tree.c). signal.c knows the physics as pure functions of
 * time, meter.c what one read of a node yields, fuse_server.c and file_server.c show it to readers.
 */
#ifndef SIMHW_H
#define SIMHW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "load.h"

#define SIM_NS_PER_S 1000000000ULL

/* Longest content of a file with its newline and the final NUL. */
#define SIM_TEXT_SIZE 1024

/* No such node. */
#define SIM_NONE SIZE_MAX

enum sim_kind { SIM_DIR, SIM_LINK, SIM_TEXT, SIM_ENERGY, SIM_GAUGE, SIM_MSR };

enum sim_shape { SIM_CONSTANT, SIM_RAMP, SIM_SQUARE, SIM_LOADED };

/* Power over time, from second 0 of the simulation. */
struct sim_power {
    enum sim_shape shape;
    uint64_t power_uw;  /* constant; value at second 0 (ramp); first half of each period (square) */
    uint64_t high_uw;   /* square: second half of each period */
    uint64_t period_ns; /* square */
    int64_t slope_uw_s; /* ramp; never below 0 W */
    struct sim_load *load; /* loaded: what programs add to power_uw */
};

struct sim_gauge {
    double mean;
    double amplitude;
    uint64_t period_ns;
};

/* One 8-byte model specific register: a constant, or a 32-bit energy counter. */
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
    uint64_t from_ns;
    uint64_t to_ns;
    int error;      /* SIM_FAIL: the errno */
    bool done;      /* SIM_ABSURD: was read */
    bool reopen;    /* SIM_VANISH: what was open before stays dead */
    char value[64]; /* SIM_ABSURD */
};

struct sim_node {
    char *name;
    size_t parent; /* index; the root is its own parent */
    enum sim_kind kind;
    mode_t mode; /* permission bits */
    char *text;  /* SIM_TEXT: content; SIM_LINK: target */
    size_t file; /* which spec defined it: 1, 2, ...; 0 while it is only a folder on the way */
    uint64_t update_ns;
    struct sim_power power;
    struct sim_gauge gauge;
    uint64_t range_uj;
    uint64_t start_uj;
    uint64_t divisor; /* of the number that is shown; 0: 1 */
    char unit[16];    /* shown after it; "": nothing */
    struct sim_event *events;
    size_t event_count;
    struct sim_register *registers;
    size_t register_count;
};

/* Node 0 is the root folder. */
struct sim_tree {
    struct sim_node *nodes;
    size_t count;
    bool exact;    /* each read is answered at its own instant (FUSE) */
    bool vanishes; /* some node has a SIM_VANISH */
};

/* tree.c */

/* 0, or -1 with ENOMEM: a tree with nothing but its root. */
int sim_tree_init(struct sim_tree *tree, bool exact);

void sim_tree_clear(struct sim_tree *tree);

/* The child of folder `parent` with that name, or SIM_NONE. */
size_t sim_tree_child(const struct sim_tree *tree, size_t parent, const char *name);

/* The node at `path` (links in it are followed), or SIM_NONE. */
size_t sim_tree_find(const struct sim_tree *tree, const char *path);

/*
 * As sim_tree_find(), but creates missing folders. SIM_NONE with EINVAL (not a plain relative
 * path), ENOTDIR, ELOOP or ENOMEM.
 */
size_t sim_tree_make(struct sim_tree *tree, const char *path);

/* Write the path of a node below `dir` to `path`. 0, or -1 with ENAMETOOLONG. */
int sim_tree_path(const struct sim_tree *tree, size_t node, const char *dir, char *path,
                  size_t size);

/* Append to a node's lists. The new zeroed element, or NULL with ENOMEM. */
struct sim_event *sim_node_add_event(struct sim_node *node);
struct sim_register *sim_node_add_register(struct sim_node *node);

/* Forget the content of the node; its events and its mode stay. */
void sim_node_clear_content(struct sim_node *node);

/* number.c: strict numbers. 0, or -1 with EINVAL or ERANGE; nothing may follow the number. */

int sim_number_u64(const char *text, int base, uint64_t min, uint64_t max, uint64_t *number);

/* A decimal number times `scale`, rounded; the decimal number must be from `min` to `max`. */
int sim_number_scaled(const char *text, double min, double max, double scale, int64_t *number);

int sim_number_double(const char *text, double min, double max, double *number);

/* Seconds, at most 1e9, as nanoseconds; "inf" is UINT64_MAX. */
int sim_number_seconds(const char *text, uint64_t *time_ns);

/* spec.c */

/* Add a spec to the tree. `file` counts the specs from 1: a later one may replace what an earlier
 * one defined. 0, or -1 after a message on stderr that names file, line and what was expected. */
int sim_spec_load(struct sim_tree *tree, size_t file, const char *path);

/* The spec language, for the usage text. */
extern const char sim_spec_help[];

/* signal.c: pure functions of the time since the simulation began, and of what programs draw. */

uint64_t sim_power_energy_uj(const struct sim_power *power, uint64_t time_ns);

int64_t sim_gauge_value(const struct sim_gauge *gauge, uint64_t time_ns);

uint64_t sim_register_value(const struct sim_register *reg, uint64_t time_ns);

/* meter.c */

/* Content of a text, energy or gauge node at that time, with newline and NUL.
 * Its length, or a negative errno. A pending SIM_ABSURD is used up. */
ssize_t sim_meter_read(struct sim_node *node, uint64_t time_ns, char text[SIM_TEXT_SIZE]);

/* Register `number` of an MSR node at that time. 0 or a negative errno (-EIO: unknown). */
int sim_meter_read_register(const struct sim_node *node, uint64_t time_ns, uint64_t number,
                            uint64_t *value);

/* Is the node, or a folder above it, gone at that time? */
bool sim_meter_vanished(const struct sim_tree *tree, size_t node, uint64_t time_ns);

/* Whether what was opened at `opened_ns` is dead at that time: gone, or replaced. */
bool sim_meter_dead(const struct sim_tree *tree, size_t node, uint64_t opened_ns, uint64_t time_ns);

/* run.c */

/* One run of a server: its tree, and what ends it. */
struct sim_run {
    struct sim_tree *tree;
    const char *dir;
    uint64_t period_ns; /* between two updates of plain files */
    uint64_t start_ns;  /* second 0 of the simulation on CLOCK_MONOTONIC */
    int watch_fd;       /* pidfd of the process to end with, or -1 */
    int signal_fd;      /* SIGTERM, SIGINT, SIGHUP */
    int ready_fd;       /* gets a newline when the tree can be read, or -1 */
    bool background;
};

/* Nanoseconds since second 0, or the value in the file $APAPI_SIMHW_TIME. */
uint64_t sim_run_time_ns(const struct sim_run *run);

/* This is second 0. */
void sim_run_start(struct sim_run *run);

/* The tree can be read: notify the waiting process; in the background, close stdio. */
void sim_run_ready(struct sim_run *run);

/* Wait until `fd` is readable (1), the run is to end (0), or an error with errno (-1). */
int sim_run_wait(const struct sim_run *run, int fd);

/* Open what ends the run: signals, and the process `watch_pid` or, if 0, the parent. 0 or -1. */
int sim_run_open(struct sim_run *run, pid_t watch_pid);

/* Go to the background: the caller's process ends, with 0 when the child is ready. 0 or -1. */
int sim_run_detach(struct sim_run *run);

/* The servers: serve until the run ends. 0, or -1 after a message on stderr. */
int sim_fuse_serve(struct sim_run *run);
int sim_file_serve(struct sim_run *run);

#endif
