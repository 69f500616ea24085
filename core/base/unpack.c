/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * zlib and libzstd, loaded when compressed data are read. Their streaming interfaces, declared
 * here, are unchanged since version 1.0 of each.
 */
#include "base/unpack.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/shared_library.h"

/* --- zlib ----------------------------------------------------------------------------------- */

#define Z_OK 0
#define Z_STREAM_END 1
#define Z_BUF_ERROR (-5)
#define Z_NO_FLUSH 0
#define GZIP_ONLY (15 + 16) /* window bits: the greatest window, a gzip header */
#define ZLIB_INTERFACE "1"  /* only the first digit is compared */

struct z_stream {
    const unsigned char *next_in;
    unsigned avail_in;
    unsigned long total_in;
    unsigned char *next_out;
    unsigned avail_out;
    unsigned long total_out;
    const char *msg;
    void *state;
    void *zalloc, *zfree, *opaque;
    int data_type;
    unsigned long adler, reserved;
};

static struct {
    int (*init)(struct z_stream *stream, int window_bits, const char *version, int size);
    int (*inflate)(struct z_stream *stream, int flush);
    int (*reset)(struct z_stream *stream);
    int (*end)(struct z_stream *stream);
} zlib;

static pthread_once_t zlib_once = PTHREAD_ONCE_INIT;
static int zlib_missing;

static void load_zlib(void)
{
    static const struct library_symbol symbols[] = {LIBRARY_SYMBOL("inflateInit2_", zlib, init),
                                                    LIBRARY_SYMBOL("inflate", zlib, inflate),
                                                    LIBRARY_SYMBOL("inflateReset", zlib, reset),
                                                    LIBRARY_SYMBOL("inflateEnd", zlib, end),
                                                    {NULL, 0}};

    zlib_missing = shared_library_load("libz.so.1", symbols, &zlib, NULL);
}

static void *gzip_create(void)
{
    struct z_stream *stream;

    pthread_once(&zlib_once, load_zlib);
    if (zlib_missing) {
        errno = ENOTSUP;
        return NULL;
    }
    stream = calloc(1, sizeof *stream);
    if (stream && zlib.init(stream, GZIP_ONLY, ZLIB_INTERFACE, (int)sizeof *stream) != Z_OK) {
        free(stream);
        stream = NULL;
    }
    errno = stream ? errno : ENOMEM;
    return stream;
}

static unsigned limited(size_t size)
{
    return size < UINT32_MAX ? (unsigned)size : UINT32_MAX;
}

static int gzip_step(void *decoder, struct unpacking *unpacking)
{
    struct z_stream *stream = decoder;
    unsigned in = limited(unpacking->in_size), out = limited(unpacking->out_size);
    int result;

    stream->next_in = (const unsigned char *)unpacking->in;
    stream->avail_in = in;
    stream->next_out = (unsigned char *)unpacking->out;
    stream->avail_out = out;
    result = zlib.inflate(stream, Z_NO_FLUSH);
    unpacking->in += in - stream->avail_in;
    unpacking->in_size -= in - stream->avail_in;
    unpacking->out += out - stream->avail_out;
    unpacking->out_size -= out - stream->avail_out;
    unpacking->at_end = result == Z_STREAM_END;
    if (unpacking->at_end) {
        return zlib.reset(stream) == Z_OK ? 0 : -1; /* another member may follow */
    }
    return result == Z_OK || result == Z_BUF_ERROR ? 0 : -1;
}

static void gzip_destroy(void *decoder)
{
    zlib.end(decoder);
    free(decoder);
}

/* --- libzstd -------------------------------------------------------------------------------- */

struct zstd_in {
    const void *from;
    size_t size, at;
};

struct zstd_out {
    void *to;
    size_t size, at;
};

static struct {
    void *(*create)(void);
    size_t (*decompress)(void *decoder, struct zstd_out *out, struct zstd_in *in);
    unsigned (*is_error)(size_t code);
    size_t (*destroy)(void *decoder);
} zstd;

static pthread_once_t zstd_once = PTHREAD_ONCE_INIT;
static int zstd_missing;

static void load_zstd(void)
{
    static const struct library_symbol symbols[] = {
        LIBRARY_SYMBOL("ZSTD_createDStream", zstd, create),
        LIBRARY_SYMBOL("ZSTD_decompressStream", zstd, decompress),
        LIBRARY_SYMBOL("ZSTD_isError", zstd, is_error),
        LIBRARY_SYMBOL("ZSTD_freeDStream", zstd, destroy),
        {NULL, 0}};

    zstd_missing = shared_library_load("libzstd.so.1", symbols, &zstd, NULL);
}

static void *zstd_create(void)
{
    void *decoder;

    pthread_once(&zstd_once, load_zstd);
    if (zstd_missing) {
        errno = ENOTSUP;
        return NULL;
    }
    decoder = zstd.create();
    errno = decoder ? errno : ENOMEM;
    return decoder;
}

static int zstd_step(void *decoder, struct unpacking *unpacking)
{
    struct zstd_in in = {unpacking->in, unpacking->in_size, 0};
    struct zstd_out out = {unpacking->out, unpacking->out_size, 0};
    size_t left = zstd.decompress(decoder, &out, &in);

    unpacking->in += in.at;
    unpacking->in_size -= in.at;
    unpacking->out += out.at;
    unpacking->out_size -= out.at;
    unpacking->at_end = left == 0;
    return zstd.is_error(left) ? -1 : 0;
}

static void zstd_destroy(void *decoder)
{
    zstd.destroy(decoder);
}

const struct unpack_format unpack_formats[] = {
    {".gz",
     "it is compressed, and libz.so.1 is not installed",
     {0x1f, 0x8b},
     2,
     gzip_create,
     gzip_step,
     gzip_destroy},
    {".zst",
     "it is compressed, and libzstd.so.1 is not installed",
     {0x28, 0xb5, 0x2f, 0xfd},
     4,
     zstd_create,
     zstd_step,
     zstd_destroy},
    {NULL, NULL, {0}, 0, NULL, NULL, NULL}};
