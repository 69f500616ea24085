/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_JSON_REFEREE_H
#define TEST_JSON_REFEREE_H
/* jansson's opinion of a text, set against that of our reader. */
#include <jansson.h>
#include <stdbool.h>
#include <string.h>

#include "base/json.h"

static inline bool referee_same(const struct tree_node *node, const json_t *json);

static inline bool referee_same_elements(const struct tree_node *array, const json_t *json)
{
    const struct tree_node *node = array + 1;

    for (uint32_t i = 0; i < array->size; i++, node = tree_next(node)) {
        if (!referee_same(node, json_array_get(json, i))) {
            return false;
        }
    }
    return json_array_size(json) == array->size;
}

static inline bool referee_same_members(const struct tree_node *object, const json_t *json)
{
    const struct tree_node *key = object + 1;

    for (uint32_t i = 0; i < object->size; i++, key = tree_next(key + 1)) {
        if (key->type != TREE_TEXT || strlen(key->text) != key->size ||
            !referee_same(key + 1, json_object_get(json, key->text)) ||
            tree_get(object, key->text) != key + 1) {
            return false;
        }
    }
    return json_object_size(json) == object->size;
}

/* Bit for bit: -0.0 is not 0.0. */
static inline bool referee_same_real(double value, const json_t *json)
{
    const double expected = json_real_value(json);

    return json_is_real(json) && memcmp(&value, &expected, sizeof(value)) == 0;
}

static inline bool referee_same(const struct tree_node *node, const json_t *json)
{
    switch ((enum tree_type)node->type) {
    case TREE_NULL:
        return json_is_null(json);
    case TREE_FALSE:
        return json_is_false(json);
    case TREE_TRUE:
        return json_is_true(json);
    case TREE_INTEGER:
        return json_is_integer(json) && json_integer_value(json) == node->integer;
    case TREE_REAL:
        return referee_same_real(node->real, json);
    case TREE_TEXT:
        return json_is_string(json) && json_string_length(json) == node->size &&
               strcmp(json_string_value(json), node->text) == 0;
    case TREE_ARRAY:
        return json_is_array(json) && referee_same_elements(node, json);
    case TREE_OBJECT:
        return json_is_object(json) && referee_same_members(node, json);
    }
    return false;
}

/* How many arrays and objects are open at once; right for all that is JSON. */
static inline unsigned referee_depth(const char *text, size_t size)
{
    unsigned depth = 0, deepest = 0;
    bool quoted = false;

    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\\') {
            i += quoted;
        } else if (text[i] == '"') {
            quoted = !quoted;
        } else if (!quoted && (text[i] == '[' || text[i] == '{')) {
            deepest = ++depth > deepest ? depth : deepest;
        } else if (!quoted && (text[i] == ']' || text[i] == '}')) {
            depth -= depth > 0;
        }
    }
    return deepest;
}

/**
 * @return whether both take the text and read the same from it, or none takes it. Our reader alone
 *         refuses what is nested too deeply for it, and a NUL behind a number, which jansson
 *         overlooks.
 */
static inline bool referee_agrees(struct tree *tree, const char *text, size_t size)
{
    struct tree_problem problem = {"", 0, 0};
    json_t *json = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    bool taken = tree_parse(tree, text, size, &problem) == 0;
    bool agrees = taken ? json && referee_same(tree->nodes, json) : !json;

    if (memchr(text, '\0', size) || referee_depth(text, size) > TREE_DEPTH_MAX) {
        agrees = !taken;
    }
    json_decref(json);
    return agrees && (taken || (*problem.what && problem.line > 0 && problem.column > 0));
}

#endif
