/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "base/text.h"

#define SPAN_MASK 0x1FFFFFFFU
#define FEW 64 /* up to so many keys of an object are compared pairwise */

/* The parser reads a copy that ends with a NUL. No rule of JSON accepts a NUL. */
struct parser {
    char *at;
    struct tree_node *free; /* the node after the last value */
    struct tree_node
        *open; /* the innermost open array or object; its span leads to the one around it */
    unsigned depth;
    const char *what; /* what is wrong at `at` */
};

static const char parser_no_memory[] = "no memory";

static bool parser_fail(struct parser *parser, const char *what)
{
    parser->what = what;
    return false;
}

/* --- numbers -------------------------------------------------------------------------------- */

struct decimal {
    const char *begin;
    bool negative;
    size_t count;    /* number of digits */
    uint64_t digits; /* their value; correct for up to NUMBER_DIGITS_MAX digits */
    int exponent;
};

#define NUMBER_DIGITS_MAX 19
#define INTEGER_DIGITS_MAX 18
#define EXPONENT_MAX 1000000 /* a greater exponent changes nothing */

static size_t take_digits(struct parser *parser, struct decimal *number)
{
    uint64_t digits = number->digits;
    char *at = parser->at;
    size_t count;

    for (; *at >= '0' && *at <= '9'; at++) {
        digits = digits * 10 + (uint64_t)(*at - '0');
    }
    count = (size_t)(at - parser->at);
    number->digits = digits;
    number->count += count;
    parser->at = at;
    return count;
}

static bool take_integer(struct parser *parser, const struct decimal *number,
                         struct tree_node *node)
{
    int64_t value = (int64_t)number->digits;

    if (number->count > INTEGER_DIGITS_MAX) {
        errno = 0;
        value = strtoll(number->begin, NULL, 10);
        if (errno) {
            return parser_fail(parser, "a whole number of more than 64 bits");
        }
    } else if (number->negative) {
        value = -value;
    }
    *node = (struct tree_node){.integer = value, .type = TREE_INTEGER, .span = 1};
    return true;
}

/* Read an exponent, which needs at least one digit. */
static bool take_exponent(struct parser *parser, struct decimal *number)
{
    int exponent = 0, sign = 1;

    parser->at++;
    if (*parser->at == '-' || *parser->at == '+') {
        sign = *parser->at++ == '-' ? -1 : 1;
    }
    if (*parser->at < '0' || *parser->at > '9') {
        return parser_fail(parser, "a digit is expected");
    }
    for (; *parser->at >= '0' && *parser->at <= '9'; parser->at++) {
        exponent = exponent < EXPONENT_MAX ? exponent * 10 + (*parser->at - '0') : exponent;
    }
    number->exponent += sign * exponent;
    return true;
}

/*
 * Digits and power are exact doubles, so their product or quotient is rounded only once: to the
 * nearest double. (Clinger, How to read floating point numbers accurately, 1990.)
 */
static bool is_exact(const struct decimal *number)
{
    return FLT_EVAL_METHOD == 0 && number->count <= NUMBER_DIGITS_MAX &&
           number->digits <= 1ULL << 53 && number->exponent >= -22 && number->exponent <= 22;
}

static double exact(const struct decimal *number)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    double digits = (double)number->digits;
    double value = number->exponent < 0 ? digits / powers[-number->exponent]
                                        : digits * powers[number->exponent];

    return number->negative ? -value : value;
}

/* Read a number in the C locale: the decimal point must not depend on the locale. */
static bool take_inexact(struct parser *parser, const struct decimal *number, double *value)
{
    locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);

    if (!locale) {
        return parser_fail(parser, parser_no_memory);
    }
    *value = strtod_l(number->begin, NULL, locale);
    freelocale(locale);
    return isfinite(*value) || parser_fail(parser, "real number overflow");
}

static bool take_real(struct parser *parser, struct decimal *number, struct tree_node *node)
{
    double value = 0;

    if (*parser->at == '.') {
        size_t before = number->count;

        parser->at++;
        if (take_digits(parser, number) == 0) {
            return parser_fail(parser, "a digit is expected");
        }
        number->exponent = -(int)(number->count - before);
    }
    if ((*parser->at | 0x20) == 'e' && !take_exponent(parser, number)) {
        return false;
    }
    if (is_exact(number)) {
        value = exact(number);
    } else if (!take_inexact(parser, number, &value)) {
        return false;
    }
    *node = (struct tree_node){.real = value, .type = TREE_REAL, .span = 1};
    return true;
}

