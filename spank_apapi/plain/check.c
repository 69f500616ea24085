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

#include "base/count_of.h"
#include "channel/deadline.h"
#include "channel/packet.h"
#include "overflow.h"

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

/* One call of apapi-sampler to check something. */
struct check_call {
    char path[PATH_MAX];
    char *const *words;       /* as for execve() */
    char *const *environment; /* the same */
};

/* Run it with standard output in `output`. @return 0 or an errno. */
static int check_spawn(const struct check_call *call, int output, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int code;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    check_attributes(&attributes);
    code = posix_spawn(pid, call->path, &actions, &attributes, call->words, call->environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

/* Read up to the end of file; drop what does not fit. @return 0; -1 with errno. */
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

/* Run it. @return its exit status, its output is in `text`; -1 with errno and `err`. */
static int check_call(const struct check_call *call, char *text, size_t size,
                      struct apapi_error *err)
{
    uint64_t deadline_ns = deadline_now() + CHECK_LIMIT_NS;
    int output[2] = {-1, -1}, status = 0, code;
    pid_t pid = -1;

    text[0] = '\0';
    if (pipe2(output, O_CLOEXEC)) {
        return apapi_fail(err, EIO, "no pipe: %s", strerror(errno));
    }
    code = check_spawn(call, output[1], &pid);
    close(output[1]);
    if (code == 0) {
        check_read(output[0], text, size, deadline_ns);
        code = check_wait(pid, &status, deadline_ns) ? errno : 0;
    }
    close(output[0]);
    if (code == ETIMEDOUT) {
        return apapi_fail(err, code, "%.120s did not answer within 2 s", call->path);
    }
    if (code) {
        return apapi_fail(err, EIO, "cannot start %.120s: %s", call->path, strerror(code));
    }
    return WIFEXITED(status) ? WEXITSTATUS(status)
                             : apapi_fail(err, EIO, "%.120s was ended by signal %d", call->path,
                                          WTERMSIG(status));
}

/* @return 0; -1: refused, or no answer. */
static int check_verdict(const struct check_call *call, int status, const char *text,
                         struct apapi_error *err)
{
    if (status <= 0) {
        return status;
    }
    if (*text == '\0') {
        return apapi_fail(err, EIO, "%.120s ended with status %d", call->path, status);
    }
    return apapi_fail(err, ENOENT, "%.*s", (int)strcspn(text, "\n"), text);
}

static char path_variable[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin", lang_variable[] = "LANG=C";
static char name[] = "apapi-sampler";

/* Where the sampler's output goes. */
struct check_answer {
    char *text;
    size_t size;
};

static int check_argument(const char *libexec_dir, char *option, const char *argument,
                          struct check_answer answer, struct apapi_error *err)
{
    static char copy[OVERFLOW_LINES_SIZE];
    char *const words[] = {name, option, copy, NULL};
    char *const environment[] = {path_variable, lang_variable, NULL};
    struct check_call call = {.words = words, .environment = environment};

    snprintf(call.path, sizeof call.path, "%s/apapi-sampler", libexec_dir);
    snprintf(copy, sizeof copy, "%s", argument);
    return check_verdict(&call, check_call(&call, answer.text, answer.size, err), answer.text, err);
}

int spank_apapi_check_components(const char *libexec_dir, const char *components,
                                 struct apapi_error *err)
{
    static char option[] = "--check";
    char text[sizeof err->text] = "";

    return check_argument(libexec_dir, option, components, (struct check_answer){text, sizeof text},
                          err);
}

int spank_apapi_check_folder(const char *libexec_dir, const char *folder, struct apapi_error *err)
{
    static char option[] = "--folders";
    char text[sizeof err->text] = "";

    return check_argument(libexec_dir, option, folder, (struct check_answer){text, sizeof text},
                          err);
}

int spank_apapi_check_budget(const char *libexec_dir, const char *budget, const char *config,
                             struct apapi_error *err)
{
    static char option[] = "--budget";
    char text[sizeof err->text], copy[PATH_MAX], path[PATH_MAX];
    char *const words[] = {name, option, copy, path, NULL};
    char *const environment[] = {path_variable, lang_variable, NULL};
    struct check_call call = {.words = words, .environment = environment};
    int status;

    snprintf(call.path, sizeof call.path, "%s/apapi-sampler", libexec_dir);
    snprintf(copy, sizeof copy, "%s", budget);
    snprintf(path, sizeof path, "%s", config);
    status = check_call(&call, text, sizeof text, err);
    if (status <= 0 || !strchr(text, '\n')) {
        return check_verdict(&call, status, text, err);
    }
    *strrchr(text, '\n') = '\0'; /* a caret has lines of its own */
    return apapi_fail(err, ENOENT, "%s", text);
}

int spank_apapi_check_thresholds(const char *libexec_dir, const char *lines,
                                 char text[SPANK_APAPI_CHECK_SIZE], struct apapi_error *err)
{
    static char option[] = "--overflow";

    return check_argument(libexec_dir, option, lines,
                          (struct check_answer){text, SPANK_APAPI_CHECK_SIZE}, err);
}

static const char rules_variable[] = PACKET_VARIABLE "=";

/* Pass on the user's variables for events. */
static size_t check_pass_on(char *environment[], size_t room)
{
    size_t count = 0;

    for (char **variable = environ; *variable && count < room; variable++) {
        static const char *const names[] = {"APAPI_EVENTLIST=", "APAPI_EVENTOPS=", "APAPI_CMPLIST=",
                                            "APAPI_VERBOSE=", rules_variable};

        for (size_t i = 0; i < COUNT_OF(names); i++) {
            if (strncmp(*variable, names[i], strlen(names[i])) == 0) {
                environment[count++] = *variable;
                break;
            }
        }
    }
    return count;
}

int spank_apapi_check_rules(const char *libexec_dir, char packet[PACKET_MAX],
                            struct apapi_error *err)
{
    static char option[] = "--pack";
    char *const words[] = {name, option, NULL};
    char *environment[10] = {path_variable, lang_variable};
    struct check_call call = {.words = words, .environment = environment};
    size_t count = 2 + check_pass_on(environment + 2, 7);

    environment[count] = NULL;
    snprintf(call.path, sizeof call.path, "%s/apapi-sampler", libexec_dir);
    return check_verdict(&call, check_call(&call, packet, PACKET_MAX, err), packet, err);
}
