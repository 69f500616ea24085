/* SPDX-License-Identifier: BSD-3-Clause */
#include "gather/receiver.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/files.h"
#include "channel/deadline.h"

/* --- senders -------------------------------------------------------------------------------- */

#define FIRST_ROOM 8192

enum sender_state {
    SENDER_READING,
    SENDER_DONE,    /* everything has arrived */
    SENDER_LOST,    /* the connection broke, or the message is too long, after the token */
    SENDER_FOREIGN, /* no valid token */
};

/* Set the origin of an IPv4 address, which may have been mapped into IPv6. */
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

struct sender_origin sender_find_origin(int fd, const struct sockaddr_storage *peer)
{
    struct sender_origin origin = {{0}};
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct ucred user;
    socklen_t size = sizeof user;

    if (peer->ss_family == AF_INET) {
        memcpy(&v4, peer, sizeof v4);
        origin_v4(&origin, (const uint8_t *)&v4.sin_addr.s_addr);
    } else if (peer->ss_family == AF_INET6) {
        memcpy(&v6, peer, sizeof v6);
        origin_v6(&origin, &v6.sin6_addr);
    } else {
        origin.bytes[0] = AF_UNIX;
        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &user, &size) == 0) {
            memcpy(origin.bytes + 1, &user.uid, sizeof user.uid);
        }
    }
    return origin;
}

/* Compare all bytes, so that every wrong token takes the same time. */
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

/* Read what has arrived. Never blocks. @param most  bytes that the sender may have in memory */
static enum sender_state sender_read(struct sender *sender, const char *token, size_t most)
{
    enum sender_state state = sender->trusted ? SENDER_READING : read_token(sender, token);

    return sender->trusted ? read_bytes(sender, most) : state;
}

/* Cut off the next word of the line. @return the word; "": the line has ended */
static const char *sender_next_word(char **line)
{
    char *word = *line + strspn(*line, " ");
    char *end = word + strcspn(word, " ");

    *line = end + (*end != '\0');
    *end = '\0';
    return word;
}

/* Split what a trusted sender has sent so far. @return -1: no first line, or malformed */
static int sender_parse(struct sender *sender, struct delivery *delivery)
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

/* Close the connection. Its message stays in memory until sender_end(). */
static void sender_close(struct sender *sender)
{
    folder_close(sender->fd);
    sender->fd = -1;
}

static void sender_end(struct sender *sender)
{
    sender_close(sender);
    free(sender->bytes);
    *sender = (struct sender){.fd = -1};
}

/* --- the receiver ---------------------------------------------------------------------------- */

#define TRUSTED_PATIENCE_NS (5000 * DEADLINE_MS)
#define ORIGIN_MAX 32                            /* connections from one origin without the token */
#define FOREIGN_PATIENCE_NS (2000 * DEADLINE_MS) /* wait for the token: senders send it at once */
#define CROWDED_PATIENCE_NS (50 * DEADLINE_MS)   /* longest wait for a token while others wait */
#define PATIENCE_MS 500
#define CROWDED_MS 10
#define ACCEPTED_MAX 256 /* most connections accepted in a row before the plugin is served */
#define LISTENER_MARK RECEIVER_SENDERS

int receiver_open(struct receiver *receiver, int listener)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = LISTENER_MARK};
    int flags = fcntl(listener, F_GETFL);

    for (size_t i = 0; i < RECEIVER_SENDERS; i++) {
        receiver->senders[i].fd = -1;
        receiver->free[receiver->free_count++] = i;
    }
    receiver->listener = listener;
    receiver->listening = true;
    receiver->poll = epoll_create1(EPOLL_CLOEXEC);
    return receiver->poll < 0 || flags < 0 || fcntl(listener, F_SETFL, flags | O_NONBLOCK) ||
                   epoll_ctl(receiver->poll, EPOLL_CTL_ADD, listener, &event)
               ? -1
               : 0;
}

static void release(struct receiver *receiver, struct sender *sender)
{
    sender_end(sender); /* closing the only descriptor also removes it from the poll set */
    receiver->free[receiver->free_count++] = (size_t)(sender - receiver->senders);
}

/* @param whole  whether the sender has sent everything */
static void receiver_finish(struct receiver *receiver, struct sender *sender, bool whole)
{
    struct delivery delivery = {.whole = whole, .fd = -1};

    if (!sender->trusted) {
        receiver->refused.foreign++;
    } else if (sender_parse(sender, &delivery)) {
        receiver->refused.damaged++;
    } else {
        if (whole && strcmp(delivery.word, APAPI_WORD_TOTAL) == 0) {
            delivery.fd = sender->fd; /* take() may keep a duplicate of the descriptor */
            epoll_ctl(receiver->poll, EPOLL_CTL_DEL, sender->fd, NULL);
        } else {
            sender_close(sender); /* before take() works: the node's step waits for the close */
        }
        receiver->take(receiver->context, &delivery);
    }
    release(receiver, sender);
}

