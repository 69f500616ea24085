/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/known.h"

#include <errno.h>
#include <string.h>

#include "apapi/session.h"

int known_components(char *list, struct apapi_error *err)
{
    char *rest = list, *end = list, *word;

    while ((word = strsep(&rest, ":"))) {
        size_t length = strlen(word);

        if (apapi_components_check(word, err) == 0) {
            if (end > list) {
                *end++ = ':';
            }
            memmove(end, word, length);
            end += length;
        }
    }
    *end = '\0';
    errno = ENOENT;
    return end > list ? 0 : -1;
}
