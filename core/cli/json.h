/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_CLI_JSON_H
#define APAPI_CLI_JSON_H
#include <jansson.h>

#include "base/json.h"

/* JSON output of the subcommands. */

/** Put a text; "": none, no member. */
void json_put_word(struct json_writer *json, const char *key, const char *text);

/** End the line and write what is left. 0; -1: out of memory. command_finish() reports other
 * errors.
 */
int json_finish(struct json_writer *json);

/** Put "errno": "EACCES" and "reason": the text. */
void json_put_error(struct json_writer *json, int error, const char *reason);

/** Print one line to standard output if `result` is 0. Steals the reference to `value`. 0; -1 */
int json_print(json_t *value, int result);

#endif
