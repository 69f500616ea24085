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
                   field_put_text(object, "reason", reason)
               ? -1
               : 0;
}

int json_add(json_t *array, json_t *element, int result)
{
    if (result || !element) {
        json_decref(element);
        return -1;
    }
    return json_array_append_new(array, element);
}

int json_print(json_t *value)
{
    char *text =
        value ? json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(FIELD_FIGURES)) : NULL;

    json_decref(value);
    if (!text) {
        return -1;
    }
    puts(text);
    free(text);
    return 0;
}
