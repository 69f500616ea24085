/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/fields.h"

int json_put_error(json_t *object, int error, const char *reason)
{
    const char *name = strerrorname_np(error);

    return field_put_text(object, "errno", name ? name : "?") ||
           field_put_text(object, "reason", reason);
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
