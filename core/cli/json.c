/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/fields.h"
#include "record/tree.h"

void json_put_word(struct json_writer *json, const char *key, const char *text)
{
    if (*text) {
        json_put_text(json, key, text);
    }
}

int json_finish(struct json_writer *json)
{
    json_put_between(json, "\n");
    return json_flush(json) && errno == ENOMEM ? -1 : 0;
}

void json_put_error(struct json_writer *json, int error, const char *reason)
{
    const char *name = strerrorname_np(error);

    json_put_text(json, "errno", name ? name : "?");
    json_put_text(json, "reason", reason);
}

int json_print(json_t *value, int result)
{
    char *text = fields_text(value, result);

    if (!text) {
        return -1;
    }
    puts(text);
    free(text);
    return 0;
}
