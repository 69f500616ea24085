/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/inflow.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/shared_library.h"

/* --- zlib ----------------------------------------------------------------------------------- */

#define Z_OK 0
#define Z_STREAM_END 1
#define Z_MEM_ERROR (-4)
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
    const void *others[8]; /* members that are not used here */
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

#define GZIP_MAGIC "\x1f\x8b"
#define ZSTD_MAGIC "\x28\xb5\x2f\xfd"

struct unpacker {
    struct z_stream stream; /* next_in, avail_in: bytes that were read and not used yet */
    bool packed;
    bool whole; /* the latest gzip member is complete: only another member may follow */
    unsigned char chunk[65536];
};

static int inflow_fail(struct inflow *inflow, int code, const char *problem)
{
    inflow->problem = problem;
    errno = code;
    return -1;
}

/* @return as read(2) */
static ssize_t read_chunk(struct inflow *inflow)
{
    struct unpacker *unpacker = inflow->unpacker;
    ssize_t got = TEMP_FAILURE_RETRY(read(inflow->fd, unpacker->chunk, sizeof unpacker->chunk));

    unpacker->stream.next_in = unpacker->chunk;
    unpacker->stream.avail_in = got > 0 ? (unsigned)got : 0;
    return got;
}

int inflow_begin(struct inflow *inflow, int fd, bool look)
{
    struct unpacker *unpacker = look ? calloc(1, sizeof *unpacker) : NULL;
    ssize_t got;

    inflow_end(inflow);
    inflow->fd = fd;
    inflow->unpacker = unpacker;
    got = unpacker ? read_chunk(inflow) : 0;
    if (got < 0 || (look && !unpacker)) {
        return -1;
    }
    if (got >= 4 && memcmp(unpacker->chunk, ZSTD_MAGIC, 4) == 0) {
        return inflow_fail(inflow, ENOTSUP, "it is compressed with zstd, and only gzip is read");
    }
    if (got < 2 || memcmp(unpacker->chunk, GZIP_MAGIC, 2) != 0) {
        return 0;
    }
    pthread_once(&zlib_once, load_zlib);
    if (zlib_missing) {
        return inflow_fail(inflow, ENOTSUP, "it is compressed, and libz.so.1 is not installed");
    }
    unpacker->packed = true;
    return zlib.init(&unpacker->stream, GZIP_ONLY, ZLIB_INTERFACE, sizeof unpacker->stream) == Z_OK
               ? 0
               : inflow_fail(inflow, ENOMEM, NULL);
}

static ssize_t unpack(struct inflow *inflow, void *buffer, size_t size)
{
    struct unpacker *unpacker = inflow->unpacker;
    struct z_stream *stream = &unpacker->stream;
    int result = Z_OK;

    stream->next_out = buffer;
    stream->avail_out = (unsigned)size;
    while (result == Z_OK && stream->avail_out == size) {
        /* pending output needs input, too: the checksums of a gzip member follow its data */
        ssize_t got = stream->avail_in > 0 ? 1 : read_chunk(inflow);

        if (got < 0 || (got == 0 && unpacker->whole)) {
            return got;
        }
        if (got == 0) {
            return inflow_fail(inflow, EBADMSG, "it is compressed, and its end is missing");
        }
        result = zlib.inflate(stream, Z_NO_FLUSH);
        unpacker->whole = result == Z_STREAM_END;
        result = unpacker->whole ? zlib.reset(stream) : result;
    }
    return stream->avail_out < size ? (ssize_t)(size - stream->avail_out)
           : result == Z_MEM_ERROR  ? inflow_fail(inflow, ENOMEM, NULL)
                                    : inflow_fail(inflow, EBADMSG, "it is compressed, and damaged");
}

ssize_t inflow_read(struct inflow *inflow, void *buffer, size_t size)
{
    struct z_stream *stream = inflow->unpacker ? &inflow->unpacker->stream : NULL;

    if (stream && inflow->unpacker->packed) {
        return unpack(inflow, buffer, size);
    }
    if (!stream || stream->avail_in == 0) {
        return TEMP_FAILURE_RETRY(read(inflow->fd, buffer, size));
    }
    size = stream->avail_in < size ? stream->avail_in : size;
    memcpy(buffer, stream->next_in, size);
    stream->next_in += size;
    stream->avail_in -= (unsigned)size;
    return (ssize_t)size;
}

void inflow_end(struct inflow *inflow)
{
    if (inflow->unpacker && inflow->unpacker->packed) {
        zlib.end(&inflow->unpacker->stream);
    }
    free(inflow->unpacker);
    *inflow = (struct inflow){0};
}

bool inflow_is_packed(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot && strcmp(dot, ".gz") == 0;
}
