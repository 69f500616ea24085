/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_JSON_NODE_H
#define APAPI_JSON_NODE_H
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum tree_type {
    TREE_NULL,
    TREE_FALSE,
    TREE_TRUE,
    TREE_INTEGER,
    TREE_REAL, /* a number with a fraction or an exponent */
    TREE_TEXT,
    TREE_ARRAY,
    TREE_OBJECT
};

/** A value. Elements of an array follow it; members of an object as key, value, key, value. */
struct tree_node {
    union {
        int64_t integer;
        double real;
        const char *text; /* unescaped, with a NUL */
    };
    uint32_t size;      /* bytes of a text; elements of an array; members of an object */
    uint32_t type : 3;  /* enum tree_type */
    uint32_t span : 29; /* nodes from here to its next sibling */
};

/** Compare a key. Most other keys differ in the first letter. */
static inline bool tree_is_key(const struct tree_node *node, const char *key)
{
    return *node->text == *key && strcmp(node->text, key) == 0;
}

/** Whether the node exists and has this type. NULL is allowed. */
static inline bool tree_is(const struct tree_node *node, enum tree_type type)
{
    return node && node->type == type;
}

static inline bool tree_is_number(const struct tree_node *node)
{
    return tree_is(node, TREE_INTEGER) || tree_is(node, TREE_REAL);
}

/** @return a number; 0: not a number. NULL is allowed. */
static inline double tree_number(const struct tree_node *node)
{
    if (tree_is(node, TREE_REAL)) {
        return node->real;
    }
    return tree_is(node, TREE_INTEGER) ? (double)node->integer : 0;
}

/** The first element of an array, or the first key of an object. It must not be empty. */
static inline const struct tree_node *tree_first(const struct tree_node *node)
{
    return node + 1;
}

/** The next sibling of a value, or the value of a key. Must not be called for the last one. */
static inline const struct tree_node *tree_next(const struct tree_node *node)
{
    return node + node->span;
}

#endif
