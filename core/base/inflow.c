/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/inflow.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/shared_library.h"

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

/* --- unpack --------------------------------------------------------------------------------- */

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

/* --- inflow --------------------------------------------------------------------------------- */

#define CHUNK_SIZE ((size_t)65536)

struct unpacker {
    const struct unpack_format *format;
    void *decoder;
    bool at_end; /* of one compressed frame */
};

/* @return 0; -1 */
static int read_chunk(struct inflow *inflow)
{
    ssize_t got = TEMP_FAILURE_RETRY(read(inflow->fd, inflow->chunk, CHUNK_SIZE));

    if (got < 0) {
        return -1;
    }
    inflow->begin = 0;
    inflow->end = (size_t)got;
    inflow->ended = got == 0;
    return 0;
}

static const struct unpack_format *find_format(const struct inflow *inflow)
{
    for (const struct unpack_format *format = unpack_formats; format->suffix; format++) {
        if (inflow->end >= format->magic_size &&
            memcmp(inflow->chunk, format->magic, format->magic_size) == 0) {
            return format;
        }
    }
    return NULL;
}

static int inflow_fail(struct inflow *inflow, int code, const char *problem)
{
    inflow->problem = problem;
    errno = code;
    return -1;
}

static int start_unpacker(struct inflow *inflow, const struct unpack_format *format)
{
    struct unpacker *unpacker = calloc(1, sizeof *unpacker);

    if (!unpacker) {
        return -1;
    }
    unpacker->format = format;
    unpacker->decoder = format->create();
    if (!unpacker->decoder) {
        int code = errno;

        free(unpacker);
        return inflow_fail(inflow, code, format->missing);
    }
    inflow->unpacker = unpacker;
    return 0;
}

int inflow_begin(struct inflow *inflow, int fd, bool look)
{
    const struct unpack_format *format;

    inflow_end(inflow);
    inflow->fd = fd;
    if (!look) {
        return 0;
    }
    inflow->chunk = malloc(CHUNK_SIZE);
    if (!inflow->chunk || read_chunk(inflow)) {
        return -1;
    }
    format = find_format(inflow);
    return format ? start_unpacker(inflow, format) : 0;
}

static ssize_t hand_out(struct inflow *inflow, void *buffer, size_t size)
{
    size_t left = inflow->end - inflow->begin;

    size = left < size ? left : size;
    memcpy(buffer, inflow->chunk + inflow->begin, size);
    inflow->begin += size;
    return (ssize_t)size;
}

/* @return bytes; 0: more input needed; -1 */
static ssize_t unpack_chunk(struct inflow *inflow, void *buffer, size_t size)
{
    struct unpacker *unpacker = inflow->unpacker;
    struct unpacking unpacking = {.in = inflow->chunk + inflow->begin,
                                  .in_size = inflow->end - inflow->begin,
                                  .out = buffer,
                                  .out_size = size};

    if (unpacker->format->step(unpacker->decoder, &unpacking)) {
        return inflow_fail(inflow, EBADMSG, "it is compressed, and damaged");
    }
    if (unpacking.in_size < inflow->end - inflow->begin || unpacking.out_size < size) {
        unpacker->at_end = unpacking.at_end;
    }
    inflow->begin = inflow->end - unpacking.in_size;
    return (ssize_t)(size - unpacking.out_size);
}

static ssize_t unpack(struct inflow *inflow, void *buffer, size_t size)
{
    for (;;) {
        ssize_t got = unpack_chunk(inflow, buffer, size);

        if (got != 0) {
            return got;
        }
        if (inflow->begin < inflow->end) {
            continue;
        }
        if (read_chunk(inflow)) {
            return -1;
        }
        if (inflow->ended) {
            return inflow->unpacker->at_end
                       ? 0
                       : inflow_fail(inflow, EBADMSG, "it is compressed, and its end is missing");
        }
    }
}

ssize_t inflow_read(struct inflow *inflow, void *buffer, size_t size)
{
    if (inflow->unpacker) {
        return inflow->ended ? 0 : unpack(inflow, buffer, size);
    }
    if (inflow->begin < inflow->end) {
        return hand_out(inflow, buffer, size);
    }
    return inflow->ended ? 0 : TEMP_FAILURE_RETRY(read(inflow->fd, buffer, size));
}

void inflow_end(struct inflow *inflow)
{
    if (inflow->unpacker) {
        inflow->unpacker->format->destroy(inflow->unpacker->decoder);
        free(inflow->unpacker);
    }
    free(inflow->chunk);
    *inflow = (struct inflow){0};
}

bool inflow_is_packed(const char *name)
{
    const char *dot = strrchr(name, '.');

    for (const struct unpack_format *format = unpack_formats; dot && format->suffix; format++) {
        if (strcmp(dot, format->suffix) == 0) {
            return true;
        }
    }
    return false;
}
