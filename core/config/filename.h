/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CONFIG_FILENAME_H
#define CONFIG_FILENAME_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"

/*
 * File name patterns as in srun's -o:
 *   %j job   %J job.step   %s step   %A job id of the array   %a index in the array   %N node
 * (short name)   %n index of the node   %t task   %u user   %x name of the job   %% a per cent
 * sign. A number up to 10 after the % pads numbers with zeros: %4j.
 */

#define FILENAME_NO_ARRAY 4294967294U /* Slurm's index if there is no array */

/** The values that replace the letters of a pattern. Texts are never NULL. */
struct filename_values {
    uint32_t job;
    const char *step; /* "0", "batch" */
    uint32_t array_job, array_index;
    const char *node;
    uint32_t node_index, task;
    const char *user;
    const char *name; /* of the job */
};

/** Check a pattern. @return 0; -1 with errno EINVAL, ENAMETOOLONG; `err` quotes the bad part. */
int filename_check(const char *pattern, struct apapi_error *err);

/** @return whether the pattern has one of these letters, for example "Nn". */
bool filename_has(const char *pattern, const char *letters);

/**
 * Replace the letters of a pattern by the values. A '/' in user and name becomes '_'.
 * @return 0; -1 with errno as filename_check(), and `name` is "".
 */
int filename_expand(const char *pattern, const struct filename_values *values, char *name,
                    size_t size, struct apapi_error *err);

/**
 * Complete the pattern of a trace, so that no two processes write the same file: for a step of
 * several nodes, append ".%N" to a pattern without %N or %n; for a batch step, whose sruns inherit
 * the option, append ".batch" to a pattern without %s or %J.
 * @return 0; -1 with errno ENAMETOOLONG.
 */
int filename_trace(const char *pattern, uint32_t nodes, bool batch, char *unique, size_t size);

/**
 * Make a name absolute.
 * @param folder  absolute, for relative names
 * @return 0; -1 with errno ENOENT (a folder is needed but not given), ENAMETOOLONG.
 */
int filename_absolute(const char *folder, const char *name, char *path, size_t size,
                      struct apapi_error *err);

#endif
