/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/livefile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/files.h"
#include "base/shared_page.h"
#include "base/text.h"
#include "node/meters.h"
#include "regions/message.h"

#define FLOOR_BYTES                                                                                \
    (UINT64_C(64) << 20) /* of free memory: pages leave at least this much to others */

/* Users who keep ended pages mapped cannot use up the memory that others in /run need. */
static int check_memory(int folder, const char *path, struct apapi_error *err)
{
    struct statfs status;
    uint64_t unit, tenth, floor;

    if (fstatfs(folder, &status)) {
        return file_fail(path, err);
    }
    unit = (uint64_t)status.f_bsize;
    tenth = status.f_blocks * unit / 10;
    floor = tenth < FLOOR_BYTES ? tenth : FLOOR_BYTES;
    return status.f_blocks == 0 /* no limit */ ||
                   status.f_bavail * unit >= floor + sizeof(struct apapi_live_page)
               ? 0
               : apapi_fail(err, ENOSPC,
                            "%s: the file system has less than a tenth, or 64 MiB, free", path);
}

/*
 * While the lock is held, no one else removes the name, so it still means this file. A user's read
 * lock may prevent our lock, but keeps no dead page: the file is then removed without a lock.
 */
static void remove_dead(int folder, const char *name, unsigned char type, void *context)
{
    int file = type == DT_SOCK
                   ? -1
                   : openat(folder, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    (void)context;
    if (file >= 0 && (shared_page_lock(file) == 0 || !shared_page_has_writer(file)) &&
        folder_has(folder, name, file)) {
        unlinkat(folder, name, 0);
    }
    folder_close(file);
}

/* Remove a socket for regions without a page: the page is made before and removed after it. */
static void remove_socket(int folder, const char *name, unsigned char type, void *context)
{
    const size_t suffix = sizeof(REGION_SOCKET_SUFFIX) - 1, size = strlen(name);
    char page[NAME_MAX + 1];

    (void)context;
    if (type != DT_SOCK || size <= suffix ||
        strcmp(name + size - suffix, REGION_SOCKET_SUFFIX) != 0) {
        return;
    }
    snprintf(page, sizeof page, "%.*s", (int)(size - suffix), name);
    if (faccessat(folder, page, F_OK, AT_SYMLINK_NOFOLLOW) && errno == ENOENT) {
        unlinkat(folder, name, 0);
    }
}

static void sweep(int node, const char *user, unsigned char type, void *context)
{
    (void)type;
    folder_each(node, user, remove_dead, context);
    folder_each(node, user, remove_socket, context);
}

static int let_user(int file, uint32_t uid, uint16_t rights)
{
    return uid == APAPI_UNKNOWN ? 0 : access_let_user(file, uid, rights);
}

/* Without access control lists only root can enter the folder, as it alone can read the page. */
static int livefile_open_folder(const struct step *step, struct apapi_error *err)
{
    const char *live_dir = step->config.live_dir;
    char path[PATH_MAX + sizeof step->id.node + 16];
    int node = node_folder_open(live_dir, step->id.node, err), folder = -1;

    if (node >= 0 && check_memory(node, live_dir, err) == 0) {
        folder_each(node, ".", sweep, NULL); /* dead pages of all users */
        snprintf(path, sizeof path, "%s/%s/%u", live_dir, step->id.node, step->id.uid);
        folder = folder_open_below(node, path, err);
    }
    folder_close(node);
    if (folder >= 0) {
        let_user(folder, step->id.uid, ACCESS_READ | ACCESS_ENTER);
    }
    return folder;
}

static void livefile_describe(struct apapi_live_head *head, const struct apapi_identity *id)
{
    head->job = id->job;
    head->array_job = id->array_job;
    head->array_task = id->array_task;
    head->het_job = id->het_job;
    head->het_offset = id->het_offset;
    head->uid = id->uid;
    head->tasks = id->tasks;
    head->writer = (uint32_t)getpid();
    text_utf8(head->step, sizeof head->step, id->step);
    text_utf8(head->cluster, sizeof head->cluster, id->cluster);
    text_utf8(head->node, sizeof head->node, id->node);
    text_utf8(head->user, sizeof head->user, id->user);
    text_utf8(head->job_name, sizeof head->job_name, id->job_name);
}

int livefile_create(struct livefile *live, const struct step *step, struct apapi_error *err)
{
    *live = LIVEFILE_NONE;
    live->folder = livefile_open_folder(step, err);
    if (live->folder < 0) {
        return -1;
    }
    live->file = openat(live->folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    live->page = live->file < 0 ? NULL : shared_page_create(live->file, sizeof *live->page);
    if (!live->page) {
        file_fail(step->config.live_dir, err);
        livefile_close(live);
        return -1;
    }
    livefile_describe(&live->page->head, &step->id);
    return 0;
}

void livefile_name_user(struct livefile *live, const char *user)
{
    char text[sizeof live->page->head.user] = "";

    text_utf8(text, sizeof text, user);
    if (live->page) { /* the first byte last: no reader sees a part of the name */
        memcpy(live->page->head.user + 1, text + 1, sizeof text - 1);
        __atomic_store_n(live->page->head.user, *text, __ATOMIC_RELEASE);
    }
}

/* @return 0; -1 with errno. */
static int give_name(const struct livefile *live, const char *name)
{
    char self[64];

    snprintf(self, sizeof self, "/proc/self/fd/%d", live->file);
    if (linkat(AT_FDCWD, self, live->folder, name, AT_SYMLINK_FOLLOW) == 0) {
        return 0;
    }
    if (errno != EEXIST) {
        return -1;
    }
    remove_dead(live->folder, name, DT_REG, NULL); /* its writer has died since the sweep */
    return linkat(AT_FDCWD, self, live->folder, name, AT_SYMLINK_FOLLOW);
}

int livefile_publish(struct livefile *live, const struct step *step, struct apapi_error *err)
{
    bool readable;

    if (folder_check_name(step->id.step) ||
        snprintf(live->path, sizeof live->path, APAPI_LIVE_PATH, step->config.live_dir,
                 step->id.node, step->id.uid, step->id.job,
                 step->id.step) >= (int)sizeof live->path) {
        live->path[0] = '\0';
        return apapi_fail(err, EINVAL, "\"%s\" cannot be the name of a step", step->id.step);
    }
    readable = let_user(live->file, step->id.uid, ACCESS_READ) == 0;
    if (!readable) {
        apapi_fail(err, errno, "%s: user %u cannot be given the right to read it: %s", live->path,
                   step->id.uid, strerror(errno));
    }
    if (shared_page_lock(live->file) || give_name(live, folder_last_part(live->path))) {
        file_fail(live->path, err);
        live->path[0] = '\0';
        return -1;
    }
    return readable ? 0 : 1;
}

void livefile_withdraw(struct livefile *live)
{
    if (*live->path && folder_has(live->folder, folder_last_part(live->path), live->file)) {
        unlinkat(live->folder, folder_last_part(live->path), 0);
    }
    live->path[0] = '\0';
}

void livefile_close(struct livefile *live)
{
    int saved = errno;

    livefile_withdraw(live);
    shared_page_unmap(live->page, sizeof *live->page);
    folder_close(live->file);
    folder_close(live->folder);
    *live = LIVEFILE_NONE;
    errno = saved;
}
