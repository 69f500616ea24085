/* SPDX-License-Identifier: BSD-3-Clause */
#include "collect/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channel/deadline.h"

#define TOOL_LIMIT_NS (60000 * DEADLINE_MS) /* Slurm's own time-outs are shorter */
#define FAILED_TO_START (-1)
#define WORDS_MAX 24

static int tool_set_up(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes,
                       int output)
{
    sigset_t all, none;

    sigfillset(&all);
    sigemptyset(&none);
    posix_spawn_file_actions_init(actions);
    posix_spawnattr_init(attributes);
    posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(actions, output, STDERR_FILENO);
    posix_spawnattr_setsigdefault(attributes, &all);
    posix_spawnattr_setsigmask(attributes, &none);
    return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
}

/* @return 0; an errno. */
static int tool_spawn(struct tool *tool, const struct tool_place *place, char *const words[],
                      int output)
{
    static char path_variable[] = "PATH=/usr/local/bin:/usr/bin:/bin", lang_variable[] = "LANG=C";
    char path[PATH_MAX + 64], conf[PATH_MAX + sizeof "SLURM_CONF="];
    char *const environment[] = {path_variable, lang_variable, *place->slurm_conf ? conf : NULL,
                                 NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int code;

    snprintf(conf, sizeof conf, "SLURM_CONF=%s", place->slurm_conf);
    snprintf(path, sizeof path, "%s%s%s", place->folder, *place->folder ? "/" : "", words[0]);
    tool_set_up(&actions, &attributes, output);
    code = posix_spawnp(&tool->pid, path, &actions, &attributes, words, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

int tool_start(struct tool *tool, const struct tool_place *place, const char *const words[])
{
    char copies[WORDS_MAX][64], *arguments[WORDS_MAX + 1] = {NULL};
    int ends[2], code;

    for (size_t i = 0; i < WORDS_MAX && words[i]; i++) {
        snprintf(copies[i], sizeof copies[i], "%s", words[i]);
        arguments[i] = copies[i];
    }
    tool->length = 0;
    tool->output = -1;
    tool->deadline_ns = deadline_now() + TOOL_LIMIT_NS;
    code = pipe2(ends, O_CLOEXEC) ? errno : 0;
    if (code == 0) {
        code = tool_spawn(tool, place, arguments, ends[1]);
        close(ends[1]);
        tool->output = ends[0];
        fcntl(tool->output, F_SETFL, O_NONBLOCK);
    }
    if (code) {
        tool->pid = FAILED_TO_START;
        snprintf(tool->text, sizeof tool->text, "%s: %s", words[0], strerror(code));
    }
    return code ? -1 : 0;
}

static void tool_read(struct tool *tool)
{
    char rest[1024];
    ssize_t got = 1;

    while (got > 0) {
        bool full = tool->length + 1 == sizeof tool->text;

        got = full ? read(tool->output, rest, sizeof rest)
                   : read(tool->output, tool->text + tool->length,
                          sizeof tool->text - 1 - tool->length);
        tool->length += got > 0 && !full ? (size_t)got : 0;
    }
    tool->text[tool->length] = '\0';
}

static void tool_end(struct tool *tool)
{
    if (tool->output >= 0) {
        close(tool->output);
    }
    tool->output = -1;
    tool->pid = 0;
}

enum tool_state tool_look(struct tool *tool)
{
    int status = 0;
    pid_t ended;

    if (tool->pid == 0) {
        return TOOL_IDLE;
    }
    if (tool->pid == FAILED_TO_START) {
        tool_end(tool);
        return TOOL_FAILED;
    }
    if (deadline_now() > tool->deadline_ns) {
        kill(tool->pid, SIGKILL);
    }
    ended = waitpid(tool->pid, &status, WNOHANG);
    tool_read(tool);
    if (ended == 0 || (ended < 0 && errno == EINTR)) {
        return TOOL_RUNNING;
    }
    tool_end(tool);
    return ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? TOOL_DONE : TOOL_FAILED;
}
