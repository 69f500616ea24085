/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_TEXT_H
#define APAPI_BASE_TEXT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_COLUMNS 80 /* width of a report */

/**
 * @param character  result, set if it is valid
 * @return bytes of the character at `text`; 0: invalid UTF-8. A NUL is a character.
 */
size_t text_character(const char *text, uint32_t *character);

/** @return whether a terminal shows the character: it is no control or direction character. */
bool text_is_printable(uint32_t character);

/** Copy as valid UTF-8: invalid bytes become '?', and the copy is cut between characters. */
void text_utf8(char *copy, size_t size, const char *text);

/** Like text_utf8(), safe for a terminal: control and direction characters also become '?'. */
void text_clean(char *copy, size_t size, const char *text);

/** @return the ending of a noun after this number: "", "s". */
static inline const char *text_plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/** @return whether LC_ALL, LC_CTYPE or LANG names a UTF-8 locale; true if none is set. */
bool text_locale_is_utf8(void);

/** @return "±", or "+-" if text_locale_is_utf8() is false. Static storage. */
const char *text_plus_minus(void);

/** @return the columns that a text, cleaned by text_clean(), occupies on a terminal. */
size_t text_columns(const char *text);

/**
 * Copy a text of any length, as text_clean(), into at most `columns` columns. A longer text is
 * cut in the middle: "..." is followed by its last `tail` columns. columns >= tail + 3.
 */
void text_shorten(char *copy, size_t size, const char *text, size_t columns, size_t tail);

/**
 * Copy the next line of a text, cut to `size`.
 * @param text  moved on to the line after that one
 * @return false: there is no further line
 */
bool text_next_line(const char **text, char *line, size_t size);

/**
 * Append to the text in `size` bytes: `between`, if it is not empty yet, and a text formatted as
 * printf(3) does. What has no room is cut.
 */
void text_append(char *text, size_t size, const char *between, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** A paragraph. A line that would exceed TEXT_COLUMNS goes on in a new one, indented by 4. */
struct text_line {
    FILE *out;
    size_t column; /* columns of the present line so far */
};

/** Append a text, cleaned, after `gap` spaces. It is not split, but shortened if over a line. */
void text_item(struct text_line *line, size_t gap, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/**
 * Close a stream of open_memstream().
 * @param out     the stream; NULL: it could not be opened
 * @param text    the text of the stream
 * @param result  0: all was written
 * @return the text, for free(); NULL: out of memory, or `result` is not 0
 */
char *text_of_stream(FILE *out, char **text, int result);

/** Write one paragraph, cleaned, in lines of at most TEXT_COLUMNS, indented by 2, then by 4. */
void text_wrap(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** The whole number at the beginning of a text: decimal, 0x hexadecimal or 0 octal. */
struct whole_number {
    bool negative;
    uint64_t value;   /* of a non-negative number */
    const char *rest; /* the text after it */
};

/** @return 0; -1 with errno EINVAL (no number), ERANGE. */
int whole_number_parse(const char *text, struct whole_number *number);

/** The number at the beginning of a text. */
struct real_number {
    double value;
    const char *rest;
};

/** Independent of the locale. @return 0; -1 with errno EINVAL (no number), ERANGE, ENOMEM. */
int real_number_parse(const char *text, struct real_number *number);

/** @return whether the first `length` bytes of `word`, which may be longer, are `name`. */
static inline bool word_is(const char *word, size_t length, const char *name)
{
    return strlen(name) == length && strncmp(word, name, length) == 0;
}

/**
 * Take the next word of a list, which may be empty.
 * @param rest        moved on to the text after the word's separator; NULL: it was the last word
 * @param separators  the characters that end a word
 * @return the length of the word
 */
static inline size_t text_word(const char **rest, const char *separators, const char **word)
{
    size_t length = strcspn(*rest, separators);

    *word = *rest;
    *rest = (*rest)[length] ? *rest + length + 1 : NULL;
    return length;
}

/** Like text_word(), for a list with commas. The name is without the blanks around it. */
static inline size_t text_name(const char **rest, const char **name)
{
    size_t length = text_word(rest, ",", name), blanks = strspn(*name, " \t");

    blanks = blanks < length ? blanks : length;
    *name += blanks;
    length -= blanks;
    while (length > 0 && strchr(" \t", (*name)[length - 1])) {
        length--;
    }
    return length;
}

/** @return whether a list of names with commas has `name`. */
static inline bool text_names_have(const char *list, const char *name)
{
    const char *rest = *list ? list : NULL, *word;

    while (rest) {
        size_t length = text_name(&rest, &word);

        if (word_is(word, length, name)) {
            return true;
        }
    }
    return false;
}

/**
 * Read the decimal digits at the beginning of a text.
 * @param most    at least 9
 * @param number  result; set on success only
 * @return the text after the digits; NULL: no digits, or the number is above `most`
 */
static inline const char *text_digits(const char *text, uint64_t most, uint64_t *number)
{
    const char *at = text;
    uint64_t sum = 0;

    for (; *at >= '0' && *at <= '9'; at++) {
        unsigned digit = (unsigned)(*at - '0');

        if (sum >= most / 10 && (sum > most / 10 || digit > most % 10)) {
            return NULL;
        }
        sum = sum * 10 + digit;
    }
    if (at == text) {
        return NULL;
    }
    *number = sum;
    return at;
}

/**
 * Read the digits after a decimal point, in units of 1e-9. Digits after the ninth are skipped.
 * @return the text after the digits
 */
static inline const char *text_billionths(const char *text, uint64_t *number)
{
    uint64_t worth = 100000000;

    for (*number = 0; *text >= '0' && *text <= '9'; text++, worth /= 10) {
        *number += worth * (uint64_t)(*text - '0');
    }
    return text;
}

/** @return the decimal number in `text`, from 1 to `most`; 0: the text is no such number. */
static inline unsigned long positive_number(const char *text, unsigned long most)
{
    uint64_t number = 0;
    const char *end = text_digits(text, most, &number);

    return end && *end == '\0' ? number : 0;
}

/** @return how many numbers a list like "0-3,8" has, up to where it stops being such a list. */
static inline uint64_t text_count_listed(const char *list)
{
    uint64_t count = 0, first, last;

    while (list && (list = text_digits(list, UINT32_MAX, &first))) {
        last = first;
        list = *list == '-' ? text_digits(list + 1, UINT32_MAX, &last) : list;
        count += last >= first ? last - first + 1 : 0;
        list = list && *list == ',' ? list + 1 : NULL;
    }
    return count;
}

/** @return a hash of a text: FNV-1a. */
static inline uint64_t text_hash(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; *text; text++) {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    }
    return hash;
}

/** @return whether `name` is equal to `pattern` or matches its `*`, `?`, `[a-z]`, `[!a]`. */
bool apapi_pattern_matches(const char *pattern, const char *name);

#endif