/* @return the most bytes that one sender may have in memory beside the others. */
static size_t receiver_room(const struct receiver *receiver, const struct sender *sender)
{
    size_t others = 0;

    for (size_t i = 0; i < RECEIVER_SENDERS && receiver->most_bytes > 0; i++) {
        others += &receiver->senders[i] == sender ? 0 : receiver->senders[i].room;
    }
    if (receiver->most_bytes == 0 || others + APAPI_PAYLOAD_MAX <= receiver->most_bytes) {
        return APAPI_PAYLOAD_MAX;
    }
    return receiver->most_bytes > others ? receiver->most_bytes - others : 0;
}

static void read_sender(struct receiver *receiver, struct sender *sender)
{
    enum sender_state state = sender_read(sender, receiver->token, receiver_room(receiver, sender));

    if (state != SENDER_READING) {
        receiver_finish(receiver, sender, state == SENDER_DONE);
    }
}

/* End the oldest connection of an origin that has too many, so that others are not kept out. */
static void limit_origin(struct receiver *receiver, const struct sender_origin *origin)
{
    struct sender *oldest = NULL;
    size_t count = 0;

    for (size_t i = 0; i < RECEIVER_SENDERS; i++) {
        struct sender *sender = &receiver->senders[i];

        if (sender->fd >= 0 && !sender->trusted &&
            memcmp(&sender->origin, origin, sizeof *origin) == 0) {
            count++;
            oldest = oldest && oldest->begun_ns <= sender->begun_ns ? oldest : sender;
        }
    }
    if (count > ORIGIN_MAX) {
        receiver_finish(receiver, oldest, false);
    }
}

/* @return whether a readable connection was accepted. */
static bool accept_one(struct receiver *receiver)
{
    size_t index = receiver->free[receiver->free_count - 1];
    struct sender *sender = &receiver->senders[index];
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = index};
    struct sender_origin origin;
    struct sockaddr_storage peer = {.ss_family = AF_UNSPEC};
    socklen_t size = sizeof peer;
    int fd =
        accept4(receiver->listener, (struct sockaddr *)&peer, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0) {
        receiver->starved =
            errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
        return errno == ECONNABORTED || errno == EINTR;
    }
    receiver->free_count--;
    *sender = (struct sender){
        .fd = fd, .begun_ns = deadline_now(), .origin = sender_find_origin(fd, &peer)};
    origin = sender->origin;
    read_sender(receiver, sender);
    if (sender->fd >= 0 && epoll_ctl(receiver->poll, EPOLL_CTL_ADD, fd, &event)) {
        receiver_finish(receiver, sender, false);
    }
    limit_origin(receiver, &origin);
    return true;
}

static bool receiver_goes_on(const struct receiver *receiver, uint64_t begun_ns)
{
    return receiver->slice_ns == 0 || deadline_now() - begun_ns < receiver->slice_ns;
}

static bool is_crowded(const struct receiver *receiver)
{
    return receiver->free_count == 0 || receiver->starved;
}

static void end_late_ones(struct receiver *receiver, uint64_t begun_ns)
{
    uint64_t now_ns = deadline_now();
    uint64_t foreign_ns = is_crowded(receiver) ? CROWDED_PATIENCE_NS : FOREIGN_PATIENCE_NS;

    for (size_t i = 0; i < RECEIVER_SENDERS; i++) {
        struct sender *sender = &receiver->senders[i];

        if (sender->fd >= 0 &&
            now_ns - sender->begun_ns > (sender->trusted ? TRUSTED_PATIENCE_NS : foreign_ns)) {
            receiver_finish(receiver, sender, false);
            if (!receiver_goes_on(receiver, begun_ns)) {
                break;
            }
        }
    }
}

void receiver_work(struct receiver *receiver)
{
    struct epoll_event events[RECEIVER_SENDERS + 1], event = {.data.u64 = LISTENER_MARK};
    uint64_t begun_ns = deadline_now();
    int count = epoll_wait(receiver->poll, events, RECEIVER_SENDERS + 1, 0);
    bool more = false;

    receiver->starved = false;
    for (int i = 0; i < count && (i == 0 || receiver_goes_on(receiver, begun_ns)); i++) {
        if (events[i].data.u64 == LISTENER_MARK) {
            more = true;
        } else {
            read_sender(receiver, &receiver->senders[events[i].data.u64]);
        }
    }
    for (int i = 0; more && i < ACCEPTED_MAX; i++) { /* accept at least one */
        more = receiver->free_count > 0 && accept_one(receiver) &&
               receiver_goes_on(receiver, begun_ns);
    }
    end_late_ones(receiver, begun_ns);
    if (receiver->listening == is_crowded(receiver)) {
        receiver->listening = !receiver->listening;
        event.events = receiver->listening ? EPOLLIN : 0;
        epoll_ctl(receiver->poll, EPOLL_CTL_MOD, receiver->listener, &event);
    }
}

int receiver_patience_ms(const struct receiver *receiver)
{
    if (is_crowded(receiver)) {
        return CROWDED_MS;
    }
    return receiver->free_count < RECEIVER_SENDERS ? PATIENCE_MS : -1;
}

void receiver_close(struct receiver *receiver)
{
    for (size_t i = 0; i < RECEIVER_SENDERS; i++) {
        if (receiver->senders[i].fd >= 0) {
            release(receiver, &receiver->senders[i]);
        }
    }
    close(receiver->poll);
}
