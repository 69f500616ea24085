/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_OUTPUT_H
#define SPANK_APAPI_OUTPUT_H
#include <stdint.h>

#include "apapi/error.h"

/**
 * Write a text to a descriptor of the host without blocking, in one piece if possible, even if
 * other processes write there. The descriptor's flags stay unchanged. Raises no SIGPIPE. What
 * cannot be written by the deadline is dropped.
 * @return 0; -1 with errno ETIMEDOUT or that of write(2).
 */
int spank_apapi_output_write(int fd, const char *text, uint64_t deadline_ns);

/** The destination of srun's report. */
struct spank_apapi_destination {
    const char *path; /* opened at the first write; NULL: standard error */
    int fd;           /* -1: not open */
};

/**
 * Write a part of the report. Before the first part, a file is emptied or created. Waits at most
 * half a second for a reader, and not at all if there is none.
 * @return 0; -1 with errno, `err` names the file.
 */
int destination_write(struct spank_apapi_destination *destination, const char *text,
                      struct apapi_error *err);

/** Close. @return 0; -1 with errno: not everything was written. */
int destination_close(struct spank_apapi_destination *destination, struct apapi_error *err);

#endif
