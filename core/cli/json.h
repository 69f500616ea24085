/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_CLI_JSON_H
#define APAPI_CLI_JSON_H
#include <jansson.h>

/* What the subcommands write as JSON. All return 0; -1 without memory. */

/** "errno": "EACCES", "reason": the text. */
int json_put_error(json_t *object, int error, const char *reason);

/** Append what was made, `result` being 0 if it is whole. Takes `element`, which may be NULL, away.
 */
int json_add(json_t *array, json_t *element, int result);

/** One line on standard output. Takes `value`, which may be NULL, away. */
int json_print(json_t *value);

#endif
