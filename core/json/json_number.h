/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_JSON_NUMBER_H
#define APAPI_JSON_NUMBER_H
#include "json/json_parser.h"

/** Read a number into `node`, at its sign or first digit. @return false after parser_fail(). */
bool parser_number(struct parser *parser, struct tree_node *node);

#endif
