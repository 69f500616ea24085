/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_UNPACK_H
#define APAPI_BASE_UNPACK_H
#include <stdbool.h>
#include <stddef.h>

/** What is still packed, and room for what is not. Both move as they are used. */
struct unpacking {
    const char *in;
    size_t in_size;
    char *out;
    size_t out_size;
    bool at_end; /* result: what was packed in one go is complete */
};

/** A format. */
struct unpack_format {
    const char *suffix, *missing; /* of a name; why it cannot be read without the library */
    unsigned char magic[4];
    size_t magic_size;
    void *(*create)(void);                                   /* NULL with errno ENOMEM, ENOTSUP */
    int (*step)(void *decoder, struct unpacking *unpacking); /* 0; -1: damaged */
    void (*destroy)(void *decoder);
};

/** gzip and zstd; ends with a suffix of NULL. */
extern const struct unpack_format unpack_formats[];

#endif
