/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_EXPORT_READ_H
#define APAPI_EXPORT_READ_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"
#include "output/prometheus.h"

/** Which steps `apapi export` reads, and from where. */
struct export_input {
    const char *acct_dir;
    bool own_folders; /* acct_dir is the site's: there may be nothing yet */
    const char *spool_dir;
    const char *live_dir; /* "": there are no live pages */
    const char *nodes;    /* as Slurm writes them */
    int64_t from_ns;      /* when a finished step ended, at least [ns since 1970] */
    bool verbose;         /* each line that is skipped is told on standard error */
};

/**
 * Read the accounting files, then the spool: its records of running steps, and those that wait to
 * be written; then the live pages. There may be no spool and no pages.
 * @return 0; -1 with errno of opening a folder, EINVAL (`nodes`), ENOMEM.
 */
int export_read(const struct export_input *input, struct prometheus *prometheus,
                struct prometheus_counts *counts, struct apapi_error *err);

#endif
