/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/text.h"
#include "channel/channel.h"
#include "channel/deadline.h"

/* --- messages ------------------------------------------------------------------------------- */

#define PART_BYTES ((size_t)65536)

void message_add_text(struct message *message, const char *text)
{
    size_t size = strlen(text) + 1;

    if (size > sizeof message->bytes - message->length) {
        message->overflow = true;
        return;
    }
    memcpy(message->bytes + message->length, text, size);
    message->length += size;
}

void message_start(struct message *message, const char *word)
{
    message->length = 0;
    message->overflow = false;
    message_add_text(message, word);
}

void message_add_pair(struct message *message, const char *key, const char *value)
{
    if (value) {
        message_add_text(message, key);
        message_add_text(message, value);
    }
}

void message_add_number(struct message *message, const char *key, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRIu64, value);
    message_add_pair(message, key, text);
}

int message_send(int channel, const struct message *message, uint64_t deadline_ns)
{
    if (message->overflow) {
        errno = EMSGSIZE;
        return -1;
    }
    return deadline_send(channel, message->bytes, message->length, deadline_ns);
}

int message_receive(int channel, struct message *message, uint64_t deadline_ns)
{
    ssize_t size;

    do {
        if (deadline_wait(channel, POLLIN, deadline_ns)) {
            return -1;
        }
        size = recv(channel, message->bytes, sizeof message->bytes, MSG_DONTWAIT | MSG_TRUNC);
        /* ECONNRESET comes once: the other side ended before it had read all. Messages follow */
    } while (size < 0 && (errno == EINTR || errno == EAGAIN || errno == ECONNRESET));
    if (size < 0) {
        return -1;
    }
    if (size == 0) {
        errno = EPIPE;
        return -1;
    }
    if ((size_t)size > sizeof message->bytes || message->bytes[size - 1] != '\0') {
        errno = EBADMSG;
        return -1;
    }
    message->length = (size_t)size;
    message->overflow = false;
    return 0;
}

static int message_send_part(int channel, struct message *message, const char *text, size_t size,
                             uint64_t deadline_ns)
{
    message_start(message, APAPI_WORD_PART);
    memcpy(message->bytes + message->length, text, size);
    message->length += size;
    message->bytes[message->length++] = '\0';
    return message_send(channel, message, deadline_ns);
}

int message_send_text(int channel, struct message *message, const char *word, const char *text,
                      uint64_t deadline_ns)
{
    for (; strlen(text) > PART_BYTES; text += PART_BYTES) {
        if (message_send_part(channel, message, text, PART_BYTES, deadline_ns)) {
            return -1;
        }
    }
    message_start(message, word);
    message_add_text(message, text);
    return message_send(channel, message, deadline_ns);
}

/* Append the text of a message to the text received so far. */
static int add_part(const struct message *message, char **text, size_t *length)
{
    const char *part = message_text(message);
    size_t size = strlen(part);
    char *longer = *length + size > MESSAGE_TEXT_MAX ? NULL : realloc(*text, *length + size + 1);

    if (!longer) {
        errno = *length + size > MESSAGE_TEXT_MAX ? EBADMSG : ENOMEM;
        return -1;
    }
    memcpy(longer + *length, part, size + 1);
    *text = longer;
    *length += size;
    return 0;
}

/* A sender of parts without an end is given up at the deadline. */
int message_receive_text(int channel, struct message *message, char **text, uint64_t deadline_ns)
{
    char *whole = NULL;
    size_t length = 0;
    int code = 0;

    do {
        if (length > 0 && deadline_now() >= deadline_ns) {
            code = ETIMEDOUT;
        } else if (message_receive(channel, message, deadline_ns) ||
                   add_part(message, &whole, &length)) {
            code = errno;
        } else if (message_is(message, APAPI_WORD_PART) && *message_text(message) == '\0') {
            code = EBADMSG;
        }
    } while (code == 0 && message_is(message, APAPI_WORD_PART));
    if (code) {
        free(whole);
        errno = code;
        return -1;
    }
    *text = whole;
    return 0;
}

