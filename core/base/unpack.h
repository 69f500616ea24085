/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_UNPACK_H
#define APAPI_BASE_UNPACK_H
#include <stdbool.h>
#include <stddef.h>

/** The compressed input and the space for the output. Both advance as they are used. */
struct unpacking {
    const char *in;
    size_t in_size;
    char *out;
    size_t out_size;
    bool at_end; /* result: the end of a compressed frame was reached */
};

/** A compression format. */
struct unpack_format {
    const char *suffix,
        *missing; /* suffix of file names; error message if the library is missing */
    unsigned char magic[4];
    size_t magic_size;
    void *(*create)(void);                                   /* NULL with errno ENOMEM, ENOTSUP */
    int (*step)(void *decoder, struct unpacking *unpacking); /* 0; -1: damaged data */
    void (*destroy)(void *decoder);
};

/** gzip and zstd; ends with a suffix of NULL. */
extern const struct unpack_format unpack_formats[];

#endif
