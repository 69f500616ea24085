/* SPDX-License-Identifier: BSD-3-Clause */
#include "threshold/place.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define BEFORE_MAX 44 /* bytes shown before the place */
#define AROUND_MAX 60 /* bytes shown in all */
#define MESSAGE_SIZE 140
#define INDENT "  "

void place_skip_blanks(struct place *place)
{
    place->at += strspn(place->at, " \t");
}

size_t place_word_length(const struct place *place, const char *ends)
{
    size_t length = 0;

    while (place->at[length] && !strchr(" \t", place->at[length]) &&
           !strchr(ends, place->at[length])) {
        length++;
    }
    return length;
}

/* Not the first byte of a character. */
static bool place_is_inside(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

static const char *place_shown_from(const struct place *place, const char *where)
{
    const char *from = where - place->text > BEFORE_MAX ? where - BEFORE_MAX : place->text;

    while (from < where && place_is_inside(*from)) {
        from++;
    }
    return from;
}

static int place_shown_length(const char *from)
{
    size_t length = strcspn(from, "\n");

    if (length <= AROUND_MAX) {
        return (int)length;
    }
    for (length = AROUND_MAX; length > 0 && place_is_inside(from[length]); length--) {
    }
    return (int)length;
}

static int place_column(const char *from, const char *where)
{
    int column = 0;

    for (; from < where; from++) {
        column += !place_is_inside(*from);
    }
    return column;
}

int place_fail(const struct place *place, const char *where, int code, const char *format, ...)
{
    char message[MESSAGE_SIZE];
    const char *from = place_shown_from(place, where);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return apapi_fail(place->err, code, "%s\n" INDENT "%.*s\n" INDENT "%*s^", message,
                      place_shown_length(from), from, place_column(from, where), "");
}
