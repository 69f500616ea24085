/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SYNC_DBD_H
#define SYNC_DBD_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"
#include "sync/jobs.h"

/* Access to Slurm's accounting, with one connection at a time. Only dbd.c uses libslurm. */

/** @return the name of slurm.conf's cluster; "": not known. Static storage. */
const char *dbd_cluster(void);

/** Read slurm.conf and connect. @return 0; -1 with errno EIO. */
int dbd_open(struct apapi_error *err);

/** Close. Uncommitted changes are lost. */
void dbd_close(void);

/**
 * Add all runs of the jobs that slurmdbd knows to `runs`, and sort `runs`.
 * @param cluster  "": the cluster of slurm.conf
 * @return 0; -1 with errno EIO, ENOMEM.
 */
int dbd_find(const char *cluster, const uint32_t *jobs, size_t count, struct runs *runs,
             struct apapi_error *err);

/** Set the AdminComment of a job's latest run. @return 0; -1 with errno EPERM, ENOENT, EIO. */
int dbd_write(const char *cluster, const struct dbd_run *run, char *comment,
              struct apapi_error *err);

/** Commit the changes. @return 0; -1 with errno EIO. */
int dbd_commit(struct apapi_error *err);

#endif
