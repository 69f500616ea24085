/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/files.h"

#define SUFFIX ".json"
#define NEW_SUFFIX ".new" /* suffix of a new file that will replace another */
#define BAD_SUFFIX ".bad"
#define NEW_AGE_S 600 /* an older new file belongs to no living process */
#define LINE_MAX_BYTES (1 << 20)

/* Missing folders are made. Follows no link of an ordinary user, and accepts no folder of one. */
static int spool_open_node_folder(const char *dir, const char *node, struct apapi_error *err)
{
    char path[1024];
    int top, folder;

    if (folder_check_name(node)) {
        return apapi_fail(err, EINVAL, "spool: \"%s\" cannot be the name of a node", node);
    }
    if (snprintf(path, sizeof path, "%s/%s", dir, node) >= (int)sizeof path) {
        return apapi_fail(err, ENAMETOOLONG, "%s: the path is too long", dir);
    }
    top = folder_open(dir, err);
    if (top < 0) {
        return -1;
    }
    folder = folder_open_below(top, path, err);
    folder_close(top);
    return folder;
}

static int open_once(struct spool *spool, struct apapi_error *err)
{
    if (spool->folder >= 0) {
        return 0;
    }
    if (folder_check_name(spool->name) ||
        snprintf(spool->path, sizeof spool->path, "%s/%s/%s" SUFFIX, spool->dir, spool->node,
                 spool->name) >= (int)sizeof spool->path) {
        return apapi_fail(err, EINVAL, "spool: \"%s\" cannot be the name of a file", spool->name);
    }
    spool->folder = spool_open_node_folder(spool->dir, spool->node, err);
    return spool->folder < 0 ? -1 : 0;
}

/* The lock is taken before the file gets its name: no one sees it unlocked. */
static int write_new(const struct spool *spool, const char *path, const char *line, bool sync,
                     struct apapi_error *err)
{
    struct stat status;
    int file = folder_open_file(spool->folder, path, O_RDWR | O_CREAT | O_TRUNC, &status, err);

    if (file < 0) {
        return -1;
    }
    if (flock(file, LOCK_EX | LOCK_NB) || write_all(file, line, strlen(line)) ||
        write_all(file, "\n", 1) || (sync && file_sync(file)) ||
        renameat(spool->folder, folder_last_part(path), spool->folder,
                 folder_last_part(spool->path)) ||
        (sync && file_sync(spool->folder))) {
        file_fail(path, err);
        unlinkat(spool->folder, folder_last_part(path), 0);
        folder_close(file);
        return -1;
    }
    return file;
}

int spool_save(struct spool *spool, const char *line, bool sync, struct apapi_error *err)
{
    char path[sizeof spool->path + sizeof NEW_SUFFIX];
    int file;

    if (open_once(spool, err)) {
        return -1;
    }
    snprintf(path, sizeof path, "%s" NEW_SUFFIX, spool->path);
    file = write_new(spool, path, line, sync, err);
    if (file < 0 && errno == ENOENT) { /* someone has removed the folder */
        spool_close(spool);
        errno = ENOENT;
    }
    if (file < 0) {
        return -1;
    }
    folder_close(spool->file);
    spool->file = file;
    spool->synced = sync;
    return 0;
}

void spool_close(struct spool *spool)
{
    folder_close(spool->file);
    folder_close(spool->folder);
    spool->file = spool->folder = -1;
}

void spool_remove(struct spool *spool)
{
    if (spool->file >= 0) {
        unlinkat(spool->folder, folder_last_part(spool->path), 0);
    }
    spool_close(spool);
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);

    return length > end_length && strcmp(text + length - end_length, end) == 0;
}

/* @return the locked file; -1, EWOULDBLOCK: it is in use; ENOENT: it was replaced or removed. */
static int open_locked(int folder, const char *path, struct stat *status)
{
    /* NFS locks need write access */
    int file = folder_open_file(folder, path, O_RDWR, status, NULL);
    bool locked = file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0;

    if (locked && folder_has(folder, folder_last_part(path), file)) {
        return file;
    }
    errno = locked ? ENOENT : errno;
    folder_close(file);
    return -1;
}

/* @return the file's only line without its newline, free it with free(); "": none; NULL: ENOMEM. */
static char *spool_read_line(int file, off_t size)
{
    size_t length = size > 0 && size <= LINE_MAX_BYTES ? (size_t)size : 0;
    char *line = calloc(1, length + 1);

    if (line && (pread(file, line, length, 0) != (ssize_t)length || length == 0 ||
                 strlen(line) != length || strchr(line, '\n') != line + length - 1)) {
        *line = '\0';
    }
    if (line && *line) {
        line[length - 1] = '\0';
    }
    return line;
}

struct walk {
    const char *dir, *node;
    spool_take_f take;
    void *context;
    bool ended;
};

static void spool_take(struct walk *walk, int folder, const char *name, const char *line)
{
    char bad[SPOOL_NAME_SIZE + sizeof BAD_SUFFIX];

    switch (walk->take(name, line, walk->context)) {
    case SPOOL_KEEP:
        break;
    case SPOOL_END:
        walk->ended = true;
        break;
    case SPOOL_WRITTEN:
        unlinkat(folder, name, 0);
        break;
    case SPOOL_BAD:
        snprintf(bad, sizeof bad, "%s" BAD_SUFFIX, name);
        renameat(folder, name, folder, bad);
        break;
    }
}

static void spool_visit(int folder, const char *name, unsigned char type, void *context)
{
    struct walk *walk = context;
    char path[1024], *line;
    struct stat status;
    int file;

    (void)type;
    if (ends_with(name, NEW_SUFFIX) && fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        status.st_mtime < time(NULL) - NEW_AGE_S) { /* it was being written at a power failure */
        unlinkat(folder, name, 0);
    }
    if (walk->ended || !ends_with(name, SUFFIX) || strlen(name) >= SPOOL_NAME_SIZE ||
        snprintf(path, sizeof path, "%s/%s/%s", walk->dir, walk->node, name) >= (int)sizeof path) {
        return;
    }
    file = open_locked(folder, path, &status);
    if (file < 0) {
        if (errno != EWOULDBLOCK && errno != ENOENT) {
            spool_take(walk, folder, name, NULL);
        }
        return;
    }
    line = status.st_size > 0 ? spool_read_line(file, status.st_size) : NULL;
    if (status.st_size == 0) { /* after a power failure: it was not synced */
        unlinkat(folder, name, 0);
    } else if (line) {
        spool_take(walk, folder, name, line);
    }
    free(line);
    folder_close(file);
}

void spool_each(const char *dir, const char *node, spool_take_f take, void *context)
{
    struct walk walk = {.dir = dir, .node = node, .take = take, .context = context};
    int folder = spool_open_node_folder(dir, node, NULL);

    if (folder >= 0) {
        folder_each(folder, ".", spool_visit, &walk);
    }
    folder_close(folder);
}
