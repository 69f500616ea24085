/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"

#define PORTION 65536   /* bytes that are written to a stream at once */
#define NUMBER_SIZE 352 /* bytes of "%f" of the greatest double, with its NUL */

/* @return room for `size` bytes and a NUL; NULL: see json->error. The caller raises json->size. */
static char *json_reserve(struct json_writer *json, size_t size)
{
    if (json->error) {
        return NULL;
    }
    if (array_extend(&json->text, json->size, size + 1, &json->room, 1)) {
        json->error = ENOMEM;
        return NULL;
    }
    return json->text + json->size;
}

static void json_put_bytes(struct json_writer *json, const char *bytes, size_t size)
{
    char *to = json_reserve(json, size);

    if (to) {
        memcpy(to, bytes, size);
        to[size] = '\0';
        json->size += size;
    }
}

/* --- texts ---------------------------------------------------------------------------------- */

/* @return number of printable bytes written to `to`, at most 12 */
static size_t escape(char *to, uint32_t character)
{
    static const char letters[] = "\"\\bfnrt", bytes[] = "\"\\\b\f\n\r\t";
    const char *found = character < 0x80 ? strchr(bytes, (int)character) : NULL;

    if (found) {
        to[0] = '\\';
        to[1] = letters[found - bytes];
        return 2;
    }
    if (character < ' ') {
        return (size_t)sprintf(to, "\\u%04X", character);
    }
    if (character < 0x10000) {
        return (size_t)sprintf(to, "\\u%04x", character);
    }
    return (size_t)sprintf(to, "\\u%04x\\u%04x", 0xD7C0 + (character >> 10),
                           0xDC00 + (character & 0x3FF));
}

/* Write the rest of a text from the first byte on that is not plain. */
static void put_special(struct json_writer *json, const char *text)
{
    while (*text) {
        uint32_t character = '?';
        size_t size = text_character(text, &character);
        char escaped[16];

        if (size == 0) {
            json_put_bytes(json, "?", 1);
        } else if (character == '"' || character == '\\' || !text_is_printable(character)) {
            json_put_bytes(json, escaped, escape(escaped, character));
        } else {
            json_put_bytes(json, text, size);
        }
        text += size ? size : 1;
    }
}

static void put_quoted(struct json_writer *json, const char *text)
{
    const char *plain = text;

    while ((*plain >= ' ' && *plain < 0x7F) && *plain != '"' && *plain != '\\') {
        plain++;
    }
    json_put_bytes(json, "\"", 1);
    json_put_bytes(json, text, (size_t)(plain - text));
    put_special(json, plain);
    json_put_bytes(json, "\"", 1);
}

/* --- arrays and objects --------------------------------------------------------------------- */

/* Write comma and key before a value. */
static void json_lead(struct json_writer *json, const char *key)
{
    if (json->begun) {
        json_put_bytes(json, ",", 1);
    }
    if (key) {
        put_quoted(json, key);
        json_put_bytes(json, ":", 1);
    }
    json->begun = json->depth > 0;
}

static void json_begin(struct json_writer *json, const char *key, bool is_array)
{
    json->outer_begun = json->begun;
    json->opened = json->size;
    json_lead(json, key);
    json_put_bytes(json, is_array ? "[" : "{", 1);
    if (json->depth == TREE_DEPTH_MAX) {
        json->error = json->error ? json->error : EOVERFLOW;
        return;
    }
    json->arrays &= ~(UINT64_C(1) << json->depth);
    json->arrays |= (uint64_t)is_array << json->depth;
    json->depth++;
    json->begun = false;
}

void json_begin_object(struct json_writer *json, const char *key)
{
    json_begin(json, key, false);
}

void json_begin_array(struct json_writer *json, const char *key)
{
    json_begin(json, key, true);
}

/* Write the text in memory to json->out; without json->out it stays in memory. */
static void write_portion(struct json_writer *json)
{
    if (json->out && json->size > 0 && fwrite(json->text, json->size, 1, json->out) != 1 &&
        !json->error) {
        json->error = errno;
    }
    json->size = json->out ? 0 : json->size;
}

