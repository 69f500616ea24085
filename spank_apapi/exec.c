/* SPDX-License-Identifier: BSD-3-Clause */
#include "exec.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "apapi/channel.h"

#define FIRST_FREE_FD (APAPI_LISTEN_FD + 1)
#define DESCRIPTORS_MAX 65536 /* how many are looked at one by one */
#define CLOEXEC_RANGE 4U      /* CLOSE_RANGE_CLOEXEC */

int spank_apapi_exec_prepare(struct spank_apapi_exec *exec, const char *dir, const char *name)
{
    struct rlimit limit = {.rlim_cur = DESCRIPTORS_MAX};
    const size_t word_size = sizeof APAPI_WORD_FAILED;

    if (strlen(dir) + 1 + strlen(name) >= sizeof exec->path || strlen(name) >= sizeof exec->name) {
        errno = ENAMETOOLONG;
        return -1;
    }
    stpcpy(stpcpy(stpcpy(exec->path, dir), "/"), name);
    strcpy(exec->name, name);
    memcpy(exec->failure, APAPI_WORD_FAILED, word_size);
    exec->failure_length =
        word_size + (size_t)snprintf(exec->failure + word_size, sizeof exec->failure - word_size,
                                     "cannot start %s: ", exec->path);
    getrlimit(RLIMIT_NOFILE, &limit);
    exec->descriptors = limit.rlim_cur < DESCRIPTORS_MAX ? (int)limit.rlim_cur : DESCRIPTORS_MAX;
    return 0;
}

/* From here on: only async-signal-safe functions. */

/* strerror() may take locks. */
static const char *exec_reason(int code)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 32)
    const char *reason = strerrordesc_np(code);

    return reason ? reason : "unknown error";
#else
    switch (code) {
    case ENOENT:
        return "No such file or directory";
    case EACCES:
        return "Permission denied";
    default:
        return "it cannot be executed";
    }
#endif
}

static _Noreturn void exec_failed(const struct spank_apapi_exec *exec, int channel, int code)
{
    char message[sizeof exec->failure + 128];
    const char *reason = exec_reason(code);
    size_t length = strnlen(reason, 127);

    memcpy(message, exec->failure, exec->failure_length);
    memcpy(message + exec->failure_length, reason, length);
    message[exec->failure_length + length] = '\0';
    send(channel, message, exec->failure_length + length + 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    _exit(127);
}

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

/* Let exec close everything from `first` on. */
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

/* Put /dev/null, channel and listener where they belong. @return 0; -1 with errno. */
static int exec_place(int channel, int listener)
{
    int null = open("/dev/null", O_RDWR);

    if (null < 0) {
        return -1;
    }
    for (int fd = 0; fd <= 2; fd++) {
        if (dup2(null, fd) < 0) {
            return -1;
        }
    }
    if (dup2(channel, APAPI_CHANNEL_FD) < 0) {
        return -1;
    }
    return listener >= 0 && dup2(listener, APAPI_LISTEN_FD) < 0 ? -1 : 0;
}

_Noreturn void spank_apapi_exec_run(const struct spank_apapi_exec *exec)
{
    static char path_variable[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin", lang_variable[] = "LANG=C";
    char *const environment[] = {path_variable, lang_variable, NULL};
    char name[sizeof exec->name];
    char *const words[] = {name, NULL};
    int channel = fcntl(exec->channel, F_DUPFD, FIRST_FREE_FD);
    int listener = exec->listener < 0 ? -1 : fcntl(exec->listener, F_DUPFD, FIRST_FREE_FD);

    exec_reset_signals();
    umask(077);
    if (channel < 0 || (exec->listener >= 0 && listener < 0) || chdir("/") ||
        exec_place(channel, listener)) {
        exec_failed(exec, channel < 0 ? exec->channel : channel, errno);
    }
    exec_close_from(listener < 0 ? APAPI_LISTEN_FD : FIRST_FREE_FD, exec->descriptors);
    memcpy(name, exec->name, sizeof name);
    execve(exec->path, words, environment);
    exec_failed(exec, channel, errno);
}
