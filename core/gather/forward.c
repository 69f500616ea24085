/* SPDX-License-Identifier: BSD-3-Clause */
#include "gather/forward.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/files.h"
#include "channel/deadline.h"

#define PATIENCE_US 300000 /* for one connection */

void forward_open(struct forward *forward, const char *where)
{
    const char *colon = where ? strrchr(where, ':') : NULL;

    forward->length = 0;
    forward->name[0] = forward->step[0] = '\0';
    if (!colon || colon == where || (size_t)(colon - where) >= sizeof forward->name ||
        strlen(colon + 1) != APAPI_TOKEN_LENGTH) {
        return;
    }
    snprintf(forward->name, sizeof forward->name, "%.*s", (int)(colon - where), where);
    snprintf(forward->token, sizeof forward->token, "%s", colon + 1);
}

/* The data of one connection. */
struct dispatch {
    const char *word;
    const char *subject; /* the step; "-": none */
    const char *bytes;
    size_t size;
};

static int forward_deliver(int fd, const struct forward *forward, const struct dispatch *dispatch)
{
    const struct timeval patience = {.tv_usec = PATIENCE_US};
    struct sockaddr_un address = {.sun_family =
                                      AF_UNIX}; /* starts with a NUL: an abstract address */
    size_t length = strlen(forward->name);
    char line[APAPI_TOKEN_LENGTH + 96];
    uint64_t deadline_ns;
    struct ucred peer;
    socklen_t size = sizeof peer;

    memcpy(address.sun_path + 1, forward->name, length);
    snprintf(line, sizeof line, "%s %s %s\n", forward->token, dispatch->word, dispatch->subject);
    if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) ||
        connect(fd, (const struct sockaddr *)&address,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length))) {
        return -1;
    }
    /* only root and this user may read the records: refuse a listener of another user */
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) ||
        (peer.uid != 0 && peer.uid != getuid())) {
        return -1;
    }
    deadline_ns = deadline_now() + PATIENCE_US * (DEADLINE_MS / 1000);
    return deadline_send(fd, line, strlen(line), deadline_ns) ||
                   deadline_send(fd, dispatch->bytes, dispatch->size, deadline_ns)
               ? -1
               : 0;
}

static int forward_pass_on(const struct forward *forward, const struct dispatch *dispatch)
{
    int fd = forward_is_open(forward) ? socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;
    int result = fd < 0 ? -1 : forward_deliver(fd, forward, dispatch);

    folder_close(fd);
    return result;
}

static void pass_on_records(struct forward *forward, const char *bytes, size_t size)
{
    const struct dispatch records = {APAPI_WORD_RECORDS, "-", bytes, size};

    if (forward_pass_on(forward, &records)) {
        forward->name[0] = '\0';
    }
}

void forward_begin(struct forward *forward, const char *step)
{
    const struct dispatch running = {APAPI_WORD_RUNNING, step, "", 0};

    if (*step && strlen(step) < sizeof forward->step && forward_pass_on(forward, &running) == 0) {
        strcpy(forward->step, step);
    }
}

void forward_end(struct forward *forward)
{
    const struct dispatch ended = {APAPI_WORD_ENDED, forward->step, "", 0};

    forward_flush(forward);
    if (*forward->step) {
        forward_pass_on(forward, &ended);
        forward->step[0] = '\0';
    }
}

void forward_totals(const struct forward *forward, const char *lines, size_t size)
{
    const struct dispatch totals = {APAPI_WORD_TOTALS, forward->step, lines, size};

    if (*forward->step) {
        forward_pass_on(forward, &totals);
    }
}

void forward_flush(struct forward *forward)
{
    if (forward_is_open(forward) && forward->length > 0) {
        pass_on_records(forward, forward->bytes, forward->length);
    }
    forward->length = 0;
}

void forward_record(struct forward *forward, const char *line, size_t size)
{
    if (size + 1 > sizeof forward->bytes - forward->length) {
        forward_flush(forward);
    }
    if (!forward_is_open(forward)) {
        return;
    }
    if (size + 1 > sizeof forward->bytes) {
        pass_on_records(forward, line, size);
        return;
    }
    memcpy(forward->bytes + forward->length, line, size);
    forward->bytes[forward->length + size] = '\n';
    forward->length += size + 1;
}
