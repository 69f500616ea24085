/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/lines.h"

#include <string.h>

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

char *event_text_trim(char *text)
{
    size_t length;

    text += strspn(text, LINES_BLANKS);
    length = strlen(text);
    while (length > 0 && strchr(LINES_BLANKS, text[length - 1])) {
        length--;
    }
    text[length] = '\0';
    return text;
}

struct event_lines event_lines_of(char *text)
{
    size_t mark = strlen(BYTE_ORDER_MARK);
    bool marked = strncmp(text, BYTE_ORDER_MARK, mark) == 0;

    return (struct event_lines){.rest = marked ? text + mark : text};
}

bool event_lines_next(struct event_lines *lines, struct event_line *line)
{
    while (lines->rest) {
        char *start = lines->rest;
        char *end = strchr(start, '\n');

        if (end) {
            *end = '\0';
        }
        lines->rest = end ? end + 1 : NULL;
        *line = (struct event_line){++lines->number, start, event_text_trim(start)};
        if (*line->text != '\0' && *line->text != '#') {
            return true;
        }
    }
    return false;
}

size_t event_line_column(const struct event_line *line, const char *position)
{
    size_t column = 1;

    for (const char *at = line->start; at < position; at++) {
        column += ((unsigned char)*at & 0xc0) != 0x80;
    }
    return column;
}
