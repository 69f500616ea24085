/* SPDX-License-Identifier: BSD-3-Clause */
#include "channel/parcel.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/word.h"

/* The next word and the blank behind it. @return its length, 0: there is none. */
static size_t parcel_word(const char **rest, const char **word)
{
    size_t length = strcspn(*rest, " \n");

    *word = *rest;
    if ((*rest)[length] != ' ') {
        return 0;
    }
    *rest += length + 1;
    return length;
}

/* @return 0; -1: no number up to PARCEL_MAX. */
static int parcel_size(const char *word, size_t length, size_t *size)
{
    for (*size = 0; length > 0; length--, word++) {
        if (!isdigit((unsigned char)*word) || *size > PARCEL_MAX) {
            return -1;
        }
        *size = *size * 10 + (size_t)(*word - '0');
    }
    return *size <= PARCEL_MAX ? 0 : -1;
}

/* Read one part. @return its kind's length; 0: it is none. */
static size_t parcel_take(const char **rest, const char **kind, struct parcel_item *item)
{
    const char *size_word, *name = NULL;
    size_t kind_length = parcel_word(rest, kind);
    size_t size_length = kind_length ? parcel_word(rest, &size_word) : 0;
    size_t name_length;

    if (size_length == 0 || parcel_size(size_word, size_length, &item->size)) {
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

bool parcel_find(const char *parcel, const char *wanted, struct parcel_item *item)
{
    const char *rest = parcel, *kind;
    struct parcel_item found;

    while (rest && *rest) {
        size_t length = parcel_take(&rest, &kind, &found);

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

/* What a message or a variable cannot hold, or what would end a line, does not belong to a name. */
static void parcel_name(const char *name, char clean[PARCEL_NAME_SIZE])
{
    size_t length = strlen(name);

    snprintf(clean, PARCEL_NAME_SIZE, "%s",
             length < PARCEL_NAME_SIZE ? name : name + length - PARCEL_NAME_SIZE + 1);
    for (char *c = clean; *c; c++) {
        if (iscntrl((unsigned char)*c)) {
            *c = '?';
        }
    }
}

int parcel_add(char parcel[PARCEL_MAX], const char *kind, const char *name, const char *bytes,
               size_t size)
{
    size_t length = strlen(parcel);
    char clean[PARCEL_NAME_SIZE], head[PARCEL_NAME_SIZE + 64];
    size_t head_length;

    parcel_name(name, clean);
    head_length = (size_t)snprintf(head, sizeof head, "%s %zu %s\n", kind, size, clean);
    if (length + head_length + size + 2 > PARCEL_MAX) {
        errno = EMSGSIZE;
        return -1;
    }
    memcpy(parcel + length, head, head_length);
    memcpy(parcel + length + head_length, bytes, size);
    memcpy(parcel + length + head_length + size, "\n", 2);
    return 0;
}

bool parcel_is_verbose(const char *parcel)
{
    struct parcel_item item;

    return parcel_find(parcel, PARCEL_VERBOSE, &item) && item.size == 1 && item.bytes[0] == '1';
}
