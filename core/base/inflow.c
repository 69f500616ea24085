/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/inflow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/unpack.h"

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
