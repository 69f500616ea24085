/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/text.h"

#include <errno.h>
#include <fnmatch.h>
#include <locale.h>
#include <stdarg.h>

#include "base/array.h"

/* --- text ----------------------------------------------------------------------------------- */

struct range {
    uint32_t first, last;
};

static const struct range unprintable[] = {{0x0000, 0x001F}, {0x007F, 0x009F}, {0x061C, 0x061C},
                                           {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F},
                                           {0xFEFF, 0xFEFF}, {0xFFF0, 0xFFFB}, {0xE0000, 0xE007F}};

static const struct range double_width[] = {
    {0x1100, 0x115F}, {0x2E80, 0xA4CF}, {0xA960, 0xA97F}, {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},
    {0xFE30, 0xFE6F}, {0xFF00, 0xFF60}, {0xFFE0, 0xFFE6}, {0x1F300, 0x1FAFF}, {0x20000, 0x3FFFD}};

static bool in_ranges(uint32_t character, const struct range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (character >= ranges[i].first && character <= ranges[i].last) {
            return true;
        }
    }
    return false;
}

#define IN(character, ranges) in_ranges(character, ranges, COUNT_OF(ranges))

bool text_is_printable(uint32_t character)
{
    return !IN(character, unprintable);
}

size_t text_character(const char *text, uint32_t *character)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *bytes = (const unsigned char *)text, lead = bytes[0];
    size_t length = lead < 0x80   ? 1
                    : lead < 0xC2 ? 0
                    : lead < 0xE0 ? 2
                    : lead < 0xF0 ? 3
                    : lead < 0xF5 ? 4
                                  : 0;
    uint32_t value = length > 1 ? lead & (0x7FU >> length) : lead;

    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xC0) != 0x80) {
            return 0;
        }
        value = value << 6 | (bytes[i] & 0x3FU);
    }
    if (length == 0 || value < smallest[length] || value > 0x10FFFF ||
        (value >= 0xD800 && value <= 0xDFFF)) {
        return 0;
    }
    *character = value;
    return length;
}

static void text_copy_text(char *copy, size_t size, const char *text, bool for_terminal)
{
    size_t used = 0;

    while (*text) {
        uint32_t character = 0;
        size_t length = text_character(text, &character);
        bool bad = length == 0 || (for_terminal && !text_is_printable(character));
        size_t wanted = bad ? 1 : length;

        if (used + wanted >= size) {
            break;
        }
        if (bad) {
            copy[used] = '?';
        } else {
            memmove(copy + used, text, length);
        }
        used += wanted;
        text += length ? length : 1;
    }
    copy[used] = '\0';
}

void text_utf8(char *copy, size_t size, const char *text)
{
    text_copy_text(copy, size, text, false);
}

void text_clean(char *copy, size_t size, const char *text)
{
    text_copy_text(copy, size, text, true);
}

static size_t step_over(const char *text, size_t *columns)
{
    uint32_t character = 0;
    size_t length = text_character(text, &character);

    *columns = length && IN(character, double_width) ? 2 : 1;
    return length ? length : 1;
}

bool text_locale_is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const char *locale = secure_getenv(names[i]);

        if (locale && *locale) {
            return strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
        }
    }
    return true;
}

const char *text_plus_minus(void)
{
    return text_locale_is_utf8() ? "±" : "+-";
}

size_t text_columns(const char *text)
{
    size_t columns = 0;

    for (size_t width; *text; columns += width) {
        text += step_over(text, &width);
    }
    return columns;
}

/* @return the bytes at the start of `text` that occupy at most `columns` columns. */
static size_t bytes_within(const char *text, size_t columns)
{
    size_t bytes = 0;

    while (text[bytes]) {
        size_t width;
        size_t length = step_over(text + bytes, &width);

        if (width > columns) {
            break;
        }
        columns -= width;
        bytes += length;
    }
    return bytes;
}

