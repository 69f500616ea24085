/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/text.h"

/* --- signals -------------------------------------------------------------------------------- */

static volatile sig_atomic_t receiver;
static volatile sig_atomic_t last;
static sigset_t harmless; /* were ignored or blocked: they do not end this process */

/* @return whether the default action of a signal, which can be caught, ends a process. */
static bool is_ending(int number)
{
    return number != SIGTSTP && number != SIGTTIN && number != SIGTTOU && number != SIGCONT &&
           number != SIGCHLD && number != SIGURG && number != SIGWINCH;
}

/* @return whether the kernel sends a signal for what the running instruction does. */
static bool is_fault(int number)
{
    return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL ||
           number == SIGTRAP || number == SIGSYS;
}

/*
 * Terminals, kill(-group), timeout(1) and Slurm send a signal to the program, too; only a signal
 * that is sent to this process alone is passed on. The witness tells which: a process beside the
 * program that gets the signals that are sent to all processes, and no others.
 */
static struct witness {
    pid_t pid;                 /* 0: there is no witness; all signals of kill(2) are passed on */
    atomic_uint counts[_NSIG]; /* signals that the witness has received, by number */
} * witness;                   /* memory that is shared with the witness */

#define WITNESS_GRACE 20     /* looks at `counts`: the signal may reach the witness later */
#define LOOK_NS 1000000      /* time between two looks [ns] */
#define TOGETHER_NS 20000000 /* timeout(1) signals one process, then all: that counts once [ns] */

static _Noreturn void witness_run(pid_t parent)
{
    sigset_t all;
    int number;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* it has a name of its own: killall(1) and pidof(1) mean this program, not all processes */
    prctl(PR_SET_NAME, "witness");
    memset(program_invocation_name, '-', strlen(program_invocation_name));
    close_range(0, ~0U, 0);
    while (getppid() == parent) {
        number = sigwaitinfo(&all, NULL);
        if (number > 0 && number < _NSIG) {
            atomic_fetch_add(&witness->counts[number], 1);
        }
    }
    _exit(0);
}

static void witness_begin(void)
{
    void *memory =
        mmap(NULL, sizeof *witness, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t parent = getpid(), pid;

    if (memory == MAP_FAILED) {
        return;
    }
    witness = memory;
    pid = fork();
    if (pid == 0) {
        witness_run(parent);
    }
    witness->pid = pid > 0 ? pid : 0;
}

static void witness_end(void)
{
    if (witness && witness->pid && kill(witness->pid, SIGKILL) == 0) {
        waitpid(witness->pid, NULL, 0);
    }
    if (witness) {
        munmap(witness, sizeof *witness);
        witness = NULL;
    }
}

/* @return whether the witness has yet to count a signal: a busy machine may not let it run. */
static bool witness_pends(int number)
{
    char path[32], text[2048] = "";
    const char *pending;
    ssize_t got = -1;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/status", (int)witness->pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        got = read(fd, text, sizeof text - 1);
        close(fd);
    }
    pending = got > 0 ? strstr(text, "\nShdPnd:\t") : NULL;
    return pending && strtoull(pending + strlen("\nShdPnd:\t"), NULL, 16) >> (number - 1) & 1;
}

static bool witness_has(int number)
{
    static unsigned seen[_NSIG]; /* signals dealt with, also one that is not in `counts` yet */
    static uint64_t seen_ns[_NSIG];
    const struct timespec pause = {.tv_nsec = LOOK_NS};
    int news = 0;

    if (!witness || !witness->pid) {
        return false;
    }
    for (int i = 0; i <= WITNESS_GRACE && news <= 0; i++) {
        unsigned before = atomic_load(&witness->counts[number]);
        bool pends = i == WITNESS_GRACE && witness_pends(number);
        unsigned count = atomic_load(&witness->counts[number]);

        news = (int)(count - seen[number]) + (pends && count == before); /* else counted by now */
        if (news <= 0 && clock_monotonic_ns() - seen_ns[number] < TOGETHER_NS) {
            return true;
        }
        if (news <= 0 && i < WITNESS_GRACE) {
            nanosleep(&pause, NULL);
        }
    }
    if (news > 0) {
        seen[number] += (unsigned)news;
        seen_ns[number] = clock_monotonic_ns();
    }
    return news > 0;
}

