/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree as a file system. Nothing is cached: each read is computed for its own moment. */
#define FUSE_USE_VERSION 31
#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "simhw.h"

enum { SERVER_FILE_SIZE = 4096 }; /* st_size, as in sysfs */

/* An open file. As in sysfs, a read at offset 0 takes a new value; later offsets continue it.
 */
struct server_handle {
    uint64_t opened_ns;
    size_t length;
    char text[SIM_TEXT_SIZE];
};

static struct sim_tree *tree;

static struct sim_node *server_node(fuse_ino_t ino)
{
    return &tree->nodes[ino - FUSE_ROOT_ID];
}

static bool server_vanished(fuse_ino_t ino)
{
    return sim_meter_vanished(tree, ino - FUSE_ROOT_ID, sim_time_ns());
}

/* @return how long the kernel may trust names and attributes [s]. */
static double server_timeout_s(void)
{
    return tree->vanishes ? 0 : 3600;
}

static struct stat server_attributes(fuse_ino_t ino)
{
    static const mode_t types[] = {[SIM_DIR] = S_IFDIR, [SIM_LINK] = S_IFLNK};
    const struct sim_node *node = server_node(ino);
    struct stat attributes = {.st_ino = ino, .st_nlink = 1, .st_uid = getuid(), .st_gid = getgid()};
    bool is_file = node->kind != SIM_DIR && node->kind != SIM_LINK;

    attributes.st_mode = (is_file ? S_IFREG : types[node->kind]) | node->mode;
    if (is_file) {
        attributes.st_size = SERVER_FILE_SIZE;
    } else if (node->kind == SIM_LINK) {
        attributes.st_size = (off_t)strlen(node->text);
    }
    return attributes;
}

static void server_init(void *userdata, struct fuse_conn_info *connection)
{
    (void)userdata;
    (void)connection;
    sim_start(tree);
    sim_ready();
}

static void server_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
    struct fuse_entry_param entry = {.attr_timeout = server_timeout_s(),
                                     .entry_timeout = server_timeout_s()};
    size_t child = sim_tree_child(tree, parent - FUSE_ROOT_ID, name);

    if (child == SIM_NONE || server_vanished(child + FUSE_ROOT_ID)) {
        fuse_reply_err(req, ENOENT);
        return;
    }
    entry.ino = child + FUSE_ROOT_ID;
    entry.attr = server_attributes(entry.ino);
    fuse_reply_entry(req, &entry);
}

/* Also for vanished files: fstat() of an open file works, and a path fails in lookup. */
static void server_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *file)
{
    struct stat attributes = server_attributes(ino);

    (void)file;
    fuse_reply_attr(req, &attributes, server_timeout_s());
}

static void server_readlink(fuse_req_t req, fuse_ino_t ino)
{
    fuse_reply_readlink(req, server_node(ino)->text);
}

/* Add the children of folder `ino`, from node `next` on. @return the bytes used */
static size_t server_list(fuse_req_t req, fuse_ino_t ino, size_t next, char *list, size_t size)
{
    size_t used = 0;

    for (; next < tree->count; next++) {
        struct stat attributes;
        size_t length;

        if (next == 0 || tree->nodes[next].parent != ino - FUSE_ROOT_ID ||
            server_vanished(next + FUSE_ROOT_ID)) {
            continue;
        }
        attributes = server_attributes(next + FUSE_ROOT_ID);
        length = fuse_add_direntry(req, list + used, size - used, tree->nodes[next].name,
                                   &attributes, (off_t)next + 1);
        if (length > size - used) {
            break;
        }
        used += length;
    }
    return used;
}

static void server_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
                           struct fuse_file_info *file)
{
    char *list = malloc(size);

    (void)file;
    if (list) {
        fuse_reply_buf(req, list, server_list(req, ino, (size_t)offset, list, size));
    } else {
        fuse_reply_err(req, ENOMEM);
    }
    free(list);
}

