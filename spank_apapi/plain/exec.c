/* SPDX-License-Identifier: BSD-3-Clause */
#include "exec.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channel/channel.h"

#define FIRST_FREE_FD (APAPI_LISTEN_FD + 1)
#define DESCRIPTORS_MAX 65536 /* descriptors that are closed one by one */
#define CLOEXEC_RANGE 4U      /* CLOSE_RANGE_CLOEXEC */
#define STACK_SIZE 16384      /* bytes; the processes do little more than system calls */
#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x1000 /* older kernels ignore it */
#endif

/*
 * Shared by the maker and the two processes that it starts, of which only one runs at a time. Not
 * on the maker's stack, as the helper still uses it if the process between is killed.
 */
static struct {
    char path[PATH_MAX];
    char name[64];
    int channel, listener;
    int null_fds;    /* standard descriptors that become /dev/null */
    int descriptors; /* limit of open descriptors; used if close_range() is missing */
    int error;       /* errno of the failed call; 0: none */
    int pidfd;       /* of the helper; -1: not supported by the kernel */
    char between_stack[STACK_SIZE] __attribute__((aligned(16)));
    char helper_stack[STACK_SIZE] __attribute__((aligned(16)));
} shared;

/* From here on: only async-signal-safe calls, and no allocation. */

static void exec_reset_signals(void)
{
    struct sigaction plain = {.sa_handler = SIG_DFL};
    sigset_t none;

    for (int number = 1; number < NSIG; number++) {
        sigaction(number, &plain, NULL);
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Close everything from `first` on at exec. */
static void exec_close_from(int first, int descriptors)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, (unsigned)first, ~0U, CLOEXEC_RANGE) == 0) {
        return;
    }
#endif
    for (int fd = first; fd < descriptors; fd++) {
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
}

/* Set up /dev/null, channel and listener. @return 0; -1 with errno. */
static int exec_set_descriptors(int channel, int listener)
{
    int null = open("/dev/null", O_RDWR);

    if (null < 0) {
        return -1;
    }
    for (int fd = 0; fd < shared.null_fds; fd++) {
        if (dup2(null, fd) < 0) {
            return -1;
        }
    }
    if (dup2(channel, APAPI_CHANNEL_FD) < 0) {
        return -1;
    }
    return listener >= 0 && dup2(listener, APAPI_LISTEN_FD) < 0 ? -1 : 0;
}

/* Become the helper. All signals are blocked until here. @return the errno of the failed call. */
static int exec_become(void)
{
    static char path_variable[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin", lang_variable[] = "LANG=C";
    char *const environment[] = {path_variable, lang_variable, NULL};
    char *const words[] = {shared.name, NULL};
    int channel = fcntl(shared.channel, F_DUPFD, FIRST_FREE_FD);
    int listener = shared.listener < 0 ? -1 : fcntl(shared.listener, F_DUPFD, FIRST_FREE_FD);

    exec_reset_signals();
    umask(077);
    if (channel < 0 || (shared.listener >= 0 && listener < 0) || chdir("/") ||
        exec_set_descriptors(channel, listener)) {
        return errno;
    }
    exec_close_from(listener < 0 ? APAPI_LISTEN_FD : FIRST_FREE_FD, shared.descriptors);
    execve(shared.path, words, environment);
    return errno;
}

static int exec_helper(void *unused)
{
    (void)unused;
    shared.error = exec_become();
    _exit(127);
}

/* The process between maker and helper: it ends, so that no Slurm process is the parent. */
static int exec_between(void *unused)
{
    (void)unused;
    setsid();
    if (clone(exec_helper, shared.helper_stack + STACK_SIZE,
              CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, NULL, &shared.pidfd) < 0) {
        shared.error = errno;
    }
    _exit(0);
}

/*
 * Works like vfork(), twice: copies no page tables, and returns errors at once. The process between
 * shares the descriptor table, so that the pidfd is the maker's. It sends no signal at its end, and
 * Slurm's wait() does not see it.
 */
static void exec_launch(void)
{
    sigset_t all, before;
    pid_t pid;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid = clone(exec_between, shared.between_stack + STACK_SIZE,
                CLONE_VM | CLONE_VFORK | CLONE_FILES, NULL);
    if (pid < 0) {
        shared.error = errno;
    }
    while (pid > 0 && waitpid(pid, NULL, __WALL) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int spank_apapi_exec(const struct spank_apapi_program *program, int channel, int *pidfd)
{
    struct rlimit limit = {.rlim_cur = DESCRIPTORS_MAX};

    if (strlen(program->dir) + 1 + strlen(program->name) >= sizeof shared.path ||
        strlen(program->name) >= sizeof shared.name) {
        errno = ENAMETOOLONG;
        return -1;
    }
    stpcpy(stpcpy(stpcpy(shared.path, program->dir), "/"), program->name);
    strcpy(shared.name, program->name);
    getrlimit(RLIMIT_NOFILE, &limit);
    shared.descriptors = limit.rlim_cur < DESCRIPTORS_MAX ? (int)limit.rlim_cur : DESCRIPTORS_MAX;
    shared.channel = channel;
    shared.listener = program->listener;
    shared.null_fds = program->speaks && fcntl(STDERR_FILENO, F_GETFD) >= 0 ? 2 : 3;
    shared.error = 0;
    shared.pidfd = -1;
    exec_launch();
    if (shared.error) {
        if (shared.pidfd >= 0) {
            close(shared.pidfd);
        }
        errno = shared.error;
        return -1;
    }
    *pidfd = shared.pidfd;
    return 0;
}
