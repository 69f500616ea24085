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

/* --- inflow --------------------------------------------------------------------------------- */

#define CHUNK_SIZE ((size_t)65536)
#define GZIP_MAGIC "\x1f\x8b"
#define ZSTD_MAGIC "\x28\xb5\x2f\xfd"

struct unpacker {
    struct z_stream stream;
    bool at_end; /* of a member: another one may follow */
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

static int inflow_fail(struct inflow *inflow, int code, const char *problem)
{
    inflow->problem = problem;
    errno = code;
    return -1;
}

static int start_unpacker(struct inflow *inflow)
{
    struct unpacker *unpacker;

    pthread_once(&zlib_once, load_zlib);
    if (zlib_missing) {
        return inflow_fail(inflow, ENOTSUP, "it is compressed, and libz.so.1 is not installed");
    }
    unpacker = calloc(1, sizeof *unpacker);
    if (!unpacker || zlib.init(&unpacker->stream, GZIP_ONLY, ZLIB_INTERFACE,
                               (int)sizeof unpacker->stream) != Z_OK) {
        free(unpacker);
        errno = ENOMEM;
        return -1;
    }
    inflow->unpacker = unpacker;
    return 0;
}

int inflow_begin(struct inflow *inflow, int fd, bool look)
{
    inflow_end(inflow);
    inflow->fd = fd;
    if (!look) {
        return 0;
    }
    inflow->chunk = malloc(CHUNK_SIZE);
    if (!inflow->chunk || read_chunk(inflow)) {
        return -1;
    }
    if (inflow->end >= 4 && memcmp(inflow->chunk, ZSTD_MAGIC, 4) == 0) {
        return inflow_fail(inflow, ENOTSUP, "it is compressed with zstd, and only gzip is read");
    }
    return inflow->end >= 2 && memcmp(inflow->chunk, GZIP_MAGIC, 2) == 0 ? start_unpacker(inflow)
                                                                         : 0;
}

static ssize_t unpack(struct inflow *inflow, void *buffer, size_t size)
{
    struct unpacker *unpacker = inflow->unpacker;
    struct z_stream *stream = &unpacker->stream;
    unsigned out = size < UINT32_MAX ? (unsigned)size : UINT32_MAX;

    for (;;) {
        unsigned in = (unsigned)(inflow->end - inflow->begin);
        int result;

        stream->next_in = (const unsigned char *)inflow->chunk + inflow->begin;
        stream->avail_in = in;
        stream->next_out = buffer;
        stream->avail_out = out;
        result = zlib.inflate(stream, Z_NO_FLUSH);
        if (result == Z_STREAM_END) {
            result = zlib.reset(stream);
            unpacker->at_end = true;
        } else if (stream->avail_in < in || stream->avail_out < out) {
            unpacker->at_end = false;
        }
        if (result != Z_OK && result != Z_BUF_ERROR) {
            return inflow_fail(inflow, EBADMSG, "it is compressed, and damaged");
        }
        inflow->begin = inflow->end - stream->avail_in;
        if (stream->avail_out < out) {
            return (ssize_t)(out - stream->avail_out);
        }
        if (inflow->begin == inflow->end && read_chunk(inflow)) {
            return -1;
        }
        if (inflow->ended) {
            return unpacker->at_end
                       ? 0
                       : inflow_fail(inflow, EBADMSG, "it is compressed, and its end is missing");
        }
    }
}

ssize_t inflow_read(struct inflow *inflow, void *buffer, size_t size)
{
    size_t left = inflow->end - inflow->begin;

    if (inflow->unpacker) {
        return inflow->ended ? 0 : unpack(inflow, buffer, size);
    }
    if (left > 0) {
        size = left < size ? left : size;
        memcpy(buffer, inflow->chunk + inflow->begin, size);
        inflow->begin += size;
        return (ssize_t)size;
    }
    return inflow->ended ? 0 : TEMP_FAILURE_RETRY(read(inflow->fd, buffer, size));
}

void inflow_end(struct inflow *inflow)
{
    if (inflow->unpacker) {
        zlib.end(&inflow->unpacker->stream);
        free(inflow->unpacker);
    }
    free(inflow->chunk);
    *inflow = (struct inflow){0};
}

bool inflow_is_packed(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot && strcmp(dot, ".gz") == 0;
}
