/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/sender.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "apapi/channel.h"

#define FIRST_ROOM 8192

void sender_begin(struct sender *sender, int fd, uint64_t deadline_ns)
{
    *sender = (struct sender){.fd = fd, .deadline_ns = deadline_ns};
}

static int make_room(struct sender *sender)
{
    size_t room = sender->room ? 2 * sender->room : FIRST_ROOM;
    char *bytes;

    if (sender->length + 1 < sender->room) {
        return 0;
    }
    if (sender->length >= APAPI_PAYLOAD_MAX) {
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

enum sender_state sender_read(struct sender *sender)
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
            sender->bytes[sender->length] = '\0';
            return SENDER_DONE;
        }
        sender->length += (size_t)got;
    }
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

static int deliver_record(const char *payload, size_t size, struct apapi_merge *merge)
{
    struct apapi_record record;
    int result;

    if (apapi_record_decode(payload, size, &record, NULL)) {
        return -1;
    }
    result = apapi_merge_add(merge, &record);
    apapi_record_clear(&record);
    return result;
}

int sender_deliver(const struct sender *sender, const char *token, struct apapi_merge *merge)
{
    const char *end = sender->bytes + sender->length;
    const char *payload = memchr(sender->bytes, '\n', sender->length);
    char word[16], node[APAPI_TEXT_SIZE];

    if (!payload || sender->length <= APAPI_TOKEN_LENGTH || !same_token(sender->bytes, token) ||
        sscanf(sender->bytes + APAPI_TOKEN_LENGTH, " %15s %255s", word, node) != 2) {
        return -1;
    }
    payload++;
    if (strcmp(word, APAPI_WORD_RECORD) == 0) {
        return deliver_record(payload, (size_t)(end - payload), merge);
    }
    if (strcmp(word, APAPI_WORD_ABSENT) == 0) {
        return apapi_merge_absent(merge, node, payload);
    }
    return -1;
}

void sender_end(struct sender *sender)
{
    if (sender->fd >= 0) {
        close(sender->fd);
    }
    free(sender->bytes);
    *sender = (struct sender){.fd = -1};
}