static bool take_number(struct parser *parser, struct tree_node *node)
{
    struct decimal number = {.begin = parser->at, .negative = *parser->at == '-'};

    parser->at += number.negative;
    if (*parser->at == '0') { /* no digit may follow */
        parser->at++;
        number.count = 1;
    } else if (take_digits(parser, &number) == 0) {
        return parser_fail(parser, "a digit is expected");
    }
    if (*parser->at == '.' || (*parser->at | 0x20) == 'e') {
        return take_real(parser, &number, node);
    }
    return take_integer(parser, &number, node);
}

/* --- texts ---------------------------------------------------------------------------------- */

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

/* Read the part after "\u". */
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

/* Read the part after a backslash. The character is shorter, so it is written over the input. */
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

/* Read the rest of a text from its first special byte on; the unescaped text ends at `to`. */
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

static bool take_text(struct parser *parser, struct tree_node *node)
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

/* --- keys ----------------------------------------------------------------------------------- */

static int compare_keys(const void *left, const void *right)
{
    const struct tree_node *const *a = left, *const *b = right;

    return strcmp((*a)->text, (*b)->text);
}

static bool many_differ(struct parser *parser, const struct tree_node *object)
{
    const struct tree_node **keys = reallocarray(NULL, object->size, sizeof(void *));
    const struct tree_node *key = object + 1;
    bool differ = true;

    if (!keys) {
        return parser_fail(parser, parser_no_memory);
    }
    for (uint32_t i = 0; i < object->size; i++, key = tree_next(key + 1)) {
        keys[i] = key;
    }
    qsort(keys, object->size, sizeof(void *), compare_keys);
    for (uint32_t i = 1; i < object->size; i++) {
        differ = differ && compare_keys(&keys[i - 1], &keys[i]) != 0;
    }
    free(keys);
    return differ || parser_fail(parser, "duplicate object key");
}

/* @return a hash that is different for most keys. */
static uint32_t mark_of(const struct tree_node *key)
{
    const unsigned char *bytes = (const unsigned char *)key->text;
    uint32_t size = key->size;

    if (size == 0) {
        return 0;
    }
    return size << 24 | (uint32_t)bytes[0] << 16 | (uint32_t)bytes[size / 2] << 8 | bytes[size - 1];
}

static bool few_differ(struct parser *parser, const struct tree_node *object)
{
    uint32_t marks[FEW];
    const struct tree_node *keys[FEW], *key = object + 1;

    for (uint32_t i = 0; i < object->size; i++, key = tree_next(key + 1)) {
        keys[i] = key;
        marks[i] = mark_of(key);
        for (uint32_t k = 0; k < i; k++) {
            if (marks[k] == marks[i] && strcmp(keys[k]->text, key->text) == 0) {
                return parser_fail(parser, "duplicate object key");
            }
        }
    }
    return true;
}

/* --- values --------------------------------------------------------------------------------- */

static char skip_space(struct parser *parser)
{
    while (*parser->at == ' ' || *parser->at == '\n' || *parser->at == '\t' ||
           *parser->at == '\r') {
        parser->at++;
    }
    return *parser->at;
}

static bool take_word(struct parser *parser, struct tree_node *node)
{
    static const struct {
        const char *word;
        size_t size;
        enum tree_type type;
    } words[] = {{"null", 4, TREE_NULL}, {"true", 4, TREE_TRUE}, {"false", 5, TREE_FALSE}};

    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (strncmp(parser->at, words[i].word, words[i].size) == 0) {
            *node = (struct tree_node){.type = words[i].type, .span = 1};
            parser->at += words[i].size;
            return true;
        }
    }
    return parser_fail(parser, "a value is expected");
}

static bool open_node(struct parser *parser, struct tree_node *node, enum tree_type type)
{
    uint32_t outwards = parser->open ? (uint32_t)(node - parser->open) : 0;

    if (parser->depth == TREE_DEPTH_MAX) {
        return parser_fail(parser, "too deeply nested");
    }
    *node = (struct tree_node){.type = type, .span = outwards & SPAN_MASK};
    parser->open = node;
    parser->depth++;
    parser->at++;
    return true;
}

