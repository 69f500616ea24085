/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tree as plain files. Readers keep files open, so a meter's file is rewritten in place, by one
 * pwrite() of constant length, never truncated or replaced. Newlines follow the number up to that
 * length. Linux does not promise that a read on tmpfs sees all or nothing of such a write. But the
 * bytes share a cache line, and no mixture was met in 1e7 reads beside 4e5 writes. --fuse is exact.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "simhw.h"

enum {
    FILE_LENGTH = 24, /* for any 64-bit number, its sign and a newline, in whole words */
    FILE_PERIOD_NS = 1000000
};

/* A file whose content changes. */
struct file_meter {
    struct sim_node *node;
    int fd;
    char shown[FILE_LENGTH];
};

static struct file_meter *meters;
static size_t meter_count;

static void file_check(bool good, const char *name)
{
    if (!good) {
        sim_die(SIM_FAILURE, "%s: %s", name, strerror(errno));
    }
}

static void file_update(struct file_meter *meter, uint64_t time_ns)
{
    char text[SIM_TEXT_SIZE];
    ssize_t length = sim_meter_read(meter->node, time_ns, text);

    errno = EOVERFLOW;
    file_check(length >= 0 && length <= FILE_LENGTH, meter->node->name);
    memset(text + length, '\n', (size_t)(FILE_LENGTH - length));
    if (memcmp(text, meter->shown, FILE_LENGTH) != 0) {
        file_check(pwrite(meter->fd, text, FILE_LENGTH, 0) == FILE_LENGTH, meter->node->name);
        memcpy(meter->shown, text, FILE_LENGTH);
    }
}

static void file_update_all(void)
{
    uint64_t time_ns = sim_time_ns();

    for (size_t i = 0; i < meter_count; i++) {
        file_update(&meters[i], time_ns);
    }
}

/* Create the file of a node. @param folder  where it is created */
static void file_create(struct sim_node *node, int folder)
{
    int fd;

    if (node->kind == SIM_DIR) {
        file_check(mkdirat(folder, node->name, 0755) == 0, node->name);
        return;
    }
    if (node->kind == SIM_LINK) {
        file_check(symlinkat(node->text, folder, node->name) == 0, node->name);
        return;
    }
    fd = openat(folder, node->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, node->mode);
    file_check(fd >= 0, node->name);
    if (node->kind == SIM_TEXT) {
        ssize_t size = (ssize_t)strlen(node->text);

        file_check(write(fd, node->text, (size_t)size) == size, node->name);
        close(fd);
        return;
    }
    meters = sim_grow(meters, &meter_count, sizeof *meters);
    meters[meter_count - 1] = (struct file_meter){.node = node, .fd = fd};
}

/* Create what is in a folder. Its mode is set last, as its content must be created first. */
static void file_create_in(struct sim_tree *tree, size_t parent, int folder)
{
    for (size_t i = 1; i < tree->count; i++) {
        struct sim_node *node = &tree->nodes[i];
        int below;

        if (node->parent != parent) {
            continue;
        }
        file_create(node, folder);
        if (node->kind == SIM_DIR) {
            below = openat(folder, node->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            file_check(below >= 0, node->name);
            file_create_in(tree, i, below);
            file_check(fchmod(below, node->mode) == 0, node->name);
            close(below);
        }
    }
}

void sim_file_serve(struct sim_tree *tree, const char *dir)
{
    /* at absolute multiples of the period, so that late updates do not shift the following ones */
    const struct itimerspec period = {{0, FILE_PERIOD_NS}, {0, FILE_PERIOD_NS}};
    int folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    uint64_t expirations;

    file_check(folder >= 0, dir);
    file_check(timer >= 0 && timerfd_settime(timer, 0, &period, NULL) == 0, "timer");
    umask(0);
    file_create_in(tree, 0, folder);
    sim_start(tree);
    file_update_all();
    sim_ready();
    while (sim_wait(timer)) {
        file_check(read(timer, &expirations, sizeof expirations) > 0 || errno == EAGAIN, "timer");
        file_update_all();
    }
}
