/* SPDX-License-Identifier: BSD-3-Clause */
#include "helpers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"
#include "channel/deadline.h"
#include "child.h"
#include "config/filename.h"

/* --- users' names --------------------------------------------------------------------------- */

#define NUMBER_SIZE 16

int spank_apapi_user_name(uid_t uid, char name[SPANK_APAPI_USER_SIZE])
{
    struct passwd entry, *found = NULL;
    char text[4096];

    name[0] = '\0';
    if (getpwuid_r(uid, &entry, text, sizeof text, &found) == 0 && found) {
        snprintf(name, SPANK_APAPI_USER_SIZE, "%s", found->pw_name);
    }
    return name[0] ? 0 : -1;
}

bool spank_apapi_look_here(void *unused, const char *variable, char *value, size_t size)
{
    const char *text = getenv(variable);

    (void)unused;
    return text && snprintf(value, size, "%s", text) < (int)size;
}

/* @return number of components of the job; 0: not heterogeneous. */
static unsigned long count_components(spank_apapi_look_f look, void *context)
{
    char job[NUMBER_SIZE], first[NUMBER_SIZE], count[NUMBER_SIZE];

    /* Variables that sbatch passed on from an enclosing job have another ID. */
    return look(context, "SLURM_JOB_ID", job, sizeof job) &&
                   look(context, "SLURM_JOB_ID_HET_GROUP_0", first, sizeof first) &&
                   strcmp(first, job) == 0 && look(context, "SLURM_HET_SIZE", count, sizeof count)
               ? strtoul(count, NULL, 10)
               : 0;
}

/* Write all names or none: a part of them would be taken for the whole. */
int spank_apapi_job_nodes(spank_apapi_look_f look, void *context, char *names, size_t size)
{
    unsigned long components = count_components(look, context);
    char variable[64] = "SLURM_JOB_NODELIST";
    size_t length = 0;

    for (unsigned long i = 0; i < components || i == 0; i++) {
        if (i > 0) {
            names[length++] = ','; /* replaces the NUL; there is room for it */
        }
        if (components > 0) {
            snprintf(variable, sizeof variable, "SLURM_JOB_NODELIST_HET_GROUP_%lu", i);
        }
        if (components > SPANK_APAPI_COMPONENTS_MAX ||
            !look(context, variable, names + length, size - length) || !names[length]) {
            names[0] = '\0';
            return -1;
        }
        length += strlen(names + length);
    }
    return 0;
}

static uint32_t environment_number(const char *variable, uint32_t standard)
{
    const char *text = getenv(variable), *end;
    uint64_t number;

    end = text ? text_digits(text, UINT32_MAX, &number) : NULL;
    return end && *end == '\0' ? (uint32_t)number : standard;
}

int spank_apapi_name(const char *pattern, const struct spank_apapi_naming *naming, char *name,
                     size_t size, struct apapi_error *err)
{
    const char *title = getenv("SLURM_JOB_NAME");
    char user[SPANK_APAPI_USER_SIZE] = "";
    const struct filename_values values = {
        .job = naming->job,
        .step = naming->step,
        .array_job = environment_number("SLURM_ARRAY_JOB_ID", naming->job),
        .array_index = environment_number("SLURM_ARRAY_TASK_ID", FILENAME_NO_ARRAY),
        .node = naming->node,
        .user = user,
        .name = title && strlen(title) <= NAME_MAX ? title : ""};

    if (filename_has(pattern, "u") && spank_apapi_user_name(naming->uid, user)) {
        snprintf(user, sizeof user, "%lu", (unsigned long)naming->uid);
    }
    return filename_expand(pattern, &values, name, size, err);
}

/* --- questions to apapi-sampler ------------------------------------------------------------- */

static struct message question_message;

/* Relative file names are relative to the folder. */
static void question_add_rules(void)
{
    static const char *const names[] = {"APAPI_EVENTLIST", "APAPI_EVENTOPS", "APAPI_CMPLIST",
                                        "APAPI_VERBOSE", PACKET_VARIABLE};
    char folder[PATH_MAX];

    message_add_pair(&question_message, "folder", getcwd(folder, sizeof folder));
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        message_add_pair(&question_message, names[i], getenv(names[i]));
    }
}

/* @return 0, the answer is in `question_message` and `text`; -1 with errno. */
static int question_send(const struct spank_apapi_question *question, int channel, char **text)
{
    uint64_t deadline_ns = deadline_now() + question->limit_ns;

    message_start(&question_message, APAPI_WORD_ASK);
    message_add_pair(&question_message, "about", question->about);
    message_add_pair(&question_message, "text", question->text);
    message_add_pair(&question_message, "config", question->config);
    if (question->rules) {
        question_add_rules();
    }
    return message_send(channel, &question_message, deadline_ns)
               ? -1
               : message_receive_text(channel, &question_message, text, deadline_ns);
}

