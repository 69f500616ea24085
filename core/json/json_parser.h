/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_JSON_PARSER_H
#define APAPI_JSON_PARSER_H
#include "json/json_node.h"

/* The copy is read up to its NUL, in which every rule of JSON comes to an end. */
struct parser {
    char *at;
    struct tree_node *free; /* behind the last value */
    struct tree_node *open; /* the innermost array or object, its span that to the next outer one */
    unsigned depth;
    const char *what; /* is wrong at `at` */
};

extern const char parser_no_memory[];

/** @return false. @param what  static storage */
bool parser_fail(struct parser *parser, const char *what);

#endif
