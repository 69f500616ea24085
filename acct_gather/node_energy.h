/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ACCT_GATHER_NODE_ENERGY_H
#define ACCT_GATHER_NODE_ENERGY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/live.h"
#include "config/config.h"

/* The energy plugin's code without Slurm: its process, and the energy of the node and of a step. */

/** The process of Slurm that has loaded this plugin. */
enum role { ROLE_OTHER, ROLE_SLURMD, ROLE_STEP };

enum role settings_role(void);

struct settings {
    struct config config;
    char node[256]; /* name in Slurm */
};

/** Read apapi.conf, and find the name that this node has in Slurm. */
void settings_read(struct settings *settings, const struct config_sink *sink);

/**
 * Find the name that slurmd was given with -N: "-N n1", "-Nn1", or in a word with further letters,
 * "-DvN n1".
 * @param words   the command line, as in /proc/PID/cmdline, and a NUL after it
 * @param length  of `words`, without the NUL after it [bytes]
 * @param node    result; cut to `size`. Changed on success only
 * @return whether there is such a name
 */
bool node_option_find(const char *words, size_t length, char *node, size_t size);

/* The node sampler's figures, <live_dir>/<node>/node. No function waits for it, or allocates. */
struct node_page {
    const struct apapi_live_page *page; /* NULL: there is none (yet) */
    char path[512];
};

/** Energy and power of the node. Times are CLOCK_MONOTONIC [ns]. */
struct node_energy {
    double energy_j;   /* from the first node sampler of this boot to `known_ns` [J] */
    double power_w;    /* now [W]; NaN: the meters are not read any more */
    double mean_w;     /* from that node sampler to `read_ns` [W]; NaN: not known */
    uint64_t read_ns;  /* when the meters were read */
    uint64_t known_ns; /* now, or the end of the time for which the latest power is assumed */
};

/** Set the page's path. */
void node_page_init(struct node_page *page, const char *live_dir, const char *node);

/**
 * Get the page's figures at this moment. The page is mapped as soon as it exists, and again if the
 * mapped one is not written any more.
 * @param now_ns  CLOCK_MONOTONIC [ns]
 * @return whether the energy is known
 */
bool node_page_read(struct node_page *page, uint64_t now_ns, struct node_energy *energy);

void node_page_close(struct node_page *page);

/* The energy of a step. Pure arithmetic. Times are CLOCK_MONOTONIC [ns]. */
struct tally {
    uint64_t begin_ns; /* of the step */
    uint64_t first_ns; /* since when the energy is known; 0: it never was */
    uint64_t known_ns; /* until when the energy is known */
    double first_j;    /* of the node, at `first_ns` [J] */
    double latest_j;   /* the greatest energy of the node since then [J] */
};

/** Add the node's energy. Energy that is known only for a time before the step is ignored. */
void tally_add(struct tally *tally, const struct node_energy *energy);

/**
 * Get the energy so far.
 * @param now_ns    the moment
 * @param energy_j  result: whole joules, never taken back. Changed on success only
 * @return whether the energy is known for all but a hundredth of the step's time
 */
bool tally_sum(const struct tally *tally, uint64_t now_ns, uint64_t *energy_j);

#endif
