/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/live_map.h"

/* Readers of the page cannot make it look alive: they can lock it for reading only. */
bool live_has_writer(int file)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};

    return fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_WRLCK;
}

static int open_page(int folder, const char *name, const char *path, struct apapi_error *err)
{
    int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (file < 0 && (errno == ELOOP || errno == ENXIO)) { /* a link, a socket */
        return apapi_fail(err, EPROTO, "%s: not a regular file", path);
    }
    return file >= 0 ? file : apapi_fail(err, errno, "%s: %s", path, strerror(errno));
}

static int check_file(int file, const char *path, struct stat *status, struct apapi_error *err)
{
    if (fstat(file, status)) {
        return apapi_fail(err, errno, "%s: %s", path, strerror(errno));
    }
    if (!S_ISREG(status->st_mode)) {
        return apapi_fail(err, EPROTO, "%s: not a regular file", path);
    }
    if (status->st_uid != 0 && status->st_uid != geteuid()) {
        return apapi_fail(err, EPROTO, "%s: belongs to user %u, not to root", path,
                          (unsigned)status->st_uid);
    }
    return 0;
}

/* A page of another version may have another size. */
static int check_head(int file, const char *path, const struct stat *status,
                      struct apapi_error *err)
{
    struct {
        char magic[8];
        uint32_t version, size;
    } begin;

    if (pread(file, &begin, sizeof begin, 0) != sizeof begin ||
        memcmp(begin.magic, APAPI_LIVE_MAGIC, sizeof begin.magic) != 0) {
        return apapi_fail(err, EPROTO, "%s: not a live page", path);
    }
    if (begin.version != APAPI_LIVE_VERSION) {
        return apapi_fail(err, ENOTSUP, "%s: version %u of the live page; this is version %d", path,
                          begin.version, APAPI_LIVE_VERSION);
    }
    if (begin.size != sizeof(struct apapi_live_page) || status->st_size != begin.size) {
        return apapi_fail(err, EPROTO, "%s: does not have the size of a live page", path);
    }
    return live_has_writer(file) ? 0 : apapi_fail(err, ESTALE, "%s: no process writes it", path);
}

const struct apapi_live_page *live_map(int folder, const char *name, const char *path,
                                       struct apapi_error *err)
{
    struct stat status;
    void *page = NULL;
    int file = open_page(folder, name, path, err), saved;

    if (file < 0) {
        return NULL;
    }
    if (check_file(file, path, &status, err) == 0 && check_head(file, path, &status, err) == 0) {
        page = mmap(NULL, sizeof(struct apapi_live_page), PROT_READ, MAP_SHARED, file, 0);
        if (page == MAP_FAILED) {
            page = NULL;
            apapi_fail(err, errno, "%s: %s", path, strerror(errno));
        }
    }
    saved = errno;
    close(file);
    errno = saved;
    return page;
}

const struct apapi_live_page *apapi_live_open(const char *path, struct apapi_error *err)
{
    if (!path) {
        path = secure_getenv(APAPI_LIVE_ENVIRONMENT);
    }
    if (!path || !*path) {
        apapi_fail(err, ENOENT, "%s is not set: this is no job step that is measured",
                   APAPI_LIVE_ENVIRONMENT);
        return NULL;
    }
    return live_map(AT_FDCWD, path, path, err);
}

void apapi_live_close(const struct apapi_live_page *page)
{
    int saved = errno;
    void *mapped;

    memcpy(&mapped, &page, sizeof mapped); /* what is not ours to write is ours to unmap */
    if (page) {
        munmap(mapped, sizeof *page);
    }
    errno = saved;
}
