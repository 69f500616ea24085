/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_JSON_PARSER_H
#define APAPI_JSON_PARSER_H
#include "json/json_node.h"

/* The parser reads a copy that ends with a NUL. No rule of JSON accepts a NUL. */
struct parser {
    char *at;
    struct tree_node *free; /* after the last value */
    struct tree_node
        *open; /* the innermost open array or object; its span leads to the one around it */
    unsigned depth;
    const char *what; /* what is wrong at `at` */
};

extern const char parser_no_memory[];

/** @return false. @param what  static storage */
bool parser_fail(struct parser *parser, const char *what);

#endif
