/* SPDX-License-Identifier: BSD-3-Clause */
/* How a server begins, waits and ends. */
#include "simhw.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t run_clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SIM_NS_PER_S + (uint64_t)now.tv_nsec;
}

/* For tests that make time themselves. */
static bool run_given_time_ns(uint64_t *time_ns)
{
    const char *path = getenv("APAPI_SIMHW_TIME");
    char text[24] = "";
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;

    if (fd < 0) {
        return false;
    }
    if (read(fd, text, sizeof(text) - 1) < 0) {
        text[0] = '\0';
    }
    close(fd);
    *time_ns = strtoull(text, NULL, 10);
    return true;
}

uint64_t sim_run_time_ns(const struct sim_run *run)
{
    uint64_t time_ns;

    if (run_given_time_ns(&time_ns)) {
        return time_ns;
    }
    return run_clock_ns() - run->start_ns;
}

void sim_run_start(struct sim_run *run)
{
    run->start_ns = run_clock_ns();
    for (size_t i = 0; i < run->tree->count; i++) {
        struct sim_load *load = run->tree->nodes[i].power.load;

        if (load != NULL) {
            load->start_ns = run->start_ns;
        }
    }
}

/* Nobody's pipe or terminal may stay open through a server in the background. */
static void run_release_stdio(void)
{
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int fd = STDIN_FILENO; null_fd >= 0 && fd <= STDERR_FILENO; fd++) {
        dup2(null_fd, fd);
    }
    if (null_fd > STDERR_FILENO) {
        close(null_fd);
    }
}

void sim_run_ready(struct sim_run *run)
{
    if (run->background) {
        run_release_stdio();
    }
    if (run->ready_fd < 0) {
        return;
    }
    while (write(run->ready_fd, "\n", 1) < 0 && errno == EINTR) {
        ;
    }
    close(run->ready_fd);
    run->ready_fd = -1;
}

int sim_run_wait(const struct sim_run *run, int fd)
{
    enum { WAIT_FD, WAIT_SIGNAL, WAIT_PROCESS, WAIT_COUNT };
    struct pollfd fds[WAIT_COUNT] = {
        [WAIT_FD] = {.fd = fd, .events = POLLIN},
        [WAIT_SIGNAL] = {.fd = run->signal_fd, .events = POLLIN},
        [WAIT_PROCESS] = {.fd = run->watch_fd, .events = POLLIN},
    };

    while (poll(fds, WAIT_COUNT, -1) < 0) {
        if (errno != EINTR) {
            return -1;
        }
    }
    return fds[WAIT_SIGNAL].revents == 0 && fds[WAIT_PROCESS].revents == 0;
}

/* End with the parent, also if it is gone already. */
static int run_follow_parent(pid_t parent)
{
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0) {
        return -1;
    }
    if (getppid() != parent) {
        raise(SIGTERM);
    }
    return 0;
}

int sim_run_open(struct sim_run *run, pid_t watch_pid)
{
    pid_t parent = getppid();
    sigset_t signals;

    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    if (sigprocmask(SIG_BLOCK, &signals, NULL) != 0) {
        return -1;
    }
    run->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    if (run->signal_fd < 0) {
        return -1;
    }
    if (watch_pid == 0) {
        return run_follow_parent(parent);
    }
    run->watch_fd = pidfd_open(watch_pid, 0);
    return run->watch_fd < 0 ? -1 : 0;
}

/* The caller's process: end as soon as the child is ready, or with its status if it fails. */
static void run_await_child(int fd, pid_t child)
{
    int status = 0;
    char byte;
    ssize_t length;

    do {
        length = read(fd, &byte, 1);
    } while (length < 0 && errno == EINTR);
    if (length == 1) {
        _exit(EXIT_SUCCESS);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        ;
    }
    _exit(WIFEXITED(status) && WEXITSTATUS(status) != 0 ? WEXITSTATUS(status) : EXIT_FAILURE);
}

int sim_run_detach(struct sim_run *run)
{
    int fds[2];
    pid_t child;

    if (pipe2(fds, O_CLOEXEC) != 0) {
        return -1;
    }
    child = fork();
    if (child < 0) {
        close(fds[0]);
        close(fds[1]);
        return -1;
    }
    close(fds[child != 0]);
    if (child > 0) {
        run_await_child(fds[0], child);
    }
    run->background = true;
    run->ready_fd = fds[1];
    setsid();
    return chdir("/");
}
