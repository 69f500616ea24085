/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/userfiles.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files.h"
#include "base/text.h"
#include "channel/deadline.h"
#include "config/filename.h"
#include "record/record.h"

/* --- the user ------------------------------------------------------------------------------- */

static int user_parse_groups(const char *text, struct user *user)
{
    const char *rest = text;

    while (*rest && user->group_count < USER_GROUPS_MAX) {
        uint64_t group;
        const char *end = text_digits(rest, UINT32_MAX - 1, &group);

        if (!end || (*end != ',' && *end != '\0')) {
            return -1;
        }
        user->groups[user->group_count++] = (gid_t)group;
        rest = end + (*end == ',');
    }
    return *rest ? -1 : 0;
}

int user_parse(const struct step *step, struct user *user, struct apapi_error *err)
{
    char *end;
    unsigned long mask = strtoul(step->umask, &end, 8);

    *user = (struct user){.uid = step->id.uid, .gid = step->gid, .umask = 022};
    if (*step->umask && *end == '\0' && mask <= 0777) {
        user->umask = (mode_t)mask;
    }
    if (step->id.uid == APAPI_UNKNOWN || step->gid == APAPI_UNKNOWN ||
        user_parse_groups(step->groups, user)) {
        return apapi_fail(err, EINVAL, "the user and the groups of the step are not known");
    }
    return 0;
}

int user_become(const struct user *user)
{
    if (geteuid() == 0 && setgroups(user->group_count, user->groups)) {
        return -1;
    }
    if (setresgid(user->gid, user->gid, user->gid) || setresuid(user->uid, user->uid, user->uid)) {
        return -1;
    }
    if (user->uid != 0 && setuid(0) == 0) {
        errno = EPERM; /* still root */
        return -1;
    }
    umask(user->umask);
    return 0;
}

/* --- the process that is the user ----------------------------------------------------------- */

#define BUFFER_BYTES (1 << 20) /* data that waits for a slow file system */
#define SOCKET_FD 3            /* in the writer process */

/* --- in the writer process, which becomes the user --- */

/* Read the path, which ends with a NUL. @return size of the rest in `bytes`; -1: no path. */
static ssize_t writer_read_path(char path[PATH_MAX], char *bytes, size_t size)
{
    size_t length = 0;

    for (;;) {
        ssize_t got = TEMP_FAILURE_RETRY(read(SOCKET_FD, bytes, size));
        const char *end = got > 0 ? memchr(bytes, '\0', (size_t)got) : NULL;
        size_t part = end ? (size_t)(end - bytes) : (size_t)(got > 0 ? got : 0);

        if (got <= 0 || length + part >= PATH_MAX) {
            return -1;
        }
        memcpy(path + length, bytes, part);
        length += part;
        path[length] = '\0';
        if (end) {
            memmove(bytes, end + 1, (size_t)got - part - 1);
            return (ssize_t)((size_t)got - part - 1);
        }
    }
}

/* Copy until the end of the input. @return 0; an errno. */
static int copy_rest(int fd, char *bytes, size_t size, size_t first)
{
    ssize_t got = (ssize_t)first;

    do {
        if (write_all(fd, bytes, (size_t)got)) {
            return errno;
        }
        got = TEMP_FAILURE_RETRY(read(SOCKET_FD, bytes, size));
    } while (got > 0);
    return 0;
}

/* A FIFO without a reader is an error: the writer does not wait for one. */
static int write_file(const char *path, char *bytes, size_t size, size_t first)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_NONBLOCK | O_CLOEXEC, 0666);
    int code;

    if (fd < 0) {
        return errno;
    }
    code = copy_rest(fd, bytes, size, first);
    return close(fd) && code == 0 ? errno : code;
}

static void writer_answer(const char *path, int code)
{
    char text[sizeof((struct apapi_error *)0)->text];
    ssize_t sent;

    snprintf(text, sizeof text, "%.160s: %s", path, strerror(code));
    sent = send(SOCKET_FD, code ? text : "", code ? strlen(text) + 1 : 1, MSG_NOSIGNAL);
    (void)sent; /* the sampler may have ended */
}

