/* SPDX-License-Identifier: BSD-3-Clause */
#include "json/json_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "json/json_number.h"
#include "json/json_parser.h"
#include "json/json_text.h"

#define SPAN_MASK 0x1FFFFFFFU
#define FEW 64 /* up to here, keys are compared pairwise */

/* --- keys ----------------------------------------------------------------------------------- */

static int compare_keys(const void *left, const void *right)
{
    const struct tree_node *const *a = left, *const *b = right;

    return strcmp((*a)->text, (*b)->text);
}

static bool many_differ(struct parser *parser, const struct tree_node *object)
{
    const struct tree_node **keys = reallocarray(NULL, object->size, sizeof(void *));
    const struct tree_node *key = tree_first(object);
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

/* A hash that is different for most keys. */
static uint32_t json_tree_mark_of(const struct tree_node *key)
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
    const struct tree_node *keys[FEW], *key = tree_first(object);

    for (uint32_t i = 0; i < object->size; i++, key = tree_next(key + 1)) {
        keys[i] = key;
        marks[i] = json_tree_mark_of(key);
        for (uint32_t k = 0; k < i; k++) {
            if (marks[k] == marks[i] && strcmp(keys[k]->text, key->text) == 0) {
                return parser_fail(parser, "duplicate object key");
            }
        }
    }
    return true;
}

static bool keys_differ(struct parser *parser, const struct tree_node *object)
{
    return object->size <= FEW ? few_differ(parser, object) : many_differ(parser, object);
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

static bool json_tree_take_word(struct parser *parser, struct tree_node *node)
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
    if (node->type == TREE_OBJECT && !keys_differ(parser, node)) {
        return false;
    }
    parser->depth--;
    parser->at++;
    return true;
}

/* A whole value, or the start of an object or array. */
static bool take_value(struct parser *parser)
{
    struct tree_node *node = parser->free++;

    switch (skip_space(parser)) {
    case '{':
        return open_node(parser, node, TREE_OBJECT);
    case '[':
        return open_node(parser, node, TREE_ARRAY);
    case '"':
        return parser_text(parser, node);
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
        return parser_number(parser, node);
    default:
        return json_tree_take_word(parser, node);
    }
}

/* After the opening bracket or an element: the next element, or the closing bracket. */
static bool take_element(struct parser *parser)
{
    char byte = skip_space(parser);

    if (byte == ']') {
        return close_node(parser);
    }
    if (parser->open->size++ > 0) {
        if (byte != ',') {
            return parser_fail(parser, "',' or ']' is expected");
        }
        parser->at++;
    }
    return take_value(parser);
}

static bool take_member(struct parser *parser)
{
    char byte = skip_space(parser);

    if (byte == '}') {
        return close_node(parser);
    }
    if (parser->open->size++ > 0) {
        if (byte != ',') {
            return parser_fail(parser, "',' or '}' is expected");
        }
        parser->at++;
        byte = skip_space(parser);
    }
    if (byte != '"') {
        return parser_fail(parser, "a key in quotes is expected");
    }
    if (!parser_text(parser, parser->free++)) {
        return false;
    }
    if (skip_space(parser) != ':') {
        return parser_fail(parser, "':' is expected");
    }
    parser->at++;
    return take_value(parser);
}

static bool take_all(struct parser *parser, const char *end)
{
    char byte = skip_space(parser);

    if (byte != '[' && byte != '{') {
        return parser_fail(parser, "'[' or '{' is expected");
    }
    take_value(parser);
    while (parser->open) {
        if (!(parser->open->type == TREE_OBJECT ? take_member : take_element)(parser)) {
            return false;
        }
    }
    skip_space(parser);
    return parser->at == end || parser_fail(parser, "end of file expected");
}

/* --- the whole ------------------------------------------------------------------------------ */

/* Upper bound of the number of nodes: each value except the first has a byte before it. */
static size_t json_tree_nodes_of(size_t size)
{
    return size / 2 + TREE_DEPTH_MAX + 2;
}

static int json_tree_reserve(struct tree *tree, size_t size)
{
    if (tree->room > size) {
        return 0;
    }
    tree_free(tree);
    tree->nodes = malloc(json_tree_nodes_of(size) * sizeof(*tree->nodes) + size + 1);
    if (!tree->nodes) {
        return -1;
    }
    tree->text = (char *)(tree->nodes + json_tree_nodes_of(size));
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
    if (parser->what == parser_no_memory) {
        errno = ENOMEM;
        return -1;
    }
    problem->what = offset == size ? "premature end of the text" : parser->what;
    locate(text, offset, problem);
    errno = EINVAL;
    return -1;
}

int tree_parse(struct tree *tree, const char *text, size_t size, struct tree_problem *problem)
{
    struct parser parser = {.what = "too long"};

    if (size > TREE_SIZE_MAX) {
        return set_problem(&parser, text, 0, size, problem);
    }
    if (json_tree_reserve(tree, size)) {
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
    const struct tree_node *node;

    if (!tree_is(object, TREE_OBJECT)) {
        return NULL;
    }
    node = tree_first(object);
    for (uint32_t i = 0; i < object->size; i++, node = tree_next(node + 1)) {
        if (tree_is_key(node, key)) {
            return node + 1;
        }
    }
    return NULL;
}
