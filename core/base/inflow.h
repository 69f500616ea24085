/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_INFLOW_H
#define APAPI_BASE_INFLOW_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Bytes of a file or a pipe. Data compressed with gzip are decompressed. zlib is loaded when
 * needed.
 */

/** All zero before the first inflow_begin(). */
struct inflow {
    int fd;
    struct unpacker *unpacker; /* NULL: the data are not compressed */
    const char *problem; /* why inflow_read() failed with EBADMSG or ENOTSUP; static storage */
};

/**
 * Begin to read `fd` at its current position.
 * @param look  detect compression: `fd` is at the beginning of the file
 * @return 0; -1 with errno of read(2), ENOMEM, ENOTSUP (zlib is missing, or zstd compressed it).
 */
int inflow_begin(struct inflow *inflow, int fd, bool look);

/** Read as read(2) does; also -1 with errno EBADMSG (damaged data), ENOMEM. */
ssize_t inflow_read(struct inflow *inflow, void *buffer, size_t size);

/** Free what `inflow` owns, and set it to zeros. */
void inflow_end(struct inflow *inflow);

/** @return whether a file name has the suffix of a compressed file: ".gz". */
bool inflow_is_packed(const char *name);

#endif
