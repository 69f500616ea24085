/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_PROGRAM_JSON_H
#define APAPI_PROGRAM_JSON_H
#include <jansson.h>

/* What the subcommands write as JSON. All return 0; -1 without memory. */

/** "errno": "EACCES", "reason": the text. */
int json_put_error(json_t *object, int error, const char *reason);

/** One line on standard output. Takes `value`, which may be NULL, away. */
int json_print(json_t *value);

#endif
