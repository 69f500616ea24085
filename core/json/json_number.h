/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_JSON_NUMBER_H
#define APAPI_JSON_NUMBER_H
#include "json/json_parser.h"

/** Read into `node`: a number, at its sign or first digit; goes behind it. @return false after
 * parser_fail() */
bool parser_number(struct parser *parser, struct tree_node *node);

#endif