static bool close_node(struct parser *parser)
{
    struct tree_node *node = parser->open;

    parser->open = node->span ? node - node->span : NULL;
    node->span = (uint32_t)(parser->free - node) & SPAN_MASK;
    if (node->type == TREE_OBJECT &&
        !(node->size <= FEW ? few_differ : many_differ)(parser, node)) {
        return false;
    }
    parser->depth--;
    parser->at++;
    return true;
}

/* Read a whole value, or the start of an object or array. */
static bool take_value(struct parser *parser)
{
    struct tree_node *node = parser->free++;

    switch (skip_space(parser)) {
    case '{':
        return open_node(parser, node, TREE_OBJECT);
    case '[':
        return open_node(parser, node, TREE_ARRAY);
    case '"':
        return take_text(parser, node);
    case '-':
    case '0' ... '9':
        return take_number(parser, node);
    default:
        return take_word(parser, node);
    }
}

/* Read a key and its colon. */
static bool take_key(struct parser *parser)
{
    if (skip_space(parser) != '"') {
        return parser_fail(parser, "a key in quotes is expected");
    }
    if (!take_text(parser, parser->free++)) {
        return false;
    }
    if (skip_space(parser) != ':') {
        return parser_fail(parser, "':' is expected");
    }
    parser->at++;
    return true;
}

/* Read the next element or member of the open array or object, or its closing bracket. */
static bool take_next(struct parser *parser)
{
    bool object = parser->open->type == TREE_OBJECT;
    char byte = skip_space(parser);

    if (byte == (object ? '}' : ']')) {
        return close_node(parser);
    }
    if (parser->open->size++ > 0) {
        if (byte != ',') {
            return parser_fail(parser,
                               object ? "',' or '}' is expected" : "',' or ']' is expected");
        }
        parser->at++;
    }
    return (!object || take_key(parser)) && take_value(parser);
}

static bool take_all(struct parser *parser, const char *end)
{
    char byte = skip_space(parser);

    if (byte != '[' && byte != '{') {
        return parser_fail(parser, "'[' or '{' is expected");
    }
    take_value(parser);
    while (parser->open) {
        if (!take_next(parser)) {
            return false;
        }
    }
    skip_space(parser);
    return parser->at == end || parser_fail(parser, "end of file expected");
}

/* --- the whole ------------------------------------------------------------------------------ */

static int reserve(struct tree *tree, size_t size)
{
    /* the most values of a text: each value except the first has a byte before it */
    size_t count = size / 2 + TREE_DEPTH_MAX + 2;

    if (tree->room > size) {
        return 0;
    }
    tree_free(tree);
    tree->nodes = malloc(count * sizeof(*tree->nodes) + size + 1);
    if (!tree->nodes) {
        return -1;
    }
    tree->text = (char *)(tree->nodes + count);
    tree->room = size + 1;
    return 0;
}

static void locate(const char *text, size_t offset, struct tree_problem *problem)
{
    problem->line = problem->column = 1;
    for (size_t i = 0; i < offset; i++) {
        if (text[i] == '\n') {
            problem->line++;
            problem->column = 1;
        } else {
            problem->column += (text[i] & 0xC0) != 0x80;
        }
    }
}

static int set_problem(const struct parser *parser, const char *text, size_t offset, size_t size,
                       struct tree_problem *problem)
{
    errno = parser->what == parser_no_memory ? ENOMEM : EINVAL;
    problem->what = offset == size ? "premature end of the text" : parser->what;
    locate(text, offset, problem);
    return -1;
}

int tree_parse(struct tree *tree, const char *text, size_t size, struct tree_problem *problem)
{
    struct parser parser = {.what = "too long"};

    if (size > TREE_SIZE_MAX) {
        return set_problem(&parser, text, 0, size, problem);
    }
    if (reserve(tree, size)) {
        errno = ENOMEM;
        return -1;
    }
    memcpy(tree->text, text, size);
    tree->text[size] = '\0';
    parser.at = tree->text;
    parser.free = tree->nodes;
    if (take_all(&parser, tree->text + size)) {
        return 0;
    }
    return set_problem(&parser, text, (size_t)(parser.at - tree->text), size, problem);
}

void tree_free(struct tree *tree)
{
    free(tree->nodes);
    *tree = (struct tree){0};
}

const struct tree_node *tree_get(const struct tree_node *object, const char *key)
{
    const struct tree_node *node = NULL;

    while (tree_is(object, TREE_OBJECT) && (node = tree_each(object, node))) {
        if (tree_is_key(node, key)) {
            return node + 1;
        }
    }
    return NULL;
}
