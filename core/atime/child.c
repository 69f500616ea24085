/* SPDX-License-Identifier: BSD-3-Clause */
#include "atime/child.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/clock.h"

extern char **environ;

static const int passed_on[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
#define PASSED_ON_COUNT (sizeof passed_on / sizeof *passed_on)

static volatile sig_atomic_t child_pid;

/* A key of the terminal reaches the whole process group, the program too: only what was sent to
 * this process alone is passed on. */
static void pass_on(int signal_number, siginfo_t *info, void *context)
{
    int saved = errno;

    (void)context;
    if (child_pid > 0 && info->si_code <= 0) {
        kill((pid_t)child_pid, signal_number);
    }
    errno = saved;
}

struct dispositions {
    struct sigaction before[PASSED_ON_COUNT];
    sigset_t mask;
};

/* Signals stay blocked until there is a program that they can be passed on to. */
static void catch_signals(struct dispositions *dispositions)
{
    struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigset_t blocked;

    sigemptyset(&blocked);
    for (size_t i = 0; i < PASSED_ON_COUNT; i++) {
        sigaddset(&blocked, passed_on[i]);
    }
    sigprocmask(SIG_BLOCK, &blocked, &dispositions->mask);
    for (size_t i = 0; i < PASSED_ON_COUNT; i++) {
        sigaction(passed_on[i], NULL, &dispositions->before[i]);
        if (dispositions->before[i].sa_handler != SIG_IGN) {
            sigaction(passed_on[i], &action, NULL);
        }
    }
}

static void restore_signals(const struct dispositions *dispositions)
{
    for (size_t i = 0; i < PASSED_ON_COUNT; i++) {
        sigaction(passed_on[i], &dispositions->before[i], NULL);
    }
    sigprocmask(SIG_SETMASK, &dispositions->mask, NULL);
}

/* exec resets handlers to the default and leaves ignored signals ignored: as it was before. */
static int spawn(char *const argv[], const struct dispositions *dispositions)
{
    posix_spawnattr_t attributes;
    pid_t pid = 0;
    int error = posix_spawnattr_init(&attributes);

    if (error) {
        return error;
    }
    posix_spawnattr_setsigmask(&attributes, &dispositions->mask);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    error = posix_spawnp(&pid, argv[0], NULL, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    child_pid = error ? 0 : (sig_atomic_t)pid;
    return error;
}

static int wait_for_end(struct child_end *end, const struct dispositions *dispositions)
{
    pid_t ended;

    sigprocmask(SIG_SETMASK, &dispositions->mask, NULL);
    do {
        ended = wait4((pid_t)child_pid, &end->status, 0, &end->usage);
    } while (ended < 0 && errno == EINTR);
    child_pid = 0;
    return ended < 0 ? -1 : 0;
}

int child_run(char *const argv[], struct child_end *end, struct apapi_error *err)
{
    struct dispositions dispositions;
    uint64_t start_ns = clock_monotonic_ns();
    int error;

    catch_signals(&dispositions);
    error = spawn(argv, &dispositions);
    if (error == 0 && wait_for_end(end, &dispositions)) {
        error = errno;
    }
    end->elapsed_ns = clock_monotonic_ns() - start_ns;
    restore_signals(&dispositions);
    return error ? apapi_fail(err, error, "%.180s: %s", argv[0], strerror(error)) : 0;
}

int child_start_failure(int error)
{
    return error == ENOENT ? CHILD_NOT_FOUND : CHILD_NOT_EXECUTABLE;
}

int child_exit_code(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
