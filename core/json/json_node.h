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

/** A value. Those of an array stand behind it; of an object key, value, key, value. */
struct tree_node {
    union {
        int64_t integer;
        double real;
        const char *text; /* without escapes, with a NUL */
    };
    uint32_t size;      /* bytes of a text; elements of an array; members of an object */
    uint32_t type : 3;  /* enum tree_type */
    uint32_t span : 29; /* nodes from here to the next value beside it */
};

/** Is it that key? Nearly all others begin with another letter. */
static inline bool tree_is_key(const struct tree_node *node, const char *key)
{
    return *node->text == *key && strcmp(node->text, key) == 0;
}

/** Is it there, and of this type? NULL is allowed. */
static inline bool tree_is(const struct tree_node *node, enum tree_type type)
{
    return node && node->type == type;
}

static inline bool tree_is_number(const struct tree_node *node)
{
    return tree_is(node, TREE_INTEGER) || tree_is(node, TREE_REAL);
}

/** @return a number; 0: it is none. NULL is allowed. */
static inline double tree_number(const struct tree_node *node)
{
    if (tree_is(node, TREE_REAL)) {
        return node->real;
    }
    return tree_is(node, TREE_INTEGER) ? (double)node->integer : 0;
}

/** The first element of an array, the first key of an object; not to be read if there is none. */
static inline const struct tree_node *tree_first(const struct tree_node *node)
{
    return node + 1;
}

/** What stands behind a value beside it, or the value of a key; not to be read behind the last. */
static inline const struct tree_node *tree_next(const struct tree_node *node)
{
    return node + node->span;
}

#endif
