/* SPDX-License-Identifier: BSD-3-Clause */
#include "child.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST_FREE_FD (APAPI_LISTEN_FD + 1)
#define DESCRIPTORS_MAX 65536 /* descriptors that are closed one by one */
#define CLOEXEC_RANGE 4U      /* CLOSE_RANGE_CLOEXEC */
#define STACK_SIZE 16384      /* bytes; the processes do little more than system calls */
#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x1000 /* older kernels ignore it */
#endif

/*
 * Shared by the maker and the two processes that it starts; only one of the three runs at a time.
 * Not on the maker's stack, as the helper still uses it if the process between is killed.
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

static void child_reset_signals(void)
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
static void child_close_from(int first, int descriptors)
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
static int child_set_descriptors(int channel, int listener)
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
static int child_become(void)
{
    static char path_variable[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin", lang_variable[] = "LANG=C";
    char *const environment[] = {path_variable, lang_variable, NULL};
    char *const words[] = {shared.name, NULL};
    int channel = fcntl(shared.channel, F_DUPFD, FIRST_FREE_FD);
    int listener = shared.listener < 0 ? -1 : fcntl(shared.listener, F_DUPFD, FIRST_FREE_FD);

    child_reset_signals();
    umask(077);
    if (channel < 0 || (shared.listener >= 0 && listener < 0) || chdir("/") ||
        child_set_descriptors(channel, listener)) {
        return errno;
    }
    child_close_from(listener < 0 ? APAPI_LISTEN_FD : FIRST_FREE_FD, shared.descriptors);
    execve(shared.path, words, environment);
    return errno;
}

static int child_helper(void *unused)
{
    (void)unused;
    shared.error = child_become();
    _exit(127);
}

/* The process between maker and helper: it ends, so that no Slurm process is the parent. */
static int child_between(void *unused)
{
    (void)unused;
    setsid();
    if (clone(child_helper, shared.helper_stack + STACK_SIZE,
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
static void child_launch(void)
{
    sigset_t all, before;
    pid_t pid;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid = clone(child_between, shared.between_stack + STACK_SIZE,
                CLONE_VM | CLONE_VFORK | CLONE_FILES, NULL);
    if (pid < 0) {
        shared.error = errno;
    }
    while (pid > 0 && waitpid(pid, NULL, __WALL) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* @param pidfd  result; -1 if the kernel has none. @return 0; -1 with errno. */
static int child_exec(const struct spank_apapi_program *program, int channel, int *pidfd)
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
    child_launch();
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

static void child_close(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}

int spank_apapi_child_keep_away(int fd)
{
    int away, code;

    if (fd < 0 || fd > STDERR_FILENO) {
        return fd;
    }
    away = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    code = errno;
    close(fd);
    errno = code;
    return away;
}

int spank_apapi_child_start(struct spank_apapi_child *child,
                            const struct spank_apapi_program *program, struct apapi_error *err)
{
    int channel[2] = {-1, -1}, pidfd = -1, code = 0;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel) ||
        child_exec(program, channel[1], &pidfd)) {
        code = errno;
    }
    child_close(&channel[1]);
    if (code) {
        child_close(&channel[0]);
        return apapi_fail(err, code, "cannot start %.120s/%s: %s", program->dir, program->name,
                          strerror(code));
    }
    *child = (struct spank_apapi_child){.channel = spank_apapi_child_keep_away(channel[0]),
                                        .pidfd = spank_apapi_child_keep_away(pidfd)};
    return 0;
}

int spank_apapi_child_reason(const struct message *message, struct apapi_error *err)
{
    apapi_fail(err, EIO, "%s", message_text(message));
    for (char *c = err->text; *c; c++) {
        if (iscntrl((unsigned char)*c)) {
            *c = ' ';
        }
    }
    return -1;
}

void spank_apapi_child_kill(const struct spank_apapi_child *child)
{
#ifdef SYS_pidfd_send_signal
    if (child->pidfd >= 0) {
        syscall(SYS_pidfd_send_signal, child->pidfd, SIGKILL, NULL, 0);
    }
#else
    (void)child;
#endif
}

void spank_apapi_child_close(struct spank_apapi_child *child)
{
    child_close(&child->channel);
    child_close(&child->pidfd);
}
