/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tree as plain files. Readers keep them open, so a meter's file is rewritten in place with one
 * pwrite() of constant length, never truncated or replaced; newlines follow the number up to that
 * length. Linux does not promise that a read on tmpfs meets all or nothing of such a write, but the
 * bytes share a cache line: no mixture was met in 1e7 reads beside 4e5 writes. --fuse is exact.
 */
#include "simhw.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { FILE_LENGTH = 24 }; /* any 64-bit number, its sign, a newline, in whole words */

/* A file that changes. */
struct file_meter {
    struct sim_node *node;
    int fd;
    char shown[FILE_LENGTH];
};

struct file_server {
    struct sim_run *run;
    struct file_meter *meters;
    size_t meter_count;
};

static int file_complain(const char *path)
{
    fprintf(stderr, "apapi-simhw: %s: %s\n", path, strerror(errno));
    return -1;
}

static int file_update(struct file_meter *meter, uint64_t time_ns)
{
    char text[SIM_TEXT_SIZE];
    char padded[FILE_LENGTH];
    ssize_t length = sim_meter_read(meter->node, time_ns, text);

    if (length < 0 || length > FILE_LENGTH) {
        errno = length < 0 ? (int)-length : EOVERFLOW;
        return -1;
    }
    memset(padded, '\n', sizeof(padded));
    memcpy(padded, text, (size_t)length);
    if (memcmp(padded, meter->shown, sizeof(padded)) == 0) {
        return 0;
    }
    if (pwrite(meter->fd, padded, sizeof(padded), 0) != (ssize_t)sizeof(padded)) {
        return -1;
    }
    memcpy(meter->shown, padded, sizeof(padded));
    return 0;
}

static int file_update_all(struct file_server *server)
{
    uint64_t time_ns = sim_run_time_ns(server->run);

    for (size_t i = 0; i < server->meter_count; i++) {
        if (file_update(&server->meters[i], time_ns) != 0) {
            return file_complain(server->meters[i].node->name);
        }
    }
    return 0;
}

/* Write all of a text and close the file. */
static int file_write_text(int fd, const char *text)
{
    size_t length = strlen(text);
    ssize_t written = write(fd, text, length);

    close(fd);
    if (written == (ssize_t)length) {
        return 0;
    }
    if (written >= 0) {
        errno = ENOSPC;
    }
    return -1;
}

static int file_create(struct file_server *server, struct sim_node *node, const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, node->mode);

    if (fd < 0) {
        return -1;
    }
    if (node->kind == SIM_TEXT) {
        return file_write_text(fd, node->text);
    }
    server->meters[server->meter_count++] = (struct file_meter){.node = node, .fd = fd};
    return 0;
}

static int file_create_node(struct file_server *server, size_t index)
{
    struct sim_node *node = &server->run->tree->nodes[index];
    char path[PATH_MAX];
    int rc;

    if (sim_tree_path(server->run->tree, index, server->run->dir, path, sizeof(path)) != 0) {
        return file_complain(node->name);
    }
    switch (node->kind) {
    case SIM_DIR:
        rc = mkdir(path, 0755);
        break;
    case SIM_LINK:
        rc = symlink(node->text, path);
        break;
    default:
        rc = file_create(server, node, path);
    }
    return rc == 0 ? 0 : file_complain(path);
}

/* Folders get their mode last, as their content must be created first. */
static int file_set_dir_mode(struct file_server *server, size_t index)
{
    const struct sim_node *node = &server->run->tree->nodes[index];
    char path[PATH_MAX];

    if (node->kind != SIM_DIR) {
        return 0;
    }
    if (sim_tree_path(server->run->tree, index, server->run->dir, path, sizeof(path)) != 0 ||
        chmod(path, node->mode) != 0) {
        return file_complain(node->name);
    }
    return 0;
}

static int file_create_all(struct file_server *server)
{
    size_t count = server->run->tree->count;

    server->meters = calloc(count, sizeof(*server->meters));
    if (server->meters == NULL) {
        return file_complain(server->run->dir);
    }
    umask(0);
    /* node 0 is the folder itself; a parent always comes before its children */
    for (size_t i = 1; i < count; i++) {
        if (file_create_node(server, i) != 0) {
            return -1;
        }
    }
    for (size_t i = count; i > 1; i--) {
        if (file_set_dir_mode(server, i - 1) != 0) {
            return -1;
        }
    }
    return 0;
}

/* A timer at absolute multiples of the period: late updates do not shift those that follow. */
static int file_open_timer(const struct sim_run *run)
{
    struct timespec period = {(time_t)(run->period_ns / SIM_NS_PER_S),
                              (long)(run->period_ns % SIM_NS_PER_S)};
    struct itimerspec timer = {.it_interval = period, .it_value = period};
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

    if (fd >= 0 && timerfd_settime(fd, 0, &timer, NULL) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static int file_loop(struct file_server *server)
{
    int timer_fd = file_open_timer(server->run);
    int rc;

    if (timer_fd < 0) {
        return file_complain("timer");
    }
    while ((rc = sim_run_wait(server->run, timer_fd)) > 0) {
        uint64_t expirations;

        if (read(timer_fd, &expirations, sizeof(expirations)) < 0 && errno != EAGAIN) {
            rc = file_complain("timer");
        } else {
            rc = file_update_all(server);
        }
        if (rc != 0) {
            break;
        }
    }
    close(timer_fd);
    return rc;
}

int sim_file_serve(struct sim_run *run)
{
    struct file_server server = {.run = run};
    int rc = file_create_all(&server);

    sim_run_start(run);
    if (rc == 0) {
        rc = file_update_all(&server);
    }
    if (rc == 0) {
        sim_run_ready(run);
        rc = file_loop(&server);
    }
    for (size_t i = 0; i < server.meter_count; i++) {
        close(server.meters[i].fd);
    }
    free(server.meters);
    return rc;
}
