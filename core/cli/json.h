/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_CLI_JSON_H
#define APAPI_CLI_JSON_H
#include <jansson.h>

/* JSON output of the subcommands. All return 0; -1: out of memory. */

/** Put "errno": "EACCES" and "reason": the text. */
int json_put_error(json_t *object, int error, const char *reason);

/** Append an element if `result` is 0. Steals the reference to `element`. NULL is allowed. */
int json_add(json_t *array, json_t *element, int result);

/** Print one line to standard output. Steals the reference to `value`. NULL is allowed. */
int json_print(json_t *value);

#endif