int spank_apapi_ask(const struct spank_apapi_question *question, char *answer, size_t size,
                    struct apapi_error *err)
{
    const struct spank_apapi_program program = {
        .dir = question->libexec_dir, .name = "apapi-sampler", .listener = -1};
    struct spank_apapi_child child = SPANK_APAPI_CHILD_NONE;
    char *text = NULL;
    int code = 0;

    answer[0] = '\0';
    if (spank_apapi_child_start(&child, &program, err)) {
        errno = EIO;
        return -1;
    }
    if (question_send(question, child.channel, &text)) {
        code = errno;
        spank_apapi_child_kill(&child);
    }
    spank_apapi_child_close(&child);
    if (code) {
        return code == ETIMEDOUT
                   ? apapi_fail(err, code, "%.120s/apapi-sampler did not answer within %g s",
                                question->libexec_dir, (double)question->limit_ns / 1e9)
                   : apapi_fail(err, EIO, "%.120s/apapi-sampler ended without an answer",
                                question->libexec_dir);
    }
    snprintf(answer, size, "%s", text);
    free(text);
    if (message_is(&question_message, APAPI_WORD_ANSWER)) {
        return 0;
    }
    /* a sampler of another version may not know the question */
    return apapi_fail(err, message_is(&question_message, APAPI_WORD_REFUSED) ? ENOENT : EIO, "%.*s",
                      (int)strcspn(answer, "\n"), answer);
}

/* --- a helper's output ---------------------------------------------------------------------- */

/* A way to write that never blocks, where poll() cannot promise that. */
struct output_way {
    int fd;
    size_t piece; /* bytes that write() accepts without blocking after poll() */
    bool socket;
};

/*
 * Another process may fill a pipe between poll() and write(). The descriptor's flags belong to the
 * user, so pipes and terminals are opened again.
 */
static struct output_way output_begin(int fd)
{
    struct stat status = {.st_mode = 0};
    bool known = fstat(fd, &status) == 0, pipe = known && S_ISFIFO(status.st_mode);
    struct output_way way = {.fd = -1,
                             .piece = pipe ? PIPE_BUF : SSIZE_MAX,
                             .socket = known && S_ISSOCK(status.st_mode)};
    char path[32];

    if (pipe || isatty(fd)) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        way.fd =
            spank_apapi_child_keep_away(open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    }
    return way;
}

/* @return 0; an errno. */
static int output_loop(int fd, const char *text, uint64_t deadline_ns)
{
    const struct output_way way = output_begin(fd);
    size_t left = strlen(text);
    int code = 0;

    while (left > 0 && code == 0) {
        size_t size = left < way.piece ? left : way.piece;
        ssize_t written;

        if (deadline_wait(fd, POLLOUT, deadline_ns)) {
            code = errno;
            break;
        }
        written = way.socket ? send(fd, text, size, MSG_DONTWAIT | MSG_NOSIGNAL)
                             : write(way.fd >= 0 ? way.fd : fd, text, size);
        if (written >= 0) {
            text += written;
            left -= (size_t)written;
        } else if (errno != EINTR && errno != EAGAIN) {
            code = errno;
        } else if (deadline_now() >= deadline_ns) {
            code = ETIMEDOUT;
        }
    }
    if (way.fd >= 0) {
        close(way.fd);
    }
    return code;
}

int spank_apapi_output_write(int fd, const char *text, uint64_t deadline_ns)
{
    static const int numbers[] = {SIGPIPE, SIGXFSZ};
    const struct timespec at_once = {0};
    sigset_t raised, before, pending;
    int code;

    sigemptyset(&raised);
    sigpending(&pending); /* pending signals are not ours to take */
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (sigismember(&pending, numbers[i]) == 0) {
            sigaddset(&raised, numbers[i]);
        }
    }
    pthread_sigmask(SIG_BLOCK, &raised, &before);
    code = output_loop(fd, text, deadline_ns);
    while (sigtimedwait(&raised, NULL, &at_once) > 0 || errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = code;
    return code ? -1 : 0;
}

/* --- a socket for records ------------------------------------------------------------------- */

#define LISTEN_BACKLOG 4096 /* nodes that report at the same moment */
#define RENDEZVOUS_BACKLOG 256