static struct server_handle *server_handle(const struct fuse_file_info *file)
{
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): libfuse has only this number to keep it in */
    return (struct server_handle *)(uintptr_t)file->fh;
}

static void server_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *file)
{
    struct server_handle *handle = server_vanished(ino) ? NULL : calloc(1, sizeof *handle);

    if (!handle) {
        fuse_reply_err(req, ENOENT);
        return;
    }
    handle->opened_ns = sim_time_ns();
    file->fh = (uintptr_t)handle;
    file->direct_io = 1;
    if (fuse_reply_open(req, file) != 0) {
        free(handle);
    }
}

static void server_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *file)
{
    (void)ino;
    free(server_handle(file));
    fuse_reply_err(req, 0);
}

/* Like the msr driver: only whole registers are read, and the offset is the register's number. */
static void server_read_register(fuse_req_t req, const struct sim_node *node, size_t size,
                                 off_t offset)
{
    uint64_t value = 0;
    int rc = size == 0 || size % sizeof value != 0
                 ? -EINVAL
                 : sim_meter_read_register(node, sim_time_ns(), (uint64_t)offset, &value);

    if (rc != 0) {
        fuse_reply_err(req, -rc);
    } else {
        fuse_reply_buf(req, (const char *)&value, sizeof value);
    }
}

static void server_read_text(fuse_req_t req, struct sim_node *node, size_t size, size_t from,
                             struct server_handle *handle)
{
    if (from == 0) {
        ssize_t length = sim_meter_read(node, sim_time_ns(), handle->text);

        if (length < 0) {
            fuse_reply_err(req, (int)-length);
            return;
        }
        handle->length = (size_t)length;
    }
    if (from >= handle->length) {
        fuse_reply_buf(req, NULL, 0);
    } else {
        fuse_reply_buf(req, handle->text + from,
                       size < handle->length - from ? size : handle->length - from);
    }
}

static void server_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
                        struct fuse_file_info *file)
{
    struct sim_node *node = server_node(ino);
    struct server_handle *handle = server_handle(file);

    if (sim_meter_dead(tree, ino - FUSE_ROOT_ID, handle->opened_ns, sim_time_ns())) {
        fuse_reply_err(req, ENODEV);
    } else if (node->kind == SIM_MSR) {
        server_read_register(req, node, size, offset);
    } else {
        server_read_text(req, node, size, (size_t)offset, handle);
    }
}

static const struct fuse_lowlevel_ops server_ops = {
    .init = server_init,
    .lookup = server_lookup,
    .getattr = server_getattr,
    .readlink = server_readlink,
    .readdir = server_readdir,
    .open = server_open,
    .release = server_release,
    .read = server_read,
};

static void server_loop(struct fuse_session *session)
{
    struct fuse_buf buffer = {0};
    int fd = fuse_session_fd(session), rc = 1;

    /* if the sender takes a request back, do not wait for the next one */
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    while (!fuse_session_exited(session) && sim_wait(fd)) {
        rc = fuse_session_receive_buf(session, &buffer);
        if (rc == -EINTR || rc == -EAGAIN) {
            continue;
        }
        if (rc <= 0) {
            break;
        }
        fuse_session_process_buf(session, &buffer);
    }
    free(buffer.mem);
}

void sim_fuse_serve(struct sim_tree *served, const char *dir)
{
    char program[] = "apapi-simhw";
    char option[] = "-oallow_other,default_permissions,fsname=apapi-simhw";
    char *argv[] = {program, option, NULL};
    struct fuse_args args = FUSE_ARGS_INIT(2, argv);
    struct fuse_session *session;

    tree = served;
    session = fuse_session_new(&args, &server_ops, sizeof server_ops, NULL);
    fuse_opt_free_args(&args);
    if (!session || fuse_session_mount(session, dir) != 0) {
        sim_die(SIM_FAILURE, "%s: FUSE does not work here", dir);
    }
    server_loop(session);
    fuse_session_unmount(session);
    fuse_session_destroy(session);
}
