/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_JSON_TREE_H
#define APAPI_JSON_TREE_H
#include <stddef.h>

#include "json/json_node.h"

/*
 * A JSON text as values in one array, in the order of the text. As strict as jansson with
 * JSON_REJECT_DUPLICATES: valid UTF-8, no U+0000, integers of 64 bits, other numbers as the nearest
 * double in any locale, no infinity.
 */

#define TREE_DEPTH_MAX 64               /* nesting of arrays and objects */
#define TREE_SIZE_MAX ((size_t)1 << 28) /* bytes of a text */

/** All zero before the first text. One thread at a time. */
struct tree {
    struct tree_node *nodes; /* the first is the root */
    char *text;              /* a copy */
    size_t room;             /* bytes of the longest text so far, with its NUL */
};

/** Why a text is not valid JSON. */
struct tree_problem {
    const char *what;    /* static storage */
    size_t line, column; /* from 1; columns are characters */
};

/**
 * Parse a text that is an object or an array. Replaces the previous content of the tree.
 * @return 0; -1 with errno EINVAL (see `problem`), ENOMEM.
 */
int tree_parse(struct tree *tree, const char *text, size_t size, struct tree_problem *problem);

/** Free and zero. */
void tree_free(struct tree *tree);

/** @return the value of a key; NULL: no such key, or `object` is not an object. NULL is allowed. */
const struct tree_node *tree_get(const struct tree_node *object, const char *key);

#endif
