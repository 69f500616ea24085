/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_STORE_HOURS_H
#define APAPI_STORE_HOURS_H
#include "apapi/scan.h"
#include "store/hour.h"

/*
 * Nodes' own records of an accounting folder: <dir>/<YYYY-MM-DD>/<node>.hours, also .hours.gz and
 * .hours.zst. Whatever is no line of one is skipped, counted and reported.
 */

/** Receives what is read. `problem`, `begin` and `end` may be NULL. */
struct hours_sink {
    int (*hour)(const struct hour *hour, void *context); /* @return 0; -1 with errno: stop */
    void (*problem)(const struct apapi_scan_problem *problem, void *context);
    /* As in struct apapi_scan_sink, but each file is read from its start. */
    bool (*begin)(const struct apapi_scan_file *file, void *context);
    void (*end)(const struct apapi_scan_file *file, void *context);
    void *context;
};

/**
 * Read the hours of `nodes` (as Slurm writes them; NULL: all) that begin in a time, in the order of
 * days and nodes. @param counts  result: `records` are hours
 * @return 0; -1 with errno of opening `dir`, EINVAL (`nodes`), ENOMEM, or of the sink, which leaves
 * `err` empty
 */
int hours_read(const char *dir, const struct apapi_scan_filter *filter,
               const struct hours_sink *sink, struct apapi_scan_counts *counts,
               struct apapi_error *err);

#endif
