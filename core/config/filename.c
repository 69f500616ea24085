/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/filename.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define WIDTH_MAX 10

static const char letters[] = "AaJjNnstux%";

/* A '%' with its number and letter, or a plain character. */
struct filename_piece {
    char letter; /* 0: plain */
    unsigned width;
    size_t length; /* length in the pattern [bytes] */
};

/* Read a piece. @return 0; -1: an unknown letter, or a number that is too great. */
static int filename_piece(const char *text, struct filename_piece *piece)
{
    const char *c = text + 1;

    *piece = (struct filename_piece){.length = 1};
    if (*text != '%') {
        return 0;
    }
    for (; isdigit((unsigned char)*c); c++) {
        piece->width = piece->width * 10 + (unsigned)(*c - '0');
        if (piece->width > WIDTH_MAX) {
            return -1;
        }
    }
    if (*c == '\0' || !strchr(letters, *c)) {
        return -1;
    }
    piece->letter = *c;
    piece->length = (size_t)(c + 1 - text);
    return 0;
}

int filename_check(const char *pattern, struct apapi_error *err)
{
    struct filename_piece piece;

    if (*pattern == '\0') {
        return apapi_fail(err, EINVAL, "the file name is empty");
    }
    if (strlen(pattern) >= PATH_MAX / 2) {
        return apapi_fail(err, ENAMETOOLONG, "file name of %zu bytes is too long", strlen(pattern));
    }
    for (const char *position = pattern; *position; position += piece.length) {
        if (filename_piece(position, &piece)) {
            return apapi_fail(
                err, EINVAL,
                "'%.5s' in file name '%.60s': available are %%j %%J %%s %%A %%a %%N %%n %%t "
                "%%u %%x %%%%, numbers with 1 to 10 digits as in %%4j",
                position, pattern);
        }
        if (iscntrl((unsigned char)*position)) {
            return apapi_fail(err, EINVAL, "control character in a file name");
        }
    }
    return 0;
}

bool filename_has(const char *pattern, const char *wanted)
{
    struct filename_piece piece;

    for (const char *position = pattern; *position; position += piece.length) {
        if (filename_piece(position, &piece) == 0 && piece.letter && strchr(wanted, piece.letter)) {
            return true;
        }
    }
    return false;
}

/* Write a step: its number is padded, a name is not. */
static void filename_step(char *text, size_t size, unsigned width, const char *step)
{
    bool number = step[strspn(step, "0123456789")] == '\0';
    size_t length = strlen(step);

    for (; number && length < width && size > 1; width--, size--) {
        *text++ = '0';
    }
    snprintf(text, size, "%s", step);
}

static void filename_text(char *text, size_t size, const char *value)
{
    snprintf(text, size, "%s", value);
    for (char *c = text; *c; c++) {
        if (*c == '/') {
            *c = '_';
        }
    }
}

static void filename_value(const struct filename_piece *piece, const struct filename_values *values,
                           char *text, size_t size)
{
    static const char of_numbers[] = "jJAant";
    const uint32_t numbers[] = {values->job,         values->job,        values->array_job,
                                values->array_index, values->node_index, values->task};
    const char *of_number = strchr(of_numbers, piece->letter);

    if (of_number) {
        snprintf(text, size, "%0*" PRIu32 "%s%s", (int)piece->width,
                 numbers[of_number - of_numbers], piece->letter == 'J' ? "." : "",
                 piece->letter == 'J' ? values->step : "");
        return;
    }
    switch (piece->letter) {
    case 's':
        filename_step(text, size, piece->width, values->step);
        break;
    case 'N':
        snprintf(text, size, "%.*s", (int)strcspn(values->node, "."), values->node);
        break;
    case 'u':
        filename_text(text, size, values->user);
        break;
    case 'x':
        filename_text(text, size, values->name);
        break;
    default:
        snprintf(text, size, "%%");
    }
}

int filename_expand(const char *pattern, const struct filename_values *values, char *name,
                    size_t size, struct apapi_error *err)
{
    struct filename_piece piece;
    size_t length = 0;

    name[0] = '\0';
    if (filename_check(pattern, err)) {
        return -1;
    }
    for (const char *position = pattern; *position; position += piece.length) {
        char text[NAME_MAX + 1] = {*position};

        if (filename_piece(position, &piece) == 0 && piece.letter) {
            filename_value(&piece, values, text, sizeof text);
        }
        if (length + strlen(text) >= size) {
            name[0] = '\0';
            return apapi_fail(err, ENAMETOOLONG, "file name made of '%.80s' is too long", pattern);
        }
        length = (size_t)(stpcpy(name + length, text) - name);
    }
    return 0;
}

int filename_absolute(const char *folder, const char *name, char *path, size_t size,
                      struct apapi_error *err)
{
    int length;

    if (*name != '/' && *folder != '/') {
        return apapi_fail(err, ENOENT, "the job's folder is not known for '%.80s'", name);
    }
    length = *name == '/' ? snprintf(path, size, "%s", name)
                          : snprintf(path, size, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= size) {
        return apapi_fail(err, ENAMETOOLONG, "path of '%.80s' is too long", name);
    }
    return 0;
}

int filename_trace(const char *pattern, uint32_t nodes, bool batch, char *unique, size_t size)
{
    bool step = batch && !filename_has(pattern, "sJ");
    bool node = nodes > 1 && !filename_has(pattern, "Nn");
    int length = snprintf(unique, size, "%s%s%s", pattern, step ? ".batch" : "", node ? ".%N" : "");

    if (length < 0 || (size_t)length >= size) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return 0;
}
