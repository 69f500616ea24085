/* SPDX-License-Identifier: BSD-3-Clause */
#include "json/json_text.h"

#include <string.h>

#include "base/text.h"

/* Bytes without special meaning: ASCII, no control character, quote or backslash. */
static const bool plain[256] = {[' ' ... '!'] = true, ['#' ... '['] = true, [']' ... 0x7F] = true};

static bool take_hex(struct parser *parser, uint32_t *unit)
{
    *unit = 0;
    for (const char *end = parser->at + 4; parser->at < end; parser->at++) {
        char byte = *parser->at;

        if (byte >= '0' && byte <= '9') {
            *unit = *unit * 16 + (uint32_t)(byte - '0');
        } else if ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'f') {
            *unit = *unit * 16 + (uint32_t)((byte | 0x20) - 'a' + 10);
        } else {
            return parser_fail(parser, "four hexadecimal digits are expected");
        }
    }
    return true;
}

/* The part after "\u". */
static bool take_unit(struct parser *parser, uint32_t *character)
{
    uint32_t low;

    if (!take_hex(parser, character)) {
        return false;
    }
    if (*character == 0) {
        return parser_fail(parser, "U+0000 in a text");
    }
    if (*character < 0xD800 || *character > 0xDFFF) {
        return true;
    }
    if (*character > 0xDBFF || parser->at[0] != '\\' || parser->at[1] != 'u') {
        return parser_fail(parser, "half of a surrogate pair");
    }
    parser->at += 2;
    if (!take_hex(parser, &low)) {
        return false;
    }
    if (low < 0xDC00 || low > 0xDFFF) {
        return parser_fail(parser, "half of a surrogate pair");
    }
    *character = 0x10000 + ((*character - 0xD800) << 10) + (low - 0xDC00);
    return true;
}

static char *put_utf8(char *to, uint32_t character)
{
    int more = character < 0x80 ? 0 : character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
    static const unsigned char leads[] = {0x00, 0xC0, 0xE0, 0xF0};

    *to++ = (char)(leads[more] | character >> (6 * more));
    while (more-- > 0) {
        *to++ = (char)(0x80 | (character >> (6 * more) & 0x3F));
    }
    return to;
}

/* The part after a backslash. The character is shorter, so it is written over the input. */
static bool take_escape(struct parser *parser, char **to)
{
    static const char letters[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    const char *letter = *parser->at ? strchr(letters, *parser->at) : NULL;
    uint32_t character;

    if (letter) {
        *(*to)++ = bytes[letter - letters];
        parser->at++;
        return true;
    }
    if (*parser->at != 'u') {
        return parser_fail(parser, "no such escape");
    }
    parser->at++;
    if (!take_unit(parser, &character)) {
        return false;
    }
    *to = put_utf8(*to, character);
    return true;
}

/* The rest of a text from its first special byte on; it ends at `to`. */
static bool take_rest(struct parser *parser, char **to)
{
    while (*parser->at != '"') {
        uint32_t character;
        size_t size = text_character(parser->at, &character);

        if (*parser->at == '\\') {
            parser->at++;
            if (!take_escape(parser, to)) {
                return false;
            }
            continue;
        }
        if (size == 0 || character < ' ') {
            return parser_fail(parser, size ? "a control character in a text" : "invalid UTF-8");
        }
        memmove(*to, parser->at, size);
        *to += size;
        parser->at += size;
    }
    return true;
}

bool parser_text(struct parser *parser, struct tree_node *node)
{
    char *begin = parser->at + 1, *end = begin;

    while (plain[(unsigned char)*end]) {
        end++;
    }
    parser->at = end;
    if (*end != '"' && !take_rest(parser, &end)) {
        return false;
    }
    parser->at++;
    *end = '\0';
    *node = (struct tree_node){
        .text = begin, .size = (uint32_t)(end - begin), .type = TREE_TEXT, .span = 1};
    return true;
}
