/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/sender.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FIRST_ROOM 8192

void sender_begin(struct sender *sender, int fd, uint64_t now_ns)
{
    *sender = (struct sender){.fd = fd, .begun_ns = now_ns};
}

/* Takes the same time whatever is wrong with the token. */
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

/* For a byte more and a NUL. */
static int make_room(struct sender *sender)
{
    size_t room = sender->room ? 2 * sender->room : FIRST_ROOM;
    char *bytes;

    if (sender->length + 1 < sender->room) {
        return 0;
    }
    if (sender->room >= APAPI_PAYLOAD_MAX) {
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

static enum sender_state read_bytes(struct sender *sender)
{
    for (;;) {
        ssize_t got;

        if (make_room(sender)) {
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

enum sender_state sender_read(struct sender *sender, const char *token)
{
    enum sender_state state = sender->trusted ? SENDER_READING : read_token(sender, token);

    return sender->trusted ? read_bytes(sender) : state;
}

/* Cut the next word off; "" at the end of the line. */
static const char *next_word(char **line)
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
    delivery->word = next_word(&line);
    delivery->node = next_word(&line);
    delivery->nodelist = next_word(&line);
    return *delivery->node ? 0 : -1;
}

void sender_end(struct sender *sender)
{
    if (sender->fd >= 0) {
        close(sender->fd);
    }
    free(sender->bytes);
    *sender = (struct sender){.fd = -1};
}
