/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/inflow.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/files.h"
#include "base/shared_library.h"

/* --- zlib ----------------------------------------------------------------------------------- */

#define Z_OK 0
#define Z_ERRNO (-1)
#define Z_MEM_ERROR (-4)
#define Z_BUF_ERROR (-5)

static struct {
    void *(*open)(int fd, const char *mode);
    int (*read)(void *file, void *buffer, unsigned size);
    const char *(*error)(void *file, int *code);
    int (*close)(void *file);
} zlib;

static pthread_once_t zlib_once = PTHREAD_ONCE_INIT;
static int zlib_missing;

static void load_zlib(void)
{
    static const struct library_symbol symbols[] = {LIBRARY_SYMBOL("gzdopen", zlib, open),
                                                    LIBRARY_SYMBOL("gzread", zlib, read),
                                                    LIBRARY_SYMBOL("gzerror", zlib, error),
                                                    LIBRARY_SYMBOL("gzclose", zlib, close),
                                                    {NULL, 0}};

    zlib_missing = shared_library_load("libz.so.1", symbols, &zlib, NULL);
}

/* --- inflow --------------------------------------------------------------------------------- */

#define GZIP_MAGIC "\x1f\x8b"
#define ZSTD_MAGIC "\x28\xb5\x2f\xfd"

static int inflow_fail(struct inflow *inflow, int code, const char *problem)
{
    inflow->problem = problem;
    errno = code;
    return -1;
}

/* The first bytes of a file, a pipe or a socket, which stay there. @return their number; -1 */
static ssize_t inflow_peek(int fd, char *bytes, size_t size)
{
    off_t at = lseek(fd, 0, SEEK_CUR);
    int copy[2];
    ssize_t got;

    if (at >= 0) {
        return pread(fd, bytes, size, at);
    }
    got = recv(fd, bytes, size, MSG_PEEK);
    if (got < 0 && pipe2(copy, O_CLOEXEC) == 0) {
        got = TEMP_FAILURE_RETRY(tee(fd, copy[1], size, 0)) > 0 ? read(copy[0], bytes, size) : 0;
        close(copy[0]);
        close(copy[1]);
    }
    return got;
}

int inflow_begin(struct inflow *inflow, int fd, bool look)
{
    char magic[2] = "";

    inflow_end(inflow);
    inflow->fd = fd;
    if (look && inflow_peek(fd, magic, sizeof magic) < 0) {
        return -1;
    }
    if (memcmp(magic, GZIP_MAGIC, sizeof magic) != 0) {
        return 0;
    }
    pthread_once(&zlib_once, load_zlib);
    if (zlib_missing) {
        return inflow_fail(inflow, ENOTSUP, "it is compressed, and libz.so.1 is not installed");
    }
    fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    inflow->file = fd < 0 ? NULL : zlib.open(fd, "rb");
    if (!inflow->file) {
        folder_close(fd);
        return inflow_fail(inflow, ENOMEM, NULL);
    }
    return 0;
}

static ssize_t unpack(struct inflow *inflow, void *buffer, size_t size)
{
    ssize_t got = zlib.read(inflow->file, buffer, (unsigned)size);
    int code = Z_OK;

    if (got <= 0) {
        zlib.error(inflow->file, &code);
    }
    switch (code) {
    case Z_OK:
        return got;
    case Z_ERRNO:
        return -1;
    case Z_MEM_ERROR:
        return inflow_fail(inflow, ENOMEM, NULL);
    case Z_BUF_ERROR:
        return inflow_fail(inflow, EBADMSG, "it is compressed, and its end is missing");
    default:
        return inflow_fail(inflow, EBADMSG, "it is compressed, and damaged");
    }
}

ssize_t inflow_read(struct inflow *inflow, void *buffer, size_t size)
{
    ssize_t got = inflow->file ? unpack(inflow, buffer, size)
                               : TEMP_FAILURE_RETRY(read(inflow->fd, buffer, size));

    if (got >= 4 && memcmp(buffer, ZSTD_MAGIC, 4) == 0) {
        return inflow_fail(inflow, ENOTSUP, "it is compressed with zstd, and only gzip is read");
    }
    return got;
}

void inflow_end(struct inflow *inflow)
{
    if (inflow->file) {
        zlib.close(inflow->file);
    }
    *inflow = (struct inflow){0};
}

bool inflow_is_packed(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot && strcmp(dot, ".gz") == 0;
}
