/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/files.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>

#include "unit/unit.h"

#define SIZE ((size_t)1 << 20) /* more than a pipe holds */

struct reading {
    int fd;
    char *bytes;
    size_t size;
};

static void *read_all(void *context)
{
    struct reading *reading = context;
    ssize_t got;

    do {
        got = read(reading->fd, reading->bytes + reading->size, SIZE + 1 - reading->size);
        reading->size += got > 0 ? (size_t)got : 0;
    } while (got > 0);
    return NULL;
}

/* Each byte arrives once and in order, whether the pipe blocks or not. */
TEST(more_than_a_pipe_holds)
{
    static const int modes[] = {0, O_NONBLOCK};
    FREED char *bytes = malloc(SIZE);

    assert_non_null(bytes);
    for (size_t i = 0; i < SIZE; i++) {
        bytes[i] = (char)(i % 251);
    }
    for (size_t i = 0; i < 2; i++) {
        struct reading reading = {.bytes = malloc(SIZE + 1)};
        pthread_t reader;
        int ends[2];

        assert_non_null(reading.bytes);
        assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
        assert_int_equal(fcntl(ends[1], F_SETFL, modes[i]), 0);
        reading.fd = ends[0];
        assert_int_equal(pthread_create(&reader, NULL, read_all, &reading), 0);
        assert_int_equal(write_all(ends[1], bytes, SIZE), 0);
        close(ends[1]);
        pthread_join(reader, NULL);
        close(ends[0]);
        assert_int_equal(reading.size, SIZE);
        assert_memory_equal(reading.bytes, bytes, SIZE);
        free(reading.bytes);
    }
}
