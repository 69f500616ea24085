/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree as a file system: nothing is cached, each read is computed at its own instant. */
#define FUSE_USE_VERSION 31
#include "simhw.h"

#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SERVER_FILE_SIZE = 4096 }; /* st_size, as in sysfs */

/* An open file. As in sysfs, a read at offset 0 takes a new value, and what follows continues it.
 */
struct server_handle {
    LIST_ENTRY(server_handle) others;
    uint64_t opened_ns;
    size_t length;
    char text[SIM_TEXT_SIZE];
};

struct server {
    struct sim_run *run;
    LIST_HEAD(server_handles, server_handle) handles;
};

static struct sim_run *server_run(fuse_req_t req)
{
    const struct server *server = fuse_req_userdata(req);

    return server->run;
}

static struct sim_node *server_node(fuse_req_t req, fuse_ino_t ino)
{
    return &server_run(req)->tree->nodes[ino - FUSE_ROOT_ID];
}

static bool server_vanished(fuse_req_t req, fuse_ino_t ino)
{
    struct sim_run *run = server_run(req);

    return sim_meter_vanished(run->tree, ino - FUSE_ROOT_ID, sim_run_time_ns(run));
}

/* How long the kernel may believe in names and attributes. */
static double server_timeout_s(fuse_req_t req)
{
    return server_run(req)->tree->vanishes ? 0 : 3600;
}

static struct stat server_attributes(fuse_req_t req, fuse_ino_t ino)
{
    static const mode_t types[] = {[SIM_DIR] = S_IFDIR, [SIM_LINK] = S_IFLNK};
    const struct sim_node *node = server_node(req, ino);
    struct stat attributes = {.st_ino = ino, .st_nlink = 1};
    bool is_file = node->kind != SIM_DIR && node->kind != SIM_LINK;

    attributes.st_mode = (is_file ? S_IFREG : types[node->kind]) | node->mode;
    attributes.st_uid = getuid();
    attributes.st_gid = getgid();
    if (is_file) {
        attributes.st_size = SERVER_FILE_SIZE;
    } else if (node->kind == SIM_LINK) {
        attributes.st_size = (off_t)strlen(node->text);
    }
    return attributes;
}

static void server_init(void *userdata, struct fuse_conn_info *connection)
{
    const struct server *server = userdata;

    (void)connection;
    sim_run_start(server->run);
    sim_run_ready(server->run);
}

static void server_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
    struct fuse_entry_param entry = {0};
    size_t child = sim_tree_child(server_run(req)->tree, parent - FUSE_ROOT_ID, name);

    if (child == SIM_NONE || server_vanished(req, child + FUSE_ROOT_ID)) {
        fuse_reply_err(req, ENOENT);
        return;
    }
    entry.ino = child + FUSE_ROOT_ID;
    entry.attr = server_attributes(req, entry.ino);
    entry.attr_timeout = server_timeout_s(req);
    entry.entry_timeout = server_timeout_s(req);
    fuse_reply_entry(req, &entry);
}

/* Also of what has vanished: fstat() of an open file works, and a path fails in lookup. */
static void server_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *file)
{
    struct stat attributes = server_attributes(req, ino);

    (void)file;
    fuse_reply_attr(req, &attributes, server_timeout_s(req));
}

/* chmod works; truncation and times are accepted as sysfs does. */
static void server_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attributes, int to_set,
                           struct fuse_file_info *file)
{
    enum { SERVER_OWNER = FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID, SERVER_MODES = 0777 };

    if ((to_set & SERVER_OWNER) != 0) {
        fuse_reply_err(req, EPERM);
        return;
    }
    if ((to_set & FUSE_SET_ATTR_MODE) != 0) {
        server_node(req, ino)->mode = attributes->st_mode & SERVER_MODES;
    }
    server_getattr(req, ino, file);
}

static void server_readlink(fuse_req_t req, fuse_ino_t ino)
{
    fuse_reply_readlink(req, server_node(req, ino)->text);
}

/* Add the children of folder `ino` from node `next` on. The bytes used. */
static size_t server_list(fuse_req_t req, fuse_ino_t ino, size_t next, char *list, size_t size)
{
    const struct sim_tree *tree = server_run(req)->tree;
    size_t used = 0;

    for (; next < tree->count; next++) {
        struct stat attributes;
        size_t length;

        if (next == 0 || tree->nodes[next].parent != ino - FUSE_ROOT_ID ||
            server_vanished(req, next + FUSE_ROOT_ID)) {
            continue;
        }
        attributes = server_attributes(req, next + FUSE_ROOT_ID);
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
    if (list == NULL) {
        fuse_reply_err(req, ENOMEM);
    } else {
        fuse_reply_buf(req, list, server_list(req, ino, (size_t)offset, list, size));
    }
    free(list);
}

/* NULL if there is no memory. */
static struct server_handle *server_handle_create(struct server *server)
{
    struct server_handle *handle = calloc(1, sizeof(*handle));

    if (handle != NULL) {
        LIST_INSERT_HEAD(&server->handles, handle, others);
    }
    return handle;
}

static void server_handle_destroy(struct server_handle *handle)
{
    LIST_REMOVE(handle, others);
    free(handle);
}

/* Files that readers left open. */
static void server_clear_handles(struct server *server)
{
    struct server_handle *handle = LIST_FIRST(&server->handles);

    while (handle != NULL) {
        struct server_handle *next = LIST_NEXT(handle, others);

        free(handle);
        handle = next;
    }
    LIST_INIT(&server->handles);
}

static struct server_handle *server_handle(const struct fuse_file_info *file)
{
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): libfuse has only this number to keep it in */
    return (struct server_handle *)(uintptr_t)file->fh;
}

