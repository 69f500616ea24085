/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_INFLOW_H
#define APAPI_BASE_INFLOW_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Bytes of a file or a pipe; what gzip and zstd have compressed comes as it was before. Their
 * libraries are loaded when they are needed.
 */

struct unpacker;

/** Zeroed before the first inflow_begin(). */
struct inflow {
    int fd;
    char *chunk; /* read, and not handed out yet */
    size_t begin, end;
    struct unpacker *unpacker; /* NULL: the bytes are as they are */
    bool ended;
    const char *problem; /* why inflow_read() has failed with EBADMSG or ENOTSUP; static storage */
};

/**
 * Begin to read `fd` from where it stands.
 * @param look  whether it may be compressed: it stands at its beginning
 * @return 0; -1 with errno ENOMEM, ENOTSUP (a library is missing), that of read(2).
 */
int inflow_begin(struct inflow *inflow, int fd, bool look);

/** As read(2); also -1 with EBADMSG: damaged. */
ssize_t inflow_read(struct inflow *inflow, void *buffer, size_t size);

/** Free what it owns. */
void inflow_end(struct inflow *inflow);

/** @return whether a file's name says that it is compressed: ".gz", ".zst". */
bool inflow_is_packed(const char *name);

#endif