/*
 * A program that has left this process's group gets no signal to all of it, but timeout(1) signals
 * its child first, which would be the program. It could not have left a group that it leads itself,
 * as it would without this process where this process leads: then it has the terminal's, too.
 * @return whether the program lacks a signal to all and needs it, once
 */
static bool is_lacking(int number, bool of_kernel)
{
    static uint64_t passed_ns[_NSIG];
    uint64_t before_ns = passed_ns[number];
    bool of_terminal = number == SIGINT || number == SIGQUIT || number == SIGHUP;

    if (getpgid((pid_t)receiver) == getpgrp() ||
        (of_kernel && !(of_terminal && getpid() == getpgrp()))) {
        return false;
    }
    passed_ns[number] = clock_monotonic_ns();
    return passed_ns[number] - before_ns >= TOGETHER_NS;
}

/*
 * Handle a signal. Runs only while child_run() waits for a program's end, or in signals_last(). A
 * signal of the kernel is the terminal's, and the program has it too; or it is about this process.
 * A hangup is different: only the leader of the session gets it. Without this process, the program
 * would be the leader.
 */
static void handle(int number, siginfo_t *info, void *context)
{
    int saved = errno;
    bool of_kernel = info->si_code > 0;
    bool own = info->si_code <= 0 && info->si_pid == getpid();
    bool to_all = witness_has(number) || (of_kernel && number != SIGHUP);
    bool passes = receiver > 0 && !own && (!to_all || is_lacking(number, of_kernel));

    (void)context;
    if (info->si_code > 0 && is_fault(number)) {
        signal(number, SIG_DFL); /* the instruction is repeated, and ends this process */
    }
    if ((number == SIGINT || number == SIGQUIT || number == SIGTERM || number == SIGHUP) &&
        !sigismember(&harmless, number)) {
        last = number;
    }
    if (passes && info->si_code == SI_QUEUE) {
        sigqueue((pid_t)receiver, number, info->si_value);
    } else if (passes) {
        kill((pid_t)receiver, number);
    }
    errno = saved;
}

/* A signal that a library handles, such as a sanitizer, is left to it. */
void signals_catch(struct signals *signals)
{
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigaction before;

    sigfillset(&action.sa_mask); /* a handler waits for the witness: others wait for the handler */
    sigemptyset(&signals->caught);
    sigemptyset(&signals->ignored);
    sigprocmask(SIG_BLOCK, &signals->caught, &signals->mask);
    harmless = signals->mask;
    for (int number = 1; number < _NSIG; number++) { /* glibc refuses its own two signals */
        if (is_ending(number) && sigaction(number, NULL, &before) == 0 &&
            (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN)) {
            sigaddset(&signals->caught, number);
            if (before.sa_handler == SIG_IGN) {
                sigaddset(&signals->ignored, number);
                sigaddset(&harmless, number);
            }
            sigprocmask(SIG_BLOCK, &signals->caught, NULL);
            sigaction(number, &action, NULL);
        }
    }
    for (int i = 0; i < TIMERS; i++) {
        setitimer(i, &(struct itimerval){0}, &signals->timers[i]);
    }
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &signals->before_child);
    witness_begin();
}

/* Restore the previous state, in this process or in one that becomes the program. */
static void restore(const struct signals *signals)
{
    for (int number = 1; number < _NSIG; number++) {
        if (sigismember(&signals->caught, number) == 1) {
            signal(number, sigismember(&signals->ignored, number) ? SIG_IGN : SIG_DFL);
        }
    }
    for (int i = 0; i < TIMERS; i++) {
        setitimer(i, &signals->timers[i], NULL);
    }
    sigaction(SIGCHLD, &signals->before_child, NULL);
    sigprocmask(SIG_SETMASK, &signals->mask, NULL);
}

void signals_restore(const struct signals *signals)
{
    witness_end();
    restore(signals);
}

int signals_last(const struct signals *signals)
{
    sigprocmask(SIG_UNBLOCK, &signals->caught, NULL);
    sigprocmask(SIG_BLOCK, &signals->caught, NULL);
    return last;
}

/* --- child ---------------------------------------------------------------------------------- */

#define DESCRIPTORS_MAX 4096

static uint64_t given[DESCRIPTORS_MAX / 64];

