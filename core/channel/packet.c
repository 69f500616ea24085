/* SPDX-License-Identifier: BSD-3-Clause */
#include "channel/packet.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

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

/* @return 0; -1: not a number up to PACKET_MAX. */
static int packet_size(const char *word, size_t length, size_t *size)
{
    for (*size = 0; length > 0; length--, word++) {
        if (!isdigit((unsigned char)*word) || *size > PACKET_MAX) {
            return -1;
        }
        *size = *size * 10 + (size_t)(*word - '0');
    }
    return *size <= PACKET_MAX ? 0 : -1;
}

/* Read one part. @return the length of its kind; 0: not a part. */
static size_t packet_take(const char **rest, const char **kind, struct packet_item *item)
{
    const char *size_word, *name = NULL;
    size_t kind_length = packet_word(rest, kind);
    size_t size_length = kind_length ? packet_word(rest, &size_word) : 0;
    size_t name_length;

    if (size_length == 0 || packet_size(size_word, size_length, &item->size)) {
        return 0;
    }
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
