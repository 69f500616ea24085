/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/known.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "apapi/interval.h"
#include "apapi/session.h"

int known_components(char *list, struct apapi_error *err)
{
    char word[APAPI_COMPONENT_SIZE];
    size_t kept = 0, length;

    for (const char *rest = list; *rest; rest += length + (rest[length] == ':')) {
        length = strcspn(rest, ":");
        snprintf(word, sizeof word, "%.*s", (int)length, rest);
        if (apapi_components_check(word, err) == 0) {
            if (kept > 0) {
                list[kept++] = ':';
            }
            memmove(list + kept, rest, length);
            kept += length;
        }
    }
    list[kept] = '\0';
    errno = ENOENT;
    return kept ? 0 : -1;
}
