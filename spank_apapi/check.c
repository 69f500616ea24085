/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "channel/deadline.h"

#define CHECK_LIMIT_NS (2000 * DEADLINE_MS)

static int check_attributes(posix_spawnattr_t *attributes)
{
    sigset_t all, none;

    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_init(attributes);
    posix_spawnattr_setsigdefault(attributes, &all);
    posix_spawnattr_setsigmask(attributes, &none);
    return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
}

/* Run `path --check components` with its standard output in `output`. @return 0 or an errno. */
static int check_spawn(const char *path, const char *components, int output, pid_t *pid)
{
    static char name[] = "apapi-sampler", option[] = "--check";
    static char path_variable[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin", lang_variable[] = "LANG=C";
    char list[1024];
    char *const words[] = {name, option, list, NULL};
    char *const environment[] = {path_variable, lang_variable, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int code;

    snprintf(list, sizeof list, "%s", components);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    check_attributes(&attributes);
    code = posix_spawn(pid, path, &actions, &attributes, words, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

/* Read what fits up to end of file; the rest is thrown away. @return 0; -1 with errno. */
static int check_read(int fd, char *text, size_t size, uint64_t deadline_ns)
{
    char rest[256];
    size_t length = 0;

    for (;;) {
        bool full = length + 1 == size;
        ssize_t count;

        if (deadline_wait(fd, POLLIN, deadline_ns)) {
            return -1;
        }
        count = full ? read(fd, rest, sizeof rest) : read(fd, text + length, size - 1 - length);
        if (count <= 0) {
            text[length] = '\0';
            return 0;
        }
        length += full ? 0 : (size_t)count;
    }
}

/* Wait for a child; kill it at the deadline. @return 0 if it ended by itself; -1 with errno. */
static int check_wait(pid_t pid, int *status, uint64_t deadline_ns)
{
    const struct timespec pause = {.tv_nsec = DEADLINE_MS};
    pid_t ended;

    while ((ended = waitpid(pid, status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
        if (deadline_now() >= deadline_ns) {
            kill(pid, SIGKILL);
            waitpid(pid, status, 0);
            errno = ETIMEDOUT;
            return -1;
        }
        nanosleep(&pause, NULL);
    }
    return ended < 0 ? -1 : 0;
}

static int check_verdict(const char *path, int status, char *text, struct apapi_error *err)
{
    if (!WIFEXITED(status)) {
        return apapi_fail(err, EIO, "%.120s was ended by signal %d", path, WTERMSIG(status));
    }
    if (WEXITSTATUS(status) == 0) {
        return 0;
    }
    text[strcspn(text, "\n")] = '\0';
    if (*text == '\0') {
        return apapi_fail(err, EIO, "%.120s ended with status %d", path, WEXITSTATUS(status));
    }
    return apapi_fail(err, ENOENT, "%s", text);
}

int spank_apapi_check_components(const char *libexec_dir, const char *components,
                                 struct apapi_error *err)
{
    uint64_t deadline_ns = deadline_now() + CHECK_LIMIT_NS;
    char path[PATH_MAX], text[sizeof err->text] = "";
    int output[2] = {-1, -1}, status = 0, code;
    pid_t pid = -1;

    snprintf(path, sizeof path, "%s/apapi-sampler", libexec_dir);
    if (pipe2(output, O_CLOEXEC)) {
        return apapi_fail(err, EIO, "no pipe: %s", strerror(errno));
    }
    code = check_spawn(path, components, output[1], &pid);
    close(output[1]);
    if (code == 0) {
        check_read(output[0], text, sizeof text, deadline_ns);
        code = check_wait(pid, &status, deadline_ns) ? errno : 0;
    }
    close(output[0]);
    if (code == ETIMEDOUT) {
        return apapi_fail(err, code, "%.120s did not answer within 2 s", path);
    }
    if (code) {
        return apapi_fail(err, EIO, "cannot start %.120s: %s", path, strerror(code));
    }
    return check_verdict(path, status, text, err);
}
