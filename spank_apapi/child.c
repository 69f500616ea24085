/* SPDX-License-Identifier: BSD-3-Clause */
#include "child.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apapi/channel.h"
#include "channel/deadline.h"
#include "exec.h"

/* From the first child to its maker: how the second fork went; comes with a pidfd if there is one.
 */
struct handover {
    int fork_errno; /* 0: the helper has been forked */
};

/* Space of one descriptor in a control message, aligned. */
union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int))];
};

/* fork() without the host's fork handlers, which may take locks. */
static pid_t child_fork(void)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    return _Fork();
#else
    return fork();
#endif
}

static int child_pidfd(pid_t pid)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0);
#else
    (void)pid;
    return -1;
#endif
}

static void handover_send(int socket, struct handover handover, int pidfd)
{
    union control control = {0};
    struct iovec part = {.iov_base = &handover, .iov_len = sizeof handover};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

    if (pidfd >= 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
        control.align.cmsg_level = SOL_SOCKET;
        control.align.cmsg_type = SCM_RIGHTS;
        control.align.cmsg_len = CMSG_LEN(sizeof pidfd);
        memcpy(CMSG_DATA(&control.align), &pidfd, sizeof pidfd);
    }
    sendmsg(socket, &message, MSG_NOSIGNAL);
}

/* The process between maker and helper: the helper shall have no living parent of Slurm's. */
static _Noreturn void child_between(const struct spank_apapi_exec *exec)
{
    struct handover handover = {0};
    int pidfd = -1;
    pid_t pid;

    setsid();
    pid = child_fork();
    if (pid == 0) {
        spank_apapi_exec_run(exec);
    }
    if (pid < 0) {
        handover.fork_errno = errno;
    } else {
        pidfd = child_pidfd(pid);
    }
    handover_send(exec->handover, handover, pidfd);
    _exit(0);
}

/* The pid of the process between, -1 with errno. All signals are blocked until it has handled them.
 */
static pid_t child_fork_between(const struct spank_apapi_exec *exec)
{
    sigset_t all, before;
    int code;
    pid_t pid;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid = child_fork();
    if (pid == 0) {
        child_between(exec);
    }
    code = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = code;
    return pid;
}

static int handover_receive(int socket, int *pidfd, uint64_t deadline_ns)
{
    struct handover handover = {0};
    union control control = {0};
    struct iovec part = {.iov_base = &handover, .iov_len = sizeof handover};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    const struct cmsghdr *header;
    ssize_t size;

    if (deadline_wait(socket, POLLIN, deadline_ns)) {
        return -1;
    }
    size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (size != sizeof handover || handover.fork_errno) {
        errno = size < 0 ? errno : handover.fork_errno ? handover.fork_errno : ECHILD;
        return -1;
    }
    header = CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_type == SCM_RIGHTS && header->cmsg_len == CMSG_LEN(sizeof *pidfd)) {
        memcpy(pidfd, CMSG_DATA(header), sizeof *pidfd);
    }
    return 0;
}

/*
 * Reap the process between, which has only its _exit() before it once it has handed over. Slurm may
 * have been faster. What has not handed over in time is left to Slurm.
 */
static void child_reap(pid_t pid, bool handed_over)
{
    while (waitpid(pid, NULL, handed_over ? 0 : WNOHANG) < 0 && errno == EINTR) {
    }
}

/* Fork twice. @return 0; -1 with errno. */
static int child_launch(struct spank_apapi_exec *exec, int handover, int *pidfd,
                        uint64_t deadline_ns)
{
    pid_t pid = child_fork_between(exec);
    int result;

    if (pid < 0) {
        return -1;
    }
    close(exec->handover);
    exec->handover = -1;
    result = handover_receive(handover, pidfd, deadline_ns);
    child_reap(pid, result == 0);
    return result;
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
                            const struct spank_apapi_program *program, uint64_t deadline_ns,
                            struct apapi_error *err)
{
    int channel[2] = {-1, -1}, handover[2] = {-1, -1}, pidfd = -1, code = 0;
    struct spank_apapi_exec exec;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel) ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, handover)) {
        code = errno;
        goto out;
    }
    exec = (struct spank_apapi_exec){
        .channel = channel[1], .listener = program->listener, .handover = handover[1]};
    if (spank_apapi_exec_prepare(&exec, program->dir, program->name) ||
        child_launch(&exec, handover[0], &pidfd, deadline_ns)) {
        code = errno;
    } else if (program->follow) {
        deadline_wait(handover[0], POLLIN, deadline_ns); /* exec closes its last copy */
    }
    handover[1] = exec.handover;
out:
    child_close(&channel[1]);
    child_close(&handover[0]);
    child_close(&handover[1]);
    if (code) {
        child_close(&channel[0]);
        child_close(&pidfd);
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

bool spank_apapi_child_ended(const struct spank_apapi_child *child, uint64_t deadline_ns)
{
    return child->pidfd < 0 || deadline_wait(child->pidfd, POLLIN, deadline_ns) == 0;
}

void spank_apapi_child_close(struct spank_apapi_child *child)
{
    child_close(&child->channel);
    child_close(&child->pidfd);
}
