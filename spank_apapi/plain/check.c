/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "channel/channel.h"
#include "channel/deadline.h"

#define CHECK_LIMIT_NS (2000 * DEADLINE_MS)
#define WORDS COUNT_OF(((struct spank_apapi_question *)0)->words)
#define ENVIRONMENT_MAX 9

/* Pass on the user's variables for events, if they are asked for. */
static void check_environment(const struct spank_apapi_question *question,
                              char *environment[ENVIRONMENT_MAX + 1])
{
    static char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin", lang[] = "LANG=C";
    static const char rules[] = PACKET_VARIABLE "=";
    static const char *const names[] = {
        "APAPI_EVENTLIST=", "APAPI_EVENTOPS=", "APAPI_CMPLIST=", "APAPI_VERBOSE=", rules};
    size_t count = 0;

    environment[count++] = path;
    environment[count++] = lang;
    for (char **variable = environ; question->rules && *variable; variable++) {
        for (size_t i = 0; i < COUNT_OF(names) && count < ENVIRONMENT_MAX; i++) {
            if (strncmp(*variable, names[i], strlen(names[i])) == 0) {
                environment[count++] = *variable;
            }
        }
    }
    environment[count] = NULL;
}

/* Run `path` with standard output in `output`. @return 0 or an errno. */
static int check_spawn(const struct spank_apapi_question *question, const char *path, int output,
                       pid_t *pid)
{
    static char name[] = "apapi-sampler";
    char *words[WORDS + 2] = {name}, *environment[ENVIRONMENT_MAX + 1];
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t all, none;
    int code;

    memcpy(words + 1, question->words, sizeof question->words);
    check_environment(question, environment);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    code = posix_spawn(pid, path, &actions, &attributes, words, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

/* Read up to the end of file, or the deadline; drop what does not fit. */
static void check_read(int fd, char *text, size_t size, uint64_t deadline_ns)
{
    char rest[256];
    size_t length = 0;

    while (deadline_wait(fd, POLLIN, deadline_ns) == 0) {
        bool full = length + 1 == size;
        ssize_t count =
            full ? read(fd, rest, sizeof rest) : read(fd, text + length, size - 1 - length);

        if (count <= 0) {
            break;
        }
        length += full ? 0 : (size_t)count;
    }
    text[length] = '\0';
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

/* @return its exit status, its output is in `text`; -1 with errno and `err`. */
static int check_run(const struct spank_apapi_question *question, const char *path, char *text,
                     size_t size, struct apapi_error *err)
{
    uint64_t deadline_ns = deadline_now() + CHECK_LIMIT_NS;
    int output[2] = {-1, -1}, status = 0, code;
    pid_t pid = -1;

    if (pipe2(output, O_CLOEXEC)) {
        return apapi_fail(err, EIO, "no pipe: %s", strerror(errno));
    }
    code = check_spawn(question, path, output[1], &pid);
    close(output[1]);
    if (code == 0) {
        check_read(output[0], text, size, deadline_ns);
        code = check_wait(pid, &status, deadline_ns) ? errno : 0;
    }
    close(output[0]);
    if (code == ETIMEDOUT) {
        return apapi_fail(err, code, "%.120s did not answer within 2 s", path);
    }
    if (code) {
        return apapi_fail(err, EIO, "cannot start %.120s: %s", path, strerror(code));
    }
    return WIFEXITED(status)
               ? WEXITSTATUS(status)
               : apapi_fail(err, EIO, "%.120s was ended by signal %d", path, WTERMSIG(status));
}

int spank_apapi_check(const struct spank_apapi_question *question, char *answer, size_t size,
                      struct apapi_error *err)
{
    char path[PATH_MAX];
    int status;

    answer[0] = '\0';
    snprintf(path, sizeof path, "%s/apapi-sampler", question->libexec_dir);
    status = check_run(question, path, answer, size, err);
    if (status <= 0) {
        return status;
    }
    if (*answer == '\0') {
        return apapi_fail(err, EIO, "%.120s ended with status %d", path, status);
    }
    return apapi_fail(err, ENOENT, "%.*s", (int)strcspn(answer, "\n"), answer);
}
