/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi-simhw: its options, and how a run begins, waits and ends. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "simhw.h"

static const char usage[] =
    "usage: apapi-simhw --fuse|--files DIR PID SPEC...\n"
    "Simulated energy meters as files below the existing folder DIR, as the specs describe them.\n"
    "Returns when the tree can be read, and serves it in the background until process PID ends.\n"
    "  --fuse   a file system that computes each value at the moment of the read\n"
    "  --files  plain files (on a tmpfs, please) that are rewritten in place each millisecond\n"
    "The time is the machine's since the start; with $APAPI_SIMHW_TIME, a file, what that says "
    "[ns] and\n"
    "a ten-thousandth of the machine's: a meter of `update 0` never stands still.\n"
    "Status: 0 it serves, 1 failure, 2 bad option or spec.\n\n";

static uint64_t start_ns; /* second 0 of the simulation on CLOCK_MONOTONIC */
static int watch_fd, ready_fd;

void sim_die(int status, const char *format, ...)
{
    va_list values;

    fputs("apapi-simhw: ", stderr);
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fputc('\n', stderr);
    exit(status);
}

/* Read the time that a test has set itself. @return false: none */
static bool given_time_ns(uint64_t *time_ns)
{
    const char *path = getenv("APAPI_SIMHW_TIME");
    char text[24] = "";
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;

    if (fd < 0) {
        return false;
    }
    if (read(fd, text, sizeof text - 1) < 0) {
        text[0] = '\0';
    }
    close(fd);
    *time_ns = strtoull(text, NULL, 10);
    return true;
}

uint64_t sim_time_ns(void)
{
    uint64_t time_ns, since_ns = clock_monotonic_ns() - start_ns;

    return given_time_ns(&time_ns) ? time_ns + since_ns / 10000 : since_ns;
}

void sim_start(const struct sim_tree *tree)
{
    start_ns = clock_monotonic_ns();
    for (size_t i = 0; i < tree->count; i++) {
        struct sim_load *load = tree->nodes[i].power.load;

        if (load) {
            load->start_ns = start_ns;
        }
    }
}

void sim_ready(void)
{
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

    /* do not keep a pipe or terminal of the caller open in the background */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        dup2(null_fd, fd);
    }
    close(null_fd);
    if (write(ready_fd, "\n", 1) != 1) {
        exit(SIM_FAILURE);
    }
    close(ready_fd);
}

bool sim_wait(int fd)
{
    struct pollfd fds[] = {{.fd = fd, .events = POLLIN}, {.fd = watch_fd, .events = POLLIN}};

    while (poll(fds, 2, -1) < 0) {
        if (errno != EINTR) {
            return false;
        }
    }
    return fds[1].revents == 0;
}

/* In the caller's process: end as soon as the child is ready, or with its status if it fails. */
static _Noreturn void await_child(int fd, pid_t child)
{
    int status = 0;
    char byte;

    if (read(fd, &byte, 1) == 1) {
        _exit(EXIT_SUCCESS);
    }
    waitpid(child, &status, 0);
    _exit(WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : SIM_FAILURE);
}

static void go_to_background(void)
{
    int fds[2];
    pid_t child;

    if (pipe2(fds, O_CLOEXEC) || (child = fork()) < 0) {
        sim_die(SIM_FAILURE, "no process: %s", strerror(errno));
    }
    close(fds[child != 0]);
    if (child > 0) {
        await_child(fds[0], child);
    }
    ready_fd = fds[1];
    setsid();
    if (chdir("/")) {
        sim_die(SIM_FAILURE, "/: %s", strerror(errno));
    }
}

int main(int argc, char **argv)
{
    static struct sim_tree tree;
    bool exact = argc > 1 && strcmp(argv[1], "--fuse") == 0;
    char *dir;

    if (argc > 1 && (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0)) {
        printf("%s%s", usage, sim_spec_help);
        return EXIT_SUCCESS;
    }
    if (argc < 5 || (!exact && strcmp(argv[1], "--files") != 0)) {
        sim_die(SIM_BAD_USE, "--fuse|--files DIR PID SPEC... are needed (-h shows the usage)");
    }
    sim_tree_init(&tree);
    for (int i = 4; i < argc; i++) {
        sim_spec_load(&tree, argv[i], exact);
    }
    close_range(STDERR_FILENO + 1, UINT_MAX, 0); /* descriptors of the caller */
    dir = realpath(argv[2], NULL);
    watch_fd = pidfd_open(atoi(argv[3]), 0);
    if (!dir || watch_fd < 0) {
        sim_die(SIM_FAILURE, "%s: %s", argv[dir ? 3 : 2], strerror(errno));
    }
    go_to_background();
    if (exact) {
        sim_fuse_serve(&tree, dir);
    } else {
        sim_file_serve(&tree, dir);
    }
    free(dir);
    return EXIT_SUCCESS;
}
