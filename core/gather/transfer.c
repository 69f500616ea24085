/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "channel/deadline.h"
#include "gather/transfer.h"

/* --- to one receiver ------------------------------------------------------------------------ */

#define FIRST_ROOM 8192

/* For an IPv4 address, also if it is mapped into IPv6. */
static void origin_v4(struct sender_origin *origin, const uint8_t address[4])
{
    origin->bytes[0] = AF_INET;
    memcpy(origin->bytes + 1, address, address[0] == IN_LOOPBACKNET ? 1 : 4);
}

static void origin_v6(struct sender_origin *origin, const struct in6_addr *address)
{
    if (IN6_IS_ADDR_V4MAPPED(address)) {
        origin_v4(origin, address->s6_addr + 12);
    } else if (IN6_IS_ADDR_LOOPBACK(address)) {
        origin_v4(origin, (const uint8_t[4]){IN_LOOPBACKNET});
    } else {
        origin->bytes[0] = AF_INET6;
        memcpy(origin->bytes + 1, address->s6_addr, 8);
    }
}

/* The user at the other end of a socket of this machine. @return false: it is not known. */
static bool find_user(int fd, uid_t *uid)
{
    struct ucred peer = {.uid = 0};
    socklen_t size = sizeof peer;
    bool known = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;

    *uid = peer.uid;
    return known;
}

struct sender_origin sender_find_origin(int fd, const struct sockaddr_storage *peer)
{
    struct sender_origin origin = {{0}};
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    uid_t uid;

    if (peer->ss_family == AF_INET) {
        memcpy(&v4, peer, sizeof v4);
        origin_v4(&origin, (const uint8_t *)&v4.sin_addr.s_addr);
    } else if (peer->ss_family == AF_INET6) {
        memcpy(&v6, peer, sizeof v6);
        origin_v6(&origin, &v6.sin6_addr);
    } else {
        origin.bytes[0] = AF_UNIX;
        if (find_user(fd, &uid)) {
            memcpy(origin.bytes + 1, &uid, sizeof uid);
        }
    }
    return origin;
}

/* Takes the same time for every wrong token. */
static bool same_token(const char *left, const char *right)
{
    unsigned difference = 0;

    for (size_t i = 0; i < APAPI_TOKEN_LENGTH; i++) {
        difference |= (unsigned char)left[i] ^ (unsigned char)right[i];
    }
    return difference == 0;
}

static enum sender_state read_token(struct sender *sender, const char *token)
{
    ssize_t got = recv(sender->fd, sender->token + sender->length,
                       APAPI_TOKEN_LENGTH - sender->length, MSG_DONTWAIT);

    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return SENDER_READING;
    }
    if (got <= 0) {
        return SENDER_FOREIGN;
    }
    sender->length += (size_t)got;
    if (sender->length < APAPI_TOKEN_LENGTH) {
        return SENDER_READING;
    }
    if (!same_token(sender->token, token)) {
        return SENDER_FOREIGN;
    }
    sender->trusted = true;
    sender->length = 0;
    return SENDER_READING;
}

/* Make room for one more byte and a NUL. */
static int sender_make_room(struct sender *sender, size_t most)
{
    size_t room = sender->room ? 2 * sender->room : FIRST_ROOM;
    char *bytes;

    if (sender->length + 1 < sender->room) {
        return 0;
    }
    if (room > most) {
        return -1;
    }
    bytes = realloc(sender->bytes, room);
    if (!bytes) {
        return -1;
    }
    sender->bytes = bytes;
    sender->room = room;
    return 0;
}

static enum sender_state read_bytes(struct sender *sender, size_t most)
{
    for (;;) {
        ssize_t got;

        if (sender_make_room(sender, most)) {
            return SENDER_LOST;
        }
        got = recv(sender->fd, sender->bytes + sender->length, sender->room - sender->length - 1,
                   MSG_DONTWAIT);
        if (got < 0) {
            return errno == EAGAIN || errno == EINTR ? SENDER_READING : SENDER_LOST;
        }
        if (got == 0) {
            return SENDER_DONE;
        }
        sender->length += (size_t)got;
    }
}

enum sender_state sender_read(struct sender *sender, const char *token, size_t most)
{
    enum sender_state state = sender->trusted ? SENDER_READING : read_token(sender, token);

    return sender->trusted ? read_bytes(sender, most) : state;
}

/* Cut off the next word; "" at the end of the line. */
static const char *sender_next_word(char **line)
{
    char *word = *line + strspn(*line, " ");
    char *end = word + strcspn(word, " ");

    *line = end + (*end != '\0');
    *end = '\0';
    return word;
}

int sender_parse(struct sender *sender, struct delivery *delivery)
{
    char *line = sender->bytes;
    char *line_end = line ? memchr(line, '\n', sender->length) : NULL;

    if (!line_end) {
        return -1;
    }
    sender->bytes[sender->length] = '\0';
    *line_end = '\0';
    delivery->payload = line_end + 1;
    delivery->size = sender->length - (size_t)(delivery->payload - sender->bytes);
    delivery->word = sender_next_word(&line);
    delivery->node = sender_next_word(&line);
    delivery->nodelist = sender_next_word(&line);
    return *delivery->node ? 0 : -1;
}

void sender_close(struct sender *sender)
{
    if (sender->fd >= 0) {
        close(sender->fd);
        sender->fd = -1;
    }
}

void sender_end(struct sender *sender)
{
    sender_close(sender);
    free(sender->bytes);
    *sender = (struct sender){.fd = -1};
}

/* --- on to others --------------------------------------------------------------------------- */

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
    uid_t uid;

    memcpy(address.sun_path + 1, forward->name, length);
    snprintf(line, sizeof line, "%s %s %s\n", forward->token, dispatch->word, dispatch->subject);
    if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) ||
        connect(fd, (const struct sockaddr *)&address,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length))) {
        return -1;
    }
    /* records are for root and the own user: no one else may listen under that name */
    if (!find_user(fd, &uid) || (uid != 0 && uid != getuid())) {
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

    if (fd >= 0) {
        close(fd);
    }
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
