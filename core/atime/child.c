/* SPDX-License-Identifier: BSD-3-Clause */
#include "atime/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/clock.h"

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
static _Noreturn void become(char *const argv[], const struct dispositions *dispositions, int told)
{
    int error;

    sigprocmask(SIG_SETMASK, &dispositions->mask, NULL);
    execvp(argv[0], argv);
    error = errno;
    if (write(told, &error, sizeof error) != (ssize_t)sizeof error) {
        error = 0; /* nobody there to tell */
    }
    _exit(CHILD_NOT_FOUND);
}

/* The pipe is closed by a successful exec; else the child writes its errno. @return it, or 0. */
static int exec_error(int heard)
{
    int error = 0;
    ssize_t got;

    do {
        got = read(heard, &error, sizeof error);
    } while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof error ? error : 0;
}

/* posix_spawn() would leave glibc's own two signals ignored: the program could see a difference. */
static int spawn(char *const argv[], const struct dispositions *dispositions)
{
    int ends[2], error;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC)) {
        return errno;
    }
    pid = fork();
    if (pid == 0) {
        become(argv, dispositions, ends[1]);
    }
    error = pid < 0 ? errno : 0;
    close(ends[1]);
    if (pid > 0) {
        error = exec_error(ends[0]);
    }
    close(ends[0]);
    if (error && pid > 0) {
        waitpid(pid, NULL, 0);
    }
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