void text_shorten(char *copy, size_t size, const char *text, size_t columns, size_t tail)
{
    size_t all = text_columns(text);
    const char *end = text + strlen(text);
    int head_bytes;

    if (all <= columns) {
        text_clean(copy, size, text);
        return;
    }
    head_bytes = (int)bytes_within(text, columns - tail - 3);
    if (tail > 0) {
        const char *start = text;

        for (size_t width; all > tail; all -= width < all ? width : all) {
            start += step_over(start, &width);
        }
        end = start;
    }
    snprintf(copy, size, "%.*s...%s", head_bytes, text, end);
    text_clean(copy, size, copy);
}

void text_append(char *text, size_t size, const char *between, const char *format, ...)
{
    size_t used = strlen(text);
    va_list values;

    used += (size_t)snprintf(text + used, size - used, "%s", used ? between : "");
    if (used < size) {
        va_start(values, format);
        vsnprintf(text + used, size - used, format, values);
        va_end(values);
    }
}

#define ITEM_SIZE 1024

void text_item(struct text_line *line, size_t gap, const char *format, ...)
{
    char item[ITEM_SIZE], copy[TEXT_COLUMNS * 4 + 1];
    size_t columns;
    va_list values;

    va_start(values, format);
    vsnprintf(item, sizeof item, format, values);
    va_end(values);
    text_shorten(copy, sizeof copy, item, TEXT_COLUMNS - 4, 0);
    columns = text_columns(copy);
    if (line->column + gap + columns > TEXT_COLUMNS) {
        fputc('\n', line->out);
        line->column = 0;
        gap = 4;
    }
    fprintf(line->out, "%*s%s", (int)gap, "", copy);
    line->column += gap + columns;
}

void text_wrap(FILE *out, const char *format, ...)
{
    struct text_line line = {out, 0};
    char text[2 * ITEM_SIZE];
    size_t gap = 2;
    va_list values;

    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    for (const char *word = text; *(word += strspn(word, " ")); gap = 1) {
        size_t bytes = strcspn(word, " "), most = bytes_within(word, TEXT_COLUMNS - 4);

        bytes = bytes < most ? bytes : most;
        text_item(&line, gap, "%.*s", (int)bytes, word);
        word += bytes;
    }
    fputs(gap == 2 ? "  \n" : "\n", out);
}

bool text_next_line(const char **text, char *line, size_t size)
{
    int length = (int)strcspn(*text, "\n");
    bool any = **text != '\0';

    snprintf(line, size, "%.*s", length, *text);
    *text += length + ((*text)[length] == '\n');
    return any;
}

char *text_of_stream(FILE *out, char **text, int result)
{
    if (!out) {
        return NULL;
    }
    if (ferror(out)) {
        result = -1;
    }
    if (fclose(out) == EOF || result) {
        free(*text);
        *text = NULL;
    }
    return *text;
}

/* --- numbers -------------------------------------------------------------------------------- */

static int number_finish(const char *text, const char *end)
{
    if (end == text) {
        errno = EINVAL;
    }
    return errno ? -1 : 0;
}

int whole_number_parse(const char *text, struct whole_number *number)
{
    struct whole_number result = {.negative = *text == '-'};
    char *end;

    errno = 0;
    if (result.negative) {
        long long value = strtoll(text, &end, 0);

        result.negative = value != 0;
    } else {
        result.value = strtoull(text, &end, 0);
    }
    if (number_finish(text, end)) {
        return -1;
    }
    result.rest = end;
    *number = result;
    return 0;
}

int real_number_parse(const char *text, struct real_number *number)
{
    locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    char *end;
    double value;
    int result;

    if (!locale) {
        return -1;
    }
    errno = 0;
    value = strtod_l(text, &end, locale);
    result = number_finish(text, end);
    if (result == 0) {
        *number = (struct real_number){value, end};
    }
    freelocale(locale);
    return result;
}

/* --- patterns ------------------------------------------------------------------------------- */

bool apapi_pattern_matches(const char *pattern, const char *name)
{
    return strcmp(pattern, name) == 0 || fnmatch(pattern, name, FNM_NOESCAPE) == 0;
}
