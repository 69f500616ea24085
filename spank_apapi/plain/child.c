/* SPDX-License-Identifier: BSD-3-Clause */
#include "child.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "exec.h"

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
        spank_apapi_exec(program, channel[1], &pidfd)) {
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
