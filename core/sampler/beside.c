/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/beside.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/files.h"

#define MOUNT "/sys/fs/cgroup"
#define CGROUP_TEXT_SIZE 8192
#define BESIDE "--beside"
#define PRINT "print"
#define EXECUTE "execute"
#define ENVIRONMENT_MAX (8 << 20)
#define TRIES 100 /* attempts: a user cannot read /proc/PID of a task before its exec */
#define LOOK_PAUSE_NS 20000000

/* --- control groups of jobs ------------------------------------------------------------------- */

int cgroup_above_job(const char *path, char *parent, size_t size)
{
    const char *job = strstr(path, "/job_");
    const char *user = strstr(path, "/uid_");
    size_t length;

    if (!job) {
        return -1;
    }
    length = (size_t)((user && user < job ? user : job) - path);
    if (length == 0) {
        path = "/";
        length = 1;
    }
    if (length >= size) {
        return -1;
    }
    memcpy(parent, path, length);
    parent[length] = '\0';
    return 0;
}

static bool cgroup_enter(const char *controllers, const char *path)
{
    char file[PATH_MAX], pid[16];
    int length = snprintf(file, sizeof file, MOUNT "/%s%s/cgroup.procs", controllers, path);
    int fd, digits;
    bool entered;

    if (length < 0 || (size_t)length >= sizeof file) {
        return false;
    }
    fd = open(file, O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    digits = snprintf(pid, sizeof pid, "%d", (int)getpid());
    entered = write(fd, pid, (size_t)digits) == digits;
    close(fd);
    return entered;
}

/* In the unified hierarchy only leaves hold processes. Slurm's own leaf is called system. */
static void leave_unified(const char *parent)
{
    char leaf[PATH_MAX];

    if (snprintf(leaf, sizeof leaf, "%s/system", parent) < (int)sizeof leaf &&
        !cgroup_enter("", leaf) && !cgroup_enter("", parent) && !cgroup_enter("unified", leaf)) {
        cgroup_enter("unified", parent);
    }
}

/* One line of /proc/PID/cgroup: "4:memory:/slurm/uid_0/job_7/step_0" or "0::/...". */
struct cgroup_line {
    char *controllers, *path; /* within the line */
};

static bool cgroup_split(char *line, struct cgroup_line *parts)
{
    parts->controllers = strchr(line, ':');
    parts->path = parts->controllers ? strchr(parts->controllers + 1, ':') : NULL;
    if (!parts->path) {
        return false;
    }
    *parts->path++ = '\0';
    parts->controllers++;
    if (strncmp(parts->controllers, "name=", strlen("name=")) == 0) {
        parts->controllers += strlen("name=");
    }
    return true;
}

static void cgroup_leave(const struct cgroup_line *line)
{
    char parent[PATH_MAX];

    if (cgroup_above_job(line->path, parent, sizeof parent)) {
        return;
    }
    if (*line->controllers == '\0') {
        leave_unified(parent);
    } else {
        cgroup_enter(line->controllers, parent);
    }
}

/* Enter a group of a job. Groups outside of a job belong to the machine. */
static void cgroup_follow(const struct cgroup_line *line)
{
    if (strstr(line->path, "/job_") && !cgroup_enter(line->controllers, line->path) &&
        *line->controllers == '\0') {
        cgroup_enter("unified", line->path);
    }
}

static void cgroup_each(const char *groups, void (*visit)(const struct cgroup_line *line))
{
    char text[CGROUP_TEXT_SIZE], *rest = text, *line;
    struct cgroup_line parts;

    snprintf(text, sizeof text, "%s", groups);
    while ((line = strsep(&rest, "\n"))) {
        if (cgroup_split(line, &parts)) {
            visit(&parts);
        }
    }
}

/* Read /proc/PID/cgroup. @return 0; -1: it cannot be read completely. */
static int cgroup_read(pid_t pid, char groups[CGROUP_TEXT_SIZE])
{
    size_t length = process_stat_text(pid, "cgroup", groups, CGROUP_TEXT_SIZE);

    return length > 0 && length < CGROUP_TEXT_SIZE - 1 ? 0 : -1;
}

void cgroup_leave_job(void)
{
    char own[CGROUP_TEXT_SIZE];

    if (cgroup_read(getpid(), own) == 0) {
        cgroup_each(own, cgroup_leave);
    }
}

static bool cgroup_has(const char *groups, const char *line, size_t length)
{
    size_t own;

    for (; *groups; groups += own + (groups[own] == '\n')) {
        own = strcspn(groups, "\n");
        if (own == length && strncmp(groups, line, length) == 0) {
            return true;
        }
    }
    return false;
}

int cgroup_join(const char *groups)
{
    char own[CGROUP_TEXT_SIZE];
    size_t length;

    cgroup_each(groups, cgroup_follow);
    if (cgroup_read(getpid(), own)) {
        return -1;
    }
    for (; *groups; groups += length + (groups[length] == '\n')) {
        const char *job = strstr(groups, "/job_");

        length = strcspn(groups, "\n");
        if (job && job < groups + length && !cgroup_has(own, groups, length)) {
            return -1;
        }
    }
    return 0;
}

/* --- beside a task ---------------------------------------------------------------------------- */

/* Before its exec, a task is a copy of slurmstepd, and may not be in all of its groups yet. */
static void beside_await_exec(pid_t pid)
{
    const struct timespec pause = {.tv_nsec = LOOK_PAUSE_NS};
    char name[32];

    for (int i = 0; i < TRIES && process_stat_text(pid, "comm", name, sizeof name) &&
                    strcmp(name, "slurmstepd\n") == 0;
         i++) {
        nanosleep(&pause, NULL);
    }
}

static rlim_t beside_limit(const char *text)
{
    return strcmp(text, "unlimited") == 0 ? RLIM_INFINITY : strtoull(text, NULL, 10);
}

/* The file has a heading, then a line for each limit by number: "Max open files  1024  4096". */
static int beside_read_limits(pid_t pid, struct rlimit limits[RLIM_NLIMITS])
{
    char text[4096], now[24], most[24];
    const char *line = text;

    process_stat_text(pid, "limits", text, sizeof text);
    for (int resource = 0; resource < RLIM_NLIMITS; resource++) {
        line = strchr(line, '\n');
        if (!line || sscanf(++line, "%*26c%23s %23s", now, most) != 2) {
            return -1;
        }
        limits[resource] = (struct rlimit){beside_limit(now), beside_limit(most)};
    }
    return 0;
}

int beside_enter(const struct process *task, struct rlimit limits[RLIM_NLIMITS])
{
    char groups[CGROUP_TEXT_SIZE];
    int nice;

    beside_await_exec(task->pid);
    errno = 0;
    nice = getpriority(PRIO_PROCESS, (id_t)task->pid);
    if (errno || cgroup_read(task->pid, groups) || beside_read_limits(task->pid, limits) ||
        !process_lives(task) || cgroup_join(groups)) {
        return -1;
    }
    /* a worse priority than the task's harms nobody */
    return setpriority(PRIO_PROCESS, 0, nice) == 0 || getpriority(PRIO_PROCESS, 0) >= nice ? 0 : -1;
}

static rlim_t smaller(rlim_t a, rlim_t b)
{
    return a < b ? a : b;
}

/* @return whether a low limit of the resource, which a user can set, stops Slurm's commands. */
static bool beside_needs(int resource)
{
    return resource == RLIMIT_AS || resource == RLIMIT_CPU || resource == RLIMIT_DATA ||
           resource == RLIMIT_FSIZE || resource == RLIMIT_NOFILE || resource == RLIMIT_NPROC ||
           resource == RLIMIT_STACK;
}

/* As far as our own limits allow. */
static int beside_set_limits(const struct rlimit limits[RLIM_NLIMITS], bool of_slurm)
{
    for (int resource = 0; resource < RLIM_NLIMITS; resource++) {
        struct rlimit limit;

        if (of_slurm && beside_needs(resource)) {
            continue;
        }
        if (getrlimit((__rlimit_resource_t)resource, &limit)) {
            return -1;
        }
        limit.rlim_max = smaller(limit.rlim_max, limits[resource].rlim_max);
        limit.rlim_cur = smaller(limit.rlim_max, limits[resource].rlim_cur);
        if (setrlimit((__rlimit_resource_t)resource, &limit)) {
            return -1;
        }
    }
    return 0;
}

void beside_become(const struct process *task, const struct job_launch *launch,
                   const struct rlimit limits[RLIM_NLIMITS])
{
    char program[] = "apapi-sampler", option[] = BESIDE, print[] = PRINT, execute[] = EXECUTE;
    char pid[16], started[24], *text = strdup(launch->text);
    char *const words[] = {program, option, pid, started, launch->prints ? print : execute,
                           text,    NULL};

    snprintf(pid, sizeof pid, "%d", (int)task->pid);
    snprintf(started, sizeof started, "%" PRIu64, task->started);
    if (text && beside_set_limits(limits, launch->of_slurm) == 0) {
        if (launch->of_slurm) {
            shell_become(text);
        }
        execve("/proc/self/exe", words, environ);
    }
    free(text);
}

bool beside_is_asked(int argc, char **argv)
{
    return argc == 6 && strcmp(argv[1], BESIDE) == 0;
}

/* @return the texts of /proc/PID/environ as a list; NULL: the file cannot be read. */
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

static int beside_execute(const struct process *task, const char *command)
{
    static char path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
    static char *nothing[] = {path, NULL};
    char **variables = environ, **environment = beside_environment(task->pid);

    environ = environment ? environment : nothing;
    beside_take_umask(task->pid);
    beside_take_place(task->pid);
    if (environment && !process_lives(task)) { /* the environment may be another process's */
        return JOB_NOT_DONE;
    }
    for (; *variables; variables++) {
        putenv(*variables);
    }
    shell_become(command);
    return 127;
}

/* @return false: the task does not append to the file, so the task or we would overwrite text. */
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

static int beside_print(const struct process *task, const char *line)
{
    const struct timespec pause = {.tv_nsec = LOOK_PAUSE_NS};
    char path[64];
    int fd = -1;

    snprintf(path, sizeof path, "/proc/%d/fd/2", (int)task->pid);
    for (int i = 0; i < TRIES && fd < 0; i++) {
        fd = beside_may_write(task->pid, path)
                 ? open(path, O_WRONLY | O_APPEND | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
                 : -1;
        if (fd < 0 && errno != EACCES) {
            return EXIT_FAILURE;
        }
        if (fd < 0) {
            nanosleep(&pause, NULL);
        }
    }
    return fd >= 0 && process_lives(task) && write_all(fd, line, strlen(line)) == 0 ? EXIT_SUCCESS
                                                                                    : EXIT_FAILURE;
}

int beside_run(char **argv)
{
    const struct process task = {
        .pid = (pid_t)strtol(argv[2], NULL, 10), .fd = -1, .started = strtoull(argv[3], NULL, 10)};

    if (task.pid <= 0) {
        return EXIT_FAILURE;
    }
    return strcmp(argv[4], PRINT) == 0 ? beside_print(&task, argv[5])
                                       : beside_execute(&task, argv[5]);
}