void json_end(struct json_writer *json)
{
    if (json->depth == 0) {
        json->error = json->error ? json->error : EINVAL;
        return;
    }
    json->depth--;
    json_put_bytes(json, json->arrays >> json->depth & 1 ? "]" : "}", 1);
    json->begun = json->depth > 0;
    if (json->size > PORTION) {
        write_portion(json);
    }
}

void json_end_or_drop(struct json_writer *json)
{
    if (json->begun || json->error) {
        json_end(json);
        return;
    }
    json->depth--;
    json->begun = json->outer_begun;
    json->size = json->opened;
    json->text[json->size] = '\0';
}

/* --- values --------------------------------------------------------------------------------- */

void json_put_text(struct json_writer *json, const char *key, const char *text)
{
    json_lead(json, key);
    put_quoted(json, text);
}

static void json_put_word(struct json_writer *json, const char *key, const char *value)
{
    json_lead(json, key);
    json_put_bytes(json, value, strlen(value));
}

double json_rounded(double value, int figures)
{
    char digits[32];

    snprintf(digits, sizeof(digits), "%.*g", figures, value);
    return strtod(digits, NULL);
}

/* Write a number with a point, in every locale, or with an exponent: 2.0, 1e20, 1.5e-7. */
static size_t real_text(char text[NUMBER_SIZE], double value)
{
    const char *from = text;
    char *to = text;
    bool is_real = false;

    snprintf(text, NUMBER_SIZE, "%.*g", JSON_EXACT, value);
    while (*from) {
        if (*from == 'e') {
            is_real = true;
            *to++ = *from++;
            if (*from++ == '-') {
                *to++ = '-';
            }
            from += strspn(from, "0");
        } else if (strchr("-0123456789", *from)) {
            *to++ = *from++;
        } else {
            is_real = true;
            *to++ = '.';
            from += strcspn(from, "0123456789");
        }
    }
    if (!is_real) {
        *to++ = '.';
        *to++ = '0';
    }
    return (size_t)(to - text);
}

void json_put_number(struct json_writer *json, const char *key, double value, int figures)
{
    char text[NUMBER_SIZE];

    if (!isfinite(value)) {
        if (!key) {
            json_put_word(json, key, "null");
        }
        return;
    }
    json_lead(json, key);
    value = figures < JSON_EXACT ? json_rounded(value, figures) : value;
    json_put_bytes(json, text, real_text(text, value));
}

void json_put_integer(struct json_writer *json, const char *key, int64_t value)
{
    char digits[24];

    json_lead(json, key);
    json_put_bytes(json, digits, (size_t)sprintf(digits, "%" PRId64, value));
}

void json_put_count(struct json_writer *json, const char *key, uint64_t count)
{
    char digits[24];

    if (count <= INT64_MAX) {
        json_put_integer(json, key, (int64_t)count);
        return;
    }
    sprintf(digits, "%" PRIu64, count);
    json_put_text(json, key, digits);
}

void json_put_moment(struct json_writer *json, const char *key, int64_t unix_ns)
{
    char text[TIMESTAMP_SIZE];

    timestamp_format(text, sizeof(text), unix_ns);
    json_put_text(json, key, text);
}

void json_put_flag(struct json_writer *json, const char *key, bool value)
{
    json_put_word(json, key, value ? "true" : "false");
}

/* --- the whole ------------------------------------------------------------------------------ */

static struct json_writer json_ended(struct json_writer *json)
{
    const struct json_writer ended = *json;

    *json = (struct json_writer){.out = ended.out};
    return ended;
}

int json_flush(struct json_writer *json)
{
    struct json_writer ended;

    write_portion(json);
    ended = json_ended(json);
    free(ended.text);
    errno = ended.error;
    return ended.error ? -1 : 0;
}

char *json_take(struct json_writer *json)
{
    const struct json_writer ended = json_ended(json);

    if (ended.error || !ended.text) {
        free(ended.text);
        errno = ended.error ? ended.error : ENOMEM;
        return NULL;
    }
    return ended.text;
}