static _Noreturn void process_run(int fd, const struct user *user)
{
    static char bytes[65536];
    char path[PATH_MAX] = "";
    ssize_t first;

    if ((fd != SOCKET_FD && dup2(fd, SOCKET_FD) < 0) || chdir("/")) {
        _exit(EXIT_FAILURE);
    }
    files_close_from(SOCKET_FD + 1);
    for (int own = 0; own < SOCKET_FD; own++) {
        close(own); /* so that /dev/stdout, which is no file of the user, is missing */
    }
    if (user_become(user) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) {
        writer_answer("the user's rights", errno);
        _exit(EXIT_FAILURE);
    }
    first = writer_read_path(path, bytes, sizeof bytes);
    if (first >= 0) {
        writer_answer(path, write_file(path, bytes, sizeof bytes, (size_t)first));
    }
    _exit(EXIT_SUCCESS);
}

/* --- in the sampler --- */

int writer_start(struct writer *writer, const struct user *user, struct apapi_error *err)
{
    int pair[2], size = BUFFER_BYTES;
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
        return apapi_fail(err, errno, "no socket: %s", strerror(errno));
    }
    setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    pid = fork();
    if (pid == 0) {
        process_run(pair[1], user);
    }
    folder_close(pair[1]);
    if (pid < 0) {
        folder_close(pair[0]);
        return apapi_fail(err, errno, "no process: %s", strerror(errno));
    }
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    *writer = (struct writer){.fd = pair[0], .pid = pid};
    return 0;
}

int writer_open(const struct writer *writer, const char *path, struct apapi_error *err)
{
    ssize_t sent = send(writer->fd, path, strlen(path) + 1, MSG_NOSIGNAL);

    return sent == (ssize_t)strlen(path) + 1
               ? 0
               : apapi_fail(err, sent < 0 ? errno : EIO, "%.160s: its process has ended", path);
}

int writer_put(const struct writer *writer, const char *text, size_t size, uint64_t deadline_ns)
{
    return deadline_send(writer->fd, text, size, deadline_ns);
}

void writer_abandon(struct writer *writer)
{
    if (writer->fd >= 0) {
        close(writer->fd);
        kill(writer->pid, SIGKILL); /* the process ends when its file system responds */
        waitpid(writer->pid, NULL, WNOHANG);
    }
    *writer = WRITER_NONE;
}

int writer_finish(struct writer *writer, uint64_t deadline_ns, struct apapi_error *err)
{
    struct apapi_error said = {""};
    ssize_t got = 0;
    bool ended;

    shutdown(writer->fd, SHUT_WR);
    ended = deadline_wait(writer->fd, POLLIN, deadline_ns) == 0;
    if (ended) {
        got = recv(writer->fd, said.text, sizeof said.text - 1, 0);
    }
    writer_abandon(writer);
    if (got <= 0) {
        return apapi_fail(err, ended ? EIO : ETIMEDOUT,
                          ended ? "its process was killed" : "its file system does not answer");
    }
    return *said.text ? apapi_fail(err, EIO, "%s", said.text) : 0;
}

/* --- files ---------------------------------------------------------------------------------- */

#define PATIENCE_NS (300 * DEADLINE_MS) /* for a file system */

/* @return where to write a failure; NULL: an earlier one is kept. */
static struct apapi_error *trouble_of(struct userfiles *files)
{
    return *files->trouble.text ? NULL : &files->trouble;
}

/* Called by the trace's own thread. */
static ssize_t put_rows(void *cookie, const char *bytes, size_t size)
{
    const struct writer *writer = cookie;

    return writer_put(writer, bytes, size, deadline_now() + PATIENCE_NS) ? 0 : (ssize_t)size;
}

void userfiles_prepare(struct userfiles *files, const struct step *step)
{
    static struct user user;

    if ((!*step->output && !*step->trace) || user_parse(step, &user, trouble_of(files))) {
        return;
    }
    if (*step->output) {
        writer_start(&files->report, &user, trouble_of(files));
    }
    if (*step->trace) {
        writer_start(&files->trace, &user, trouble_of(files));
    }
}