/* @param notes  NULL: have exec close the descriptor if it was not given to this process */
static void look_at_descriptor(int folder, const char *name, unsigned char type, void *notes)
{
    uint64_t fd = 0;

    (void)type;
    if (!text_digits(name, DESCRIPTORS_MAX - 1, &fd) || (int)fd == folder) {
        return;
    }
    if (notes) {
        given[fd / 64] |= UINT64_C(1) << fd % 64;
    } else if (!(given[fd / 64] >> fd % 64 & 1)) {
        fcntl((int)fd, F_SETFD, FD_CLOEXEC);
    }
}

void child_note_descriptors(void)
{
    folder_each(AT_FDCWD, "/proc/self/fd", look_at_descriptor, given);
}

/* Become the program. exec resets handlers to the default and keeps ignored signals ignored. */
static _Noreturn void become(char *const argv[], const struct signals *signals, int error_pipe)
{
    int error;

    if (given[0]) {
        folder_each(AT_FDCWD, "/proc/self/fd", look_at_descriptor, NULL);
    }
    restore(signals);
    execvp(argv[0], argv);
    error = errno;
    if (write(error_pipe, &error, sizeof error) != (ssize_t)sizeof error) {
        error = 0; /* atime may have ended */
    }
    _exit(CHILD_NOT_FOUND);
}

/* posix_spawn() would leave glibc's own two signals ignored, which the program could notice. */
static int spawn(char *const argv[], const struct signals *signals, pid_t *pid)
{
    int ends[2], error;

    if (pipe2(ends, O_CLOEXEC)) {
        return errno;
    }
    *pid = fork();
    if (*pid == 0) {
        become(argv, signals, ends[1]);
    }
    error = *pid < 0 ? errno : 0;
    close(ends[1]);
    if (*pid > 0) { /* a successful exec closes the pipe; otherwise the child writes its errno */
        ssize_t got = TEMP_FAILURE_RETRY(read(ends[0], &error, sizeof error));

        error = got == (ssize_t)sizeof error ? error : 0;
    }
    close(ends[0]);
    if (error && *pid > 0) {
        waitpid(*pid, NULL, 0);
    }
    return error;
}

static double seconds(const struct timeval *time)
{
    return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

/* Signals are blocked while the ended program is reaped: its process id could be reused. */
static int wait_for_end(pid_t pid, const struct signals *signals, struct child_end *end)
{
    struct rusage usage;
    siginfo_t info = {0};
    int result, subreaper = 0;
    idtype_t of;

    prctl(PR_GET_CHILD_SUBREAPER, &subreaper);
    of = subreaper || getpid() == 1 ? P_ALL : P_PID; /* P_ALL: it gets the program's orphans */
    receiver = (sig_atomic_t)pid;
    sigprocmask(SIG_UNBLOCK, &signals->caught, NULL);
    do {
        result = waitid(of, (id_t)pid, &info, WEXITED | WNOWAIT);
        if (result == 0 && info.si_pid != pid) {
            if (witness && witness->pid == info.si_pid) {
                witness->pid = 0;
            }
            waitpid(info.si_pid, NULL, 0);
        }
    } while (result == 0 ? info.si_pid != pid : errno == EINTR);
    end->elapsed_ns = clock_monotonic_ns();
    sigprocmask(SIG_BLOCK, &signals->caught, NULL);
    receiver = 0;
    if (wait4(pid, &end->status, 0, &usage) < 0) {
        return errno;
    }
    end->user_s = seconds(&usage.ru_utime);
    end->system_s = seconds(&usage.ru_stime);
    end->peak_bytes = (uint64_t)usage.ru_maxrss * 1024;
    return 0;
}

int child_run(char *const argv[], const struct signals *signals,
              const struct child_started *started, struct child_end *end, struct apapi_error *err)
{
    uint64_t start_ns = clock_monotonic_ns();
    pid_t pid = -1;
    int error;

    sigprocmask(SIG_BLOCK, &signals->caught, NULL);
    error = spawn(argv, signals, &pid);
    if (error == 0 && started) {
        started->call(pid, started->context);
    }
    if (error == 0) {
        error = wait_for_end(pid, signals, end);
    }
    if (error) {
        return apapi_fail(err, error, "%.180s: %s", argv[0], strerror(error));
    }
    end->elapsed_ns -= start_ns;
    return 0;
}

int child_start_failure(int error)
{
    return error == ENOENT ? CHILD_NOT_FOUND : CHILD_NOT_EXECUTABLE;
}

int child_exit_code(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
