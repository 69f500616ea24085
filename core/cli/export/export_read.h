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
    bool own_folders; /* acct_dir is the site's: it may not exist yet */
    const char *spool_dir;
    const char *live_dir; /* "": no live pages */
    const char *nodes;    /* in Slurm's form */
    int64_t from_ns;      /* earliest end of a finished step [ns since 1970] */
    bool verbose;         /* report each skipped line on standard error */
};

/**
 * Read the accounting files, then the records of running steps and those that wait to be written in
 * the spool, then the live pages. Spool and pages may not exist.
 * @return 0; -1 with errno of opening a folder, EINVAL (`nodes`), ENOMEM.
 */
int export_read(const struct export_input *input, struct prometheus *prometheus,
                struct prometheus_counts *counts, struct apapi_error *err);

#endif
