/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_TEXT_H
#define APAPI_BASE_TEXT_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TEXT_COLUMNS 80 /* of a report's line */

/**
 * @param character  result, set if there is one
 * @return the bytes of the character at `text`; 0: they are not valid UTF-8. A NUL is one.
 */
size_t text_character(const char *text, uint32_t *character);

/** Copy as valid UTF-8: bad bytes become '?'; what does not fit is cut between characters. */
void text_utf8(char *copy, size_t size, const char *text);

/** The same, safe for a terminal: control and direction characters become '?' as well. */
void text_clean(char *copy, size_t size, const char *text);

/** Columns that a clean text takes on a terminal. */
size_t text_columns(const char *text);

/**
 * Copy a clean text of any length into at most `columns` columns; "..." stands for what was left
 * out, after which the last `tail` columns follow. columns >= tail + 3.
 */
void text_shorten(char *copy, size_t size, const char *text, size_t columns, size_t tail);

/** A line that goes on in a new one, indented by 4, before it gets longer than TEXT_COLUMNS. */
struct text_line {
    FILE *out;
    size_t column; /* where it ends now */
};

/** Put a clean text after `gap` spaces, undivided, shortened where it is longer than a line. */
void text_item(struct text_line *line, size_t gap, const char *item);

/** Write one paragraph in lines of at most TEXT_COLUMNS: cleaned, indented by 2, then by 4. */
void text_wrap(FILE *out, const char *text);

#endif
