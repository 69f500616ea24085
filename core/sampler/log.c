/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

static struct {
    pthread_mutex_t mutex;
    const char *path, *name;
    int fd; /* -1: not open */
    bool stream;
    size_t lost;
} state = {.mutex = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

void log_open(const char *path, const char *name)
{
    state.path = path;
    state.name = name;
}

static void disconnect(void)
{
    if (state.fd >= 0) {
        close(state.fd);
        state.fd = -1;
    }
}

static int connect_as(int type)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (strlen(state.path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address.sun_path, state.path);
    state.stream = type == SOCK_STREAM;
    state.fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (state.fd >= 0 &&
        connect(state.fd, (const struct sockaddr *)&address, sizeof address) == 0) {
        return 0;
    }
    disconnect();
    return -1;
}

/* Some logs listen on a stream socket. */
static int connect_once(void)
{
    if (state.fd >= 0 || connect_as(SOCK_DGRAM) == 0) {
        return 0;
    }
    return errno == EPROTOTYPE ? connect_as(SOCK_STREAM) : -1;
}

/* In a stream, a NUL ends the line. */
static int send_line(const char *line, size_t length)
{
    size_t size = length + state.stream;
    ssize_t sent = send(state.fd, line, size, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (sent == (ssize_t)size) {
        return 0;
    }
    if (sent >= 0 || (errno != EAGAIN && errno != EMSGSIZE)) {
        disconnect(); /* no listener any more, or half a line was sent */
    }
    return -1;
}

/* A restarted log has a new socket of the same name. */
static int sampler_log_deliver(const char *line, size_t length)
{
    if (connect_once()) {
        return -1;
    }
    if (send_line(line, length) == 0) {
        return 0;
    }
    return state.fd < 0 && connect_once() == 0 ? send_line(line, length) : -1;
}

static int sampler_log_put(int priority, const char *text)
{
    char moment[32], *line;
    time_t now = time(NULL);
    struct tm local;
    int length, result;

    localtime_r(&now, &local);
    strftime(moment, sizeof moment, "%b %e %H:%M:%S", &local);
    length = asprintf(&line, "<%d>%s %s[%d]: %s", LOG_DAEMON | priority, moment, state.name,
                      (int)getpid(), text);
    if (length < 0) {
        return -1;
    }
    result = sampler_log_deliver(line, (size_t)length);
    free(line);
    return result;
}

static void put_lost(void)
{
    char text[96];

    snprintf(text, sizeof text, "messages lost, as the log did not take them: %zu", state.lost);
    if (sampler_log_put(LOG_WARNING, text) == 0) {
        state.lost = 0;
    }
}

void log_write(int priority, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    int saved_errno = errno;
    bool whole;

    va_start(arguments, format);
    whole = vasprintf(&text, format, arguments) >= 0;
    va_end(arguments);
    pthread_mutex_lock(&state.mutex);
    if (!whole || sampler_log_put(priority, text)) {
        state.lost++;
    } else if (state.lost > 0) {
        put_lost();
    }
    pthread_mutex_unlock(&state.mutex);
    if (whole) {
        free(text);
    }
    errno = saved_errno;
}

size_t log_lost(void)
{
    size_t lost;

    pthread_mutex_lock(&state.mutex);
    lost = state.lost;
    pthread_mutex_unlock(&state.mutex);
    return lost;
}

void log_close(void)
{
    pthread_mutex_lock(&state.mutex);
    disconnect();
    pthread_mutex_unlock(&state.mutex);
}