static bool server_dead(fuse_req_t req, fuse_ino_t ino, const struct server_handle *handle)
{
    struct sim_run *run = server_run(req);

    return sim_meter_dead(run->tree, ino - FUSE_ROOT_ID, handle->opened_ns, sim_run_time_ns(run));
}

static void server_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *file)
{
    struct server_handle *handle;

    if (server_vanished(req, ino)) {
        fuse_reply_err(req, ENOENT);
        return;
    }
    handle = server_handle_create(fuse_req_userdata(req));
    if (handle == NULL) {
        fuse_reply_err(req, ENOMEM);
        return;
    }
    handle->opened_ns = sim_run_time_ns(server_run(req));
    file->fh = (uintptr_t)handle;
    file->direct_io = 1;
    if (fuse_reply_open(req, file) != 0) {
        server_handle_destroy(handle);
    }
}

static void server_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *file)
{
    (void)ino;
    server_handle_destroy(server_handle(file));
    fuse_reply_err(req, 0);
}

/* As the msr driver: whole registers only, and the offset is the register's number. */
static void server_read_register(fuse_req_t req, const struct sim_node *node, size_t size,
                                 off_t offset)
{
    uint64_t value = 0;
    int rc;

    if (size == 0 || size % sizeof(value) != 0) {
        fuse_reply_err(req, EINVAL);
        return;
    }
    rc = sim_meter_read_register(node, sim_run_time_ns(server_run(req)), (uint64_t)offset, &value);
    if (rc != 0) {
        fuse_reply_err(req, -rc);
    } else {
        fuse_reply_buf(req, (const char *)&value, sizeof(value));
    }
}

static void server_read_text(fuse_req_t req, struct sim_node *node, size_t size, off_t offset,
                             struct server_handle *handle)
{
    size_t from = (size_t)offset;

    if (offset == 0) {
        ssize_t length = sim_meter_read(node, sim_run_time_ns(server_run(req)), handle->text);

        if (length < 0) {
            fuse_reply_err(req, (int)-length);
            return;
        }
        handle->length = (size_t)length;
    }
    if (from >= handle->length) {
        size = 0;
    } else if (size > handle->length - from) {
        size = handle->length - from;
    }
    fuse_reply_buf(req, size == 0 ? NULL : handle->text + from, size);
}

static void server_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
                        struct fuse_file_info *file)
{
    struct sim_node *node = server_node(req, ino);

    if (server_dead(req, ino, server_handle(file))) {
        fuse_reply_err(req, ENODEV);
    } else if (node->kind == SIM_MSR) {
        server_read_register(req, node, size, offset);
    } else {
        server_read_text(req, node, size, offset, server_handle(file));
    }
}

/* Texts can be set, as limits can; meters and registers cannot. */
/* NOLINTNEXTLINE(readability-function-size): the parameters are libfuse's */
static void server_write(fuse_req_t req, fuse_ino_t ino, const char *bytes, size_t size,
                         off_t offset, struct fuse_file_info *file)
{
    struct sim_node *node = server_node(req, ino);
    char *text;

    (void)file;
    if (node->kind != SIM_TEXT || offset != 0 || size >= SIM_TEXT_SIZE) {
        fuse_reply_err(req, EINVAL);
        return;
    }
    text = strndup(bytes, size);
    if (text == NULL) {
        fuse_reply_err(req, ENOMEM);
        return;
    }
    free(node->text);
    node->text = text;
    fuse_reply_write(req, size);
}

static const struct fuse_lowlevel_ops server_ops = {
    .init = server_init,
    .lookup = server_lookup,
    .getattr = server_getattr,
    .setattr = server_setattr,
    .readlink = server_readlink,
    .readdir = server_readdir,
    .open = server_open,
    .release = server_release,
    .read = server_read,
    .write = server_write,
};

/* 0, or -1 after a message. */
static int server_loop(struct sim_run *run, struct fuse_session *session)
{
    struct fuse_buf buffer = {0};
    int rc = 0;

    while (!fuse_session_exited(session)) {
        rc = sim_run_wait(run, fuse_session_fd(session));
        if (rc <= 0) {
            break;
        }
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
    return rc < 0 ? -1 : 0;
}

/* A request that its sender takes back must not make us wait for the next one. */
static int server_set_nonblocking(struct fuse_session *session)
{
    int fd = fuse_session_fd(session);
    int flags = fcntl(fd, F_GETFL);

    return flags < 0 ? -1 : fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

/* 0, or -1 after a message. */
static int server_serve(struct sim_run *run, struct fuse_session *session)
{
    int rc;

    if (fuse_session_mount(session, run->dir) != 0) {
        return -1;
    }
    rc = server_set_nonblocking(session);
    if (rc == 0) {
        rc = server_loop(run, session);
    }
    fuse_session_unmount(session);
    return rc;
}

int sim_fuse_serve(struct sim_run *run)
{
    char program[] = "apapi-simhw";
    char option[] = "-oallow_other,default_permissions,fsname=apapi-simhw";
    char *argv[] = {program, option, NULL};
    struct fuse_args args = FUSE_ARGS_INIT(2, argv);
    struct server server = {.run = run};
    struct fuse_session *session;
    int rc;

    session = fuse_session_new(&args, &server_ops, sizeof(server_ops), &server);
    fuse_opt_free_args(&args);
    if (session == NULL) {
        return -1;
    }
    rc = server_serve(run, session);
    fuse_session_destroy(session);
    server_clear_handles(&server);
    return rc;
}