int spank_apapi_token(char token[APAPI_TOKEN_LENGTH + 1])
{
    unsigned char random[APAPI_TOKEN_LENGTH / 2];

    if (getrandom(random, sizeof random, 0) != sizeof random) {
        return -1;
    }
    for (size_t i = 0; i < sizeof random; i++) {
        snprintf(token + 2 * i, 3, "%02x", random[i]);
    }
    return 0;
}

/* Listen at all addresses. A sockaddr_in has family and port at the same offsets as here. */
static int listen_begin(int fd, sa_family_t family, uint16_t port)
{
    static const int yes = 1, no = 0;
    const struct sockaddr_in6 address = {.sin6_family = family, .sin6_port = htons(port)};
    socklen_t size = family == AF_INET6 ? sizeof address : sizeof(struct sockaddr_in);

    if (family == AF_INET6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no)) {
        return -1;
    }
    /* a port can be used again although old connections are in TIME_WAIT */
    if (port && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes)) {
        return -1;
    }
    return bind(fd, (const struct sockaddr *)&address, size) || listen(fd, LISTEN_BACKLOG) ? -1 : 0;
}

/* @return descriptor; -1 with errno. */
static int listen_at(sa_family_t family, uint16_t port)
{
    int fd = spank_apapi_child_keep_away(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));

    if (fd >= 0 && listen_begin(fd, family, port)) {
        int code = errno;

        close(fd);
        errno = code;
        return -1;
    }
    return fd;
}

/* Listen on IPv6 if it is available; the socket accepts IPv4, too. */
static int listen_at_any(uint16_t port)
{
    int fd = listen_at(AF_INET6, port);

    return fd >= 0 || errno == EADDRINUSE ? fd : listen_at(AF_INET, port);
}

/* Start at a random port: then sruns that start together do not all try the same ports. */
static int listen_in_range(uint16_t first, uint16_t last)
{
    uint32_t count = (uint32_t)last - first + 1, start = 0;
    int fd = -1;

    if (getrandom(&start, sizeof start, GRND_NONBLOCK) != sizeof start) {
        start = (uint32_t)getpid();
    }
    errno = EADDRINUSE;
    for (uint32_t i = 0; i < count && fd < 0 && (errno == EADDRINUSE || errno == EACCES); i++) {
        fd = listen_at_any((uint16_t)(first + (start % count + i) % count));
    }
    return fd;
}

int spank_apapi_listen(uint16_t first, uint16_t last, uint16_t *port, struct apapi_error *err)
{
    bool any = first == 0 && last == 0;
    int fd = any ? listen_at_any(0) : listen_in_range(first, last);
    struct sockaddr_in6 address = {.sin6_port = 0};
    socklen_t size = sizeof address;
    int code;

    if (fd >= 0 && getsockname(fd, (struct sockaddr *)&address, &size) == 0) {
        *port = ntohs(address.sin6_port);
        return fd;
    }
    code = errno;
    if (fd >= 0) {
        close(fd);
    }
    return any ? apapi_fail(err, code, "cannot listen: %s", strerror(code))
               : apapi_fail(err, code, "no port of SrunPortRange=%d-%d can be opened: %s", first,
                            last, strerror(code));
}

/* The kernel chooses a free abstract name, which starts with a NUL. No file is left behind. */
static int rendezvous_bind(int fd, char *name, size_t size)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t length = sizeof address.sun_family;
    const size_t before = offsetof(struct sockaddr_un, sun_path) + 1;

    if (bind(fd, (const struct sockaddr *)&address, length) || listen(fd, RENDEZVOUS_BACKLOG)) {
        return -1;
    }
    length = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &length)) {
        return -1;
    }
    snprintf(name, size, "%.*s", length > before ? (int)(length - before) : 0,
             address.sun_path + 1);
    return 0;
}

int rendezvous_open(struct spank_apapi_rendezvous *rendezvous)
{
    struct spank_apapi_rendezvous made;
    char name[16];

    made.listener = spank_apapi_child_keep_away(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (made.listener < 0 || rendezvous_bind(made.listener, name, sizeof name) ||
        spank_apapi_token(made.token)) {
        int code = errno;

        rendezvous_close(&made);
        errno = code;
        return -1;
    }
    snprintf(made.where, sizeof made.where, "%s:%s", name, made.token);
    *rendezvous = made;
    return 0;
}

void rendezvous_close(struct spank_apapi_rendezvous *rendezvous)
{
    if (rendezvous->listener >= 0) {
        close(rendezvous->listener);
        rendezvous->listener = -1;
    }
}
