/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ACCT_GATHER_KEEPER_H
#define ACCT_GATHER_KEEPER_H

/*
 * Keeps a node sampler running, for slurmd: a thread that starts it, sleeps until it ends, and
 * starts it again after a pause, which grows as long as it ends at once. The sampler is no child of
 * slurmd, and ends with it.
 */

struct keeper_settings {
    char libexec_dir[512]; /* where apapi-sampler is */
    char config[512];      /* path of apapi.conf */
    char node[256];        /* name in Slurm */
};

/** Start the thread, unless it runs. @param settings  borrowed until keeper_stop() */
void keeper_start(const struct keeper_settings *settings);

/** End the thread, and with it the sampler. */
void keeper_stop(void);

#endif
