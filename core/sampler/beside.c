/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/beside.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "action/process_stat.h"
#include "action/shell.h"
#include "base/write_all.h"

#define BESIDE "--beside"
#define PRINT "print"
#define EXECUTE "execute"
#define ENVIRONMENT_MAX (8 << 20)
#define TRIES 100 /* a task that has not called exec yet cannot be looked at by its user */
#define LOOK_PAUSE_NS 20000000

void beside_become(const struct job_launch *launch)
{
    char program[] = "apapi-sampler", option[] = BESIDE, print[] = PRINT, execute[] = EXECUTE;
    char pid[16], *text = strdup(launch->text);
    char *const words[] = {program, option, pid, launch->prints ? print : execute, text, NULL};

    snprintf(pid, sizeof pid, "%d", (int)launch->task);
    execve("/proc/self/exe", words, launch->variables);
}

bool beside_is_asked(int argc, char **argv)
{
    return argc == 5 && strcmp(argv[1], BESIDE) == 0;
}

/* The texts of /proc/PID/environ as a list. @return NULL: it cannot be read. */
static char **beside_environment(pid_t pid)
{
    const struct timespec pause = {.tv_nsec = LOOK_PAUSE_NS};
    char *bytes = malloc(ENVIRONMENT_MAX), **list;
    size_t length = 0, count = 1;

    for (int i = 0; bytes && i < TRIES && length == 0; i++) {
        length = process_stat_text(pid, "environ", bytes, ENVIRONMENT_MAX);
        if (length == 0) {
            nanosleep(&pause, NULL);
        }
    }
    for (size_t i = 0; i < length; i++) {
        count += bytes[i] == '\0';
    }
    list = length > 0 ? calloc(count + 1, sizeof *list) : NULL;
    if (!list) {
        free(bytes);
        return NULL;
    }
    for (size_t i = 0, at = 0; at < length; at += strlen(bytes + at) + 1) {
        list[i++] = bytes + at;
    }
    return list;
}

/* Only lower limits can be set; the others are as high already. */
static void beside_take_limits(pid_t pid)
{
    struct rlimit limit;

    for (int resource = 0; resource < RLIM_NLIMITS; resource++) {
        if (prlimit(pid, (enum __rlimit_resource)resource, NULL, &limit) == 0) {
            setrlimit((__rlimit_resource_t)resource, &limit);
        }
    }
}

static void beside_take_umask(pid_t pid)
{
    char text[4096];
    const char *line =
        process_stat_text(pid, "status", text, sizeof text) ? strstr(text, "\nUmask:") : NULL;

    if (line) {
        umask((mode_t)strtoul(line + strlen("\nUmask:"), NULL, 8) & 0777);
    }
}

static void beside_take_place(pid_t pid)
{
    cpu_set_t cpus;
    char path[64];

    if (sched_getaffinity(pid, sizeof cpus, &cpus) == 0) {
        sched_setaffinity(0, sizeof cpus, &cpus);
    }
    snprintf(path, sizeof path, "/proc/%d/cwd", (int)pid);
    if (chdir(path) && chdir("/")) {
        _exit(EXIT_FAILURE);
    }
}

static int beside_execute(pid_t pid, const char *command)
{
    static char path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
    static char *nothing[] = {path, NULL};
    char **variables = environ, **environment = beside_environment(pid);

    environ = environment ? environment : nothing;
    beside_take_umask(pid);
    beside_take_place(pid);
    beside_take_limits(pid);
    shell_become(command, variables);
    return 127;
}

/* A file that the task does not append to would be overwritten: by us, or by it. */
static bool beside_may_write(pid_t pid, const char *path)
{
    char text[1024];
    struct stat status;
    const char *flags;

    if (stat(path, &status) || !S_ISREG(status.st_mode)) {
        return true;
    }
    flags = process_stat_text(pid, "fdinfo/2", text, sizeof text) ? strstr(text, "flags:") : NULL;
    return flags && (strtoul(flags + strlen("flags:"), NULL, 8) & O_APPEND);
}

static int beside_print(pid_t pid, const char *line)
{
    const struct timespec pause = {.tv_nsec = LOOK_PAUSE_NS};
    char path[64];
    int fd = -1;

    snprintf(path, sizeof path, "/proc/%d/fd/2", (int)pid);
    for (int i = 0; i < TRIES && fd < 0; i++) {
        fd = beside_may_write(pid, path)
                 ? open(path, O_WRONLY | O_APPEND | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
                 : -1;
        if (fd < 0 && errno != EACCES) {
            return EXIT_FAILURE;
        }
        if (fd < 0) {
            nanosleep(&pause, NULL);
        }
    }
    return fd >= 0 && write_all(fd, line, strlen(line)) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int beside_run(char **argv)
{
    pid_t pid = (pid_t)strtol(argv[2], NULL, 10);

    if (pid <= 0) {
        return EXIT_FAILURE;
    }
    return strcmp(argv[3], PRINT) == 0 ? beside_print(pid, argv[4]) : beside_execute(pid, argv[4]);
}
