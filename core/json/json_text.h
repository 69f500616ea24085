/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_JSON_TEXT_H
#define APAPI_JSON_TEXT_H
#include "json/json_parser.h"

/** Read a text into `node`, at its first quote. @return false after parser_fail(). */
bool parser_text(struct parser *parser, struct tree_node *node);

#endif
