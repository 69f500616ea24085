/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_JSON_TREE_H
#define APAPI_JSON_TREE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * A JSON text as values in one array, in the order of the text. As strict as jansson with
 * JSON_REJECT_DUPLICATES: valid UTF-8, no U+0000, whole numbers of 64 bits, other numbers as the
 * nearest double, whatever the locale, and no infinite ones.
 */

#define TREE_DEPTH_MAX 64               /* arrays and objects within each other */
#define TREE_SIZE_MAX ((size_t)1 << 28) /* bytes of a text */

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

/** Zeroed before the first text; one thread at a time. */
struct tree {
    struct tree_node *nodes; /* the first is the whole text */
    char *text;              /* a copy */
    size_t room;             /* bytes of the longest text so far, with its NUL */
};

/** Why a text is no JSON. */
struct tree_problem {
    const char *what;    /* static storage */
    size_t line, column; /* from 1; columns are characters */
};

/**
 * Read a text that is an object or an array. What the tree held before is gone.
 * @return 0; -1 with errno EINVAL (see `problem`), ENOMEM.
 */
int tree_parse(struct tree *tree, const char *text, size_t size, struct tree_problem *problem);

/** Free and zero. */
void tree_free(struct tree *tree);

/** Is it that key? Nearly all others begin with another letter. */
static inline bool tree_is_key(const struct tree_node *node, const char *key)
{
    return *node->text == *key && strcmp(node->text, key) == 0;
}

/** @return the value of a key; NULL: there is none, or `object` is NULL or none. */
const struct tree_node *tree_get(const struct tree_node *object, const char *key);

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
