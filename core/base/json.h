/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_JSON_H
#define APAPI_BASE_JSON_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* --- reading -------------------------------------------------------------------------------- */

/*
 * A JSON text as values in one array, in the order of the text. As strict as jansson with
 * JSON_REJECT_DUPLICATES: valid UTF-8, no U+0000, integers of 64 bits, other numbers as the nearest
 * double in any locale, no infinity.
 */

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

#define TREE_DEPTH_MAX 64               /* nesting of arrays and objects */
#define TREE_SIZE_MAX ((size_t)1 << 28) /* bytes of a text */

/** All zero before the first text. One thread at a time. */
struct tree {
    struct tree_node *nodes; /* the first is the root */
    char *text;              /* the copy that the nodes point to */
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

/** Free what `tree` owns, and set it to zeros. */
void tree_free(struct tree *tree);

/** @return the value of a key; NULL: no such key, or `object` is not an object. NULL is allowed. */
const struct tree_node *tree_get(const struct tree_node *object, const char *key);

/** @return whether `node` is this key. Most keys differ in the first letter: compare it first. */
static inline bool tree_is_key(const struct tree_node *node, const char *key)
{
    return *node->text == *key && strcmp(node->text, key) == 0;
}

/** @return whether the node exists and has this type. NULL is allowed. */
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
    if (!node || !tree_is_number(node)) {
        return 0;
    }
    return node->type == TREE_REAL ? node->real : (double)node->integer;
}

/** @return the next sibling of a value, which must not be the last one; the value of a key. */
static inline const struct tree_node *tree_next(const struct tree_node *node)
{
    return node + node->span;
}

/**
 * @return the element of an array, or the key of an object, after `at`, or the first one if `at` is
 *         NULL; NULL: `at` was the last one, or `node` is NULL or neither array nor object
 */
static inline const struct tree_node *tree_each(const struct tree_node *node,
                                                const struct tree_node *at)
{
    const struct tree_node *next = NULL;

    if (tree_is(node, TREE_ARRAY)) {
        next = at ? tree_next(at) : node + 1;
    } else if (tree_is(node, TREE_OBJECT)) {
        next = at ? tree_next(at + 1) : node + 1;
    }
    return next && next < node + node->span ? next : NULL;
}

/* --- writing -------------------------------------------------------------------------------- */

/**
 * A JSON text as it is written, in one line. All zero, except `out`, before the first value. After
 * a failure (no memory) all calls do nothing, and json_flush() or json_take() returns the error.
 * One thread at a time.
 *
 *     struct json_writer json = {.out = stdout};
 *
 *     json_begin_object(&json, NULL);
 *     json_put_text(&json, "node", "n1");
 *     json_begin_array(&json, "joules");
 *     json_put_number(&json, NULL, 12.5, JSON_MEASURED);
 *     json_end(&json);
 *     json_end(&json);
 *     failed = json_flush(&json);                            -> {"node":"n1","joules":[12.5]}
 */
struct json_writer {
    FILE *out;  /* gets the text in portions; NULL: the text stays in memory */
    char *text; /* with a NUL at `size`; NULL: nothing yet */
    size_t size, room;
    unsigned depth;   /* number of open arrays and objects, at most TREE_DEPTH_MAX */
    uint64_t arrays;  /* a bit for each level: 1: an array; 0: an object */
    bool begun;       /* the innermost array or object has an element */
    bool outer_begun; /* `begun` before the latest array or object was opened */
    size_t opened;    /* `size` before it was opened, with its comma and key */
    int error;        /* errno of the first failure; 0: none */
};

/* Significant digits of numbers. */
#define JSON_EXACT 15 /* a double keeps every decimal number with so many digits */
#define JSON_MEASURED 9
#define JSON_ROUGH 6

/*
 * Each function writes one value. Within an object it has a key, which must be a literal or valid
 * UTF-8; within an array and outside of both, `key` is NULL.
 */
void json_begin_object(struct json_writer *json, const char *key);
void json_begin_array(struct json_writer *json, const char *key);

/** Close the innermost array or object. */
void json_end(struct json_writer *json);

/** Close the innermost array or object; one without an element is removed, with its key. */
void json_end_or_drop(struct json_writer *json);

/** Write a text. Invalid UTF-8 becomes '?'; control characters of terminals become \u escapes. */
void json_put_text(struct json_writer *json, const char *key, const char *text);

/** Write at most `figures` digits. A number that is not finite is left out, or null in an array. */
void json_put_number(struct json_writer *json, const char *key, double value, int figures);

void json_put_integer(struct json_writer *json, const char *key, int64_t value);

/** Write a number; above INT64_MAX it is a string of decimal digits. */
void json_put_count(struct json_writer *json, const char *key, uint64_t count);

/** Write a time as "2026-11-21T11:20:01.123456789Z". */
void json_put_moment(struct json_writer *json, const char *key, int64_t unix_ns);

void json_put_flag(struct json_writer *json, const char *key, bool value);

/**
 * Write the text in memory to `out` and free it. The writer is as before the first value again.
 * @return 0; -1 with errno ENOMEM, or what failed for `out`
 */
int json_flush(struct json_writer *json);

/**
 * Take the text of a writer without `out`. The writer is as before the first value again.
 * @return the text, for free(); NULL: errno is ENOMEM
 */
char *json_take(struct json_writer *json);

/** @return the value, rounded to `figures` significant digits. */
double json_rounded(double value, int figures);

#endif