bool message_is(const struct message *message, const char *word)
{
    return strcmp(message->bytes, word) == 0;
}

const char *message_text(const struct message *message)
{
    size_t start = strlen(message->bytes) + 1;

    return start < message->length ? message->bytes + start : "";
}

/* @return the text after `text`, NULL at the end. */
static const char *next_text(const struct message *message, const char *text)
{
    const char *next = text + strlen(text) + 1;

    return next < message->bytes + message->length ? next : NULL;
}

const char *message_value(const struct message *message, const char *key)
{
    const char *found = next_text(message, message->bytes);

    while (found) {
        const char *value = next_text(message, found);

        if (!value || strcmp(found, key) == 0) {
            return value;
        }
        found = next_text(message, value);
    }
    return NULL;
}

uint64_t message_number(const struct message *message, const char *key)
{
    const char *number = message_value(message, key);

    return number ? strtoull(number, NULL, 10) : 0;
}

/* --- packed event settings ------------------------------------------------------------------ */

/* Read the next word and the blank after it. @return its length; 0: there is no word. */
static size_t packet_word(const char **rest, const char **word)
{
    size_t length = strcspn(*rest, " \n");

    *word = *rest;
    if ((*rest)[length] != ' ') {
        return 0;
    }
    *rest += length + 1;
    return length;
}

/* Read one part of a packet. @return the length of its kind; 0: the text is not a part. */
static size_t packet_take(const char **rest, const char **kind, struct packet_item *item)
{
    const char *size_word, *name = NULL;
    size_t kind_length = packet_word(rest, kind);
    size_t size_length = kind_length ? packet_word(rest, &size_word) : 0;
    size_t name_length;
    uint64_t size;

    if (size_length == 0 || text_digits(size_word, PACKET_MAX, &size) != size_word + size_length) {
        return 0;
    }
    item->size = size;
    name = *rest;
    name_length = strcspn(name, "\n");
    if (name[name_length] == '\0' || name_length >= sizeof item->name) {
        return 0;
    }
    memcpy(item->name, name, name_length);
    item->name[name_length] = '\0';
    item->bytes = name + name_length + 1;
    if (strnlen(item->bytes, item->size + 1) <= item->size || item->bytes[item->size] != '\n') {
        return 0;
    }
    *rest = item->bytes + item->size + 1;
    return kind_length;
}

bool packet_find(const char *packet, const char *wanted, struct packet_item *item)
{
    const char *rest = packet, *kind;
    struct packet_item found;

    while (rest && *rest) {
        size_t length = packet_take(&rest, &kind, &found);

        if (length == 0) {
            return false;
        }
        if (word_is(kind, length, wanted)) {
            *item = found;
            return true;
        }
    }
    return false;
}

/* Replace the characters that a message or a variable cannot hold, and newlines. */
static void packet_name(const char *name, char clean[PACKET_NAME_SIZE])
{
    size_t length = strlen(name);

    snprintf(clean, PACKET_NAME_SIZE, "%s",
             length < PACKET_NAME_SIZE ? name : name + length - PACKET_NAME_SIZE + 1);
    for (char *c = clean; *c; c++) {
        if (iscntrl((unsigned char)*c)) {
            *c = '?';
        }
    }
}

int packet_add(char packet[PACKET_MAX], const char *kind, const char *name, const char *bytes,
               size_t size)
{
    size_t length = strlen(packet);
    char clean[PACKET_NAME_SIZE], head[PACKET_NAME_SIZE + 64];
    size_t head_length;

    packet_name(name, clean);
    head_length = (size_t)snprintf(head, sizeof head, "%s %zu %s\n", kind, size, clean);
    if (length + head_length + size + 2 > PACKET_MAX) {
        errno = EMSGSIZE;
        return -1;
    }
    memcpy(packet + length, head, head_length);
    memcpy(packet + length + head_length, bytes, size);
    memcpy(packet + length + head_length + size, "\n", 2);
    return 0;
}

bool packet_is_verbose(const char *packet)
{
    struct packet_item item;

    return packet_find(packet, PACKET_VERBOSE, &item) && item.size == 1 && item.bytes[0] == '1';
}
