/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_LOOP_H
#define NODE_LOOP_H
#include <stddef.h>

/*
 * The node sampler reads all meters of a node and keeps the node's pages.
 * acct_gather_energy_apapi.so starts it for slurmd, and it ends when slurmd ends.
 */

#define NODE_OPTION "--node" /* selects this mode of the program */
#define NODE_ANOTHER 3       /* exit status: another node sampler runs on this node */

typedef void (*node_say_f)(int priority, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

struct node_options {
    const char *node;   /* the node's name in Slurm */
    const char *config; /* path of apapi.conf; NULL: the site's */
    int owner;          /* a socket that shows end of file when slurmd ends; -1: none */
    node_say_f say;     /* to the system's log */
};

/** Run the node sampler until it ends. All signals are blocked.
 * @param problem  one line for the owner; "": none. @return the exit status */
int node_run(const struct node_options *options, char *problem, size_t size);

#endif
