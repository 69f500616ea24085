/* SPDX-License-Identifier: BSD-3-Clause */
#include "json/json_parser.h"

const char parser_no_memory[] = "no memory";

bool parser_fail(struct parser *parser, const char *what)
{
    parser->what = what;
    return false;
}