bool userfiles_have_writers(const struct userfiles *files)
{
    return files->report.fd >= 0 || files->trace.fd >= 0;
}

static int start_tracer(struct userfiles *files)
{
    const cookie_io_functions_t calls = {.write = put_rows};
    FILE *rows = fopencookie(&files->trace, "w", calls);

    if (!rows) {
        return apapi_fail(trouble_of(files), ENOMEM, "no memory");
    }
    files->tracer = trace_create(rows, files->trace_path, trouble_of(files));
    if (!files->tracer) {
        return -1;
    }
    trace_next_run(files->tracer);
    return 0;
}

void userfiles_start_trace(struct userfiles *files)
{
    if (files->trace.fd >= 0 && start_tracer(files)) {
        writer_abandon(&files->trace);
    }
}

/* Make the path of a file that the user has named by a pattern. @return 0; -1: see `trouble`. */
static int userfiles_path(struct userfiles *files, const struct step *step, const char *pattern,
                          char path[PATH_MAX])
{
    const struct apapi_identity *id = &step->id;
    char name[PATH_MAX], user[sizeof id->user];
    const struct filename_values values = {
        .job = id->job,
        .step = id->step,
        .array_job = id->array_job == APAPI_UNKNOWN ? id->job : id->array_job,
        .array_index = id->array_task == APAPI_UNKNOWN ? FILENAME_NO_ARRAY : id->array_task,
        .node = id->node,
        .node_index = id->node_index == APAPI_UNKNOWN ? 0 : id->node_index,
        .user = user,
        .name = id->job_name};

    snprintf(user, sizeof user, "%s", id->user);
    if (*user == '\0') {
        snprintf(user, sizeof user, "%" PRIu32, id->uid);
    }
    return filename_expand(pattern, &values, name, sizeof name, trouble_of(files)) ||
                   filename_absolute(files->folder, name, path, PATH_MAX, trouble_of(files))
               ? -1
               : 0;
}

void userfiles_begin(struct userfiles *files, const struct step *step, const char *folder)
{
    bool batch = strcmp(step->id.step, "batch") == 0;
    uint32_t nodes = known_greater(step->id.nodes, step->step_nodes);
    char unique[PATH_MAX];

    snprintf(files->folder, sizeof files->folder, "%s", folder);
    if (files->tracer && filename_trace(step->trace, nodes, batch, unique, sizeof unique) == 0 &&
        userfiles_path(files, step, unique, files->trace_path) == 0) {
        writer_open(&files->trace, files->trace_path, trouble_of(files));
    }
}

bool userfiles_report(struct userfiles *files, const struct step *step, const char *text)
{
    char path[PATH_MAX];

    if (*step->output == '\0' || files->report.fd < 0 ||
        userfiles_path(files, step, step->output, path)) {
        return false;
    }
    if (strcmp(path, files->trace_path) == 0) {
        apapi_fail(trouble_of(files), EEXIST, "%.160s is the file of the trace", path);
        return false;
    }
    if (writer_open(&files->report, path, trouble_of(files))) {
        return false;
    }
    writer_put(&files->report, text, strlen(text), deadline_now() + PATIENCE_NS);
    return writer_finish(&files->report, deadline_now() + PATIENCE_NS, trouble_of(files)) == 0;
}

void userfiles_end_trace(struct userfiles *files)
{
    struct apapi_error lost = {""};

    if (!files->tracer) {
        return;
    }
    trace_finish(files->tracer, &lost);
    files->tracer = NULL;
    /* ask the writer first: its own reason is better than what was noticed here */
    writer_finish(&files->trace, deadline_now() + PATIENCE_NS, trouble_of(files));
    if (*lost.text) {
        apapi_fail(trouble_of(files), EIO, "%s", lost.text);
    }
}

void userfiles_close(struct userfiles *files)
{
    userfiles_end_trace(files);
    writer_abandon(&files->report);
    writer_abandon(&files->trace);
}
