/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_LOOP_H
#define NODE_LOOP_H
#include <stddef.h>

/*
 * The node sampler: reads all meters of a node as long as somebody wants it, and keeps its page.
 * acct_gather_energy_apapi.so starts it for slurmd; it ends when slurmd does.
 */

#define NODE_OPTION "--node" /* the program's mode */
#define NODE_ANOTHER 3       /* exit status: another one runs on this node */

typedef void (*node_say_f)(int priority, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

struct node_options {
    const char *node;   /* its name in Slurm */
    const char *config; /* path of apapi.conf; NULL: the site's */
    int owner;          /* a socket that shows end of file when slurmd ends; -1: none */
    node_say_f say;     /* to the system's log */
};

/** @param problem  for the owner, one line; "": none. @return the exit status. Signals are blocked.
 */
int node_run(const struct node_options *options, char *problem, size_t size);

#endif
