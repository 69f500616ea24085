/* SPDX-License-Identifier: BSD-3-Clause */
#include "components.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "apapi/interval.h"

static const char *const components[] = {
#define APAPI_COMPONENT(name) #name,
#include "apapi/components.def"
#undef APAPI_COMPONENT
};

static bool word_is(const char *word, size_t length, const char *name)
{
    return strlen(name) == length && strncmp(word, name, length) == 0;
}

static int word_check(const char *list, const char *word, size_t length, struct apapi_error *err)
{
    if (length == 0) {
        return apapi_fail(err, EINVAL, "a name is missing in the list of components '%.80s'", list);
    }
    if (length >= APAPI_COMPONENT_SIZE) {
        return apapi_fail(err, EINVAL, "component '%.20s...' is too long", word);
    }
    if (word_is(word, length, SPANK_APAPI_OFF) && list[length] != '\0') {
        return apapi_fail(err, EINVAL, "'off' stands alone, not in the list '%.80s'", list);
    }
    return 0;
}

int spank_apapi_components_check(const char *list, struct apapi_error *err)
{
    if (*list == '\0') {
        return apapi_fail(err, EINVAL, "the list of components is empty");
    }
    if (strlen(list) >= SPANK_APAPI_LIST_SIZE) {
        return apapi_fail(err, EINVAL, "component list of %zu bytes is too long", strlen(list));
    }
    for (const char *c = list; *c; c++) {
        if (!isgraph((unsigned char)*c)) {
            return apapi_fail(err, EINVAL, "blank or other odd character in the component list");
        }
    }
    for (const char *word = list;; word++) {
        size_t length = strcspn(word, ":");

        if (word_check(list, word, length, err)) {
            return -1;
        }
        word += length;
        if (*word == '\0') {
            return 0;
        }
    }
}

static bool word_known(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof components / sizeof *components; i++) {
        if (word_is(word, length, components[i])) {
            return true;
        }
    }
    return false;
}

bool spank_apapi_components_known(const char *list)
{
    if (strcmp(list, SPANK_APAPI_OFF) == 0) {
        return true;
    }
    for (const char *word = list;; word++) {
        size_t length = strcspn(word, ":");

        if (!word_known(word, length)) {
            return false;
        }
        word += length;
        if (*word == '\0') {
            return true;
        }
    }
}

const char *spank_apapi_components_names(void)
{
    static const char names[] =
#define APAPI_COMPONENT(name) ", " #name
#include "apapi/components.def"
#undef APAPI_COMPONENT
        ;

    return names + strlen(", ");
}
