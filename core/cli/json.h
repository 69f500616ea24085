/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_CLI_JSON_H
#define APAPI_CLI_JSON_H
#include <jansson.h>

/* JSON output of the subcommands. All return 0; otherwise out of memory. */

/** Put "errno": "EACCES" and "reason": the text. */
int json_put_error(json_t *object, int error, const char *reason);

/** Print one line to standard output if `result` is 0. Steals the reference to `value`. */
int json_print(json_t *value, int result);

#endif
