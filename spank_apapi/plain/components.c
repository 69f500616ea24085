/* SPDX-License-Identifier: BSD-3-Clause */
#include "components.h"
#include "base/word.h"

#include <stdio.h>
#include <string.h>

#include "apapi/interval.h"
#include "base/count_of.h"
#include "base/nearest.h"
#include "config/values.h"

static const char *const components[] = {
#define APAPI_COMPONENT(name, ways) #name,
#include "apapi/components.def"
#undef APAPI_COMPONENT
};

static bool word_known(const char *word, size_t length)
{
    for (size_t i = 0; i < COUNT_OF(components); i++) {
        if (word_is(word, length, components[i])) {
            return true;
        }
    }
    return false;
}

/* @return the first word of a well-formed list that is not in components.def; NULL: none. */
static const char *first_unknown(const char *list)
{
    for (const char *word = list;; word++) {
        size_t length = strcspn(word, ":");

        if (!word_known(word, length)) {
            return word;
        }
        word += length;
        if (*word == '\0') {
            return NULL;
        }
    }
}

bool components_known(const char *list)
{
    return strcmp(list, CONFIG_OFF) == 0 || strcmp(list, CONFIG_ALL) == 0 || !first_unknown(list);
}

void components_nearest(const char *list, char *text, size_t size)
{
    const char *unknown = first_unknown(list);
    char word[APAPI_COMPONENT_SIZE];
    struct nearest nearest;

    if (!unknown) {
        unknown = "";
    }
    snprintf(word, sizeof word, "%.*s", (int)strcspn(unknown, ":"), unknown);
    nearest_begin(&nearest, word);
    for (size_t i = 0; i < COUNT_OF(components); i++) {
        nearest_offer(components[i], &nearest);
    }
    nearest_text(&nearest, text, size);
}

const char *components_names(void)
{
    static const char names[] =
#define APAPI_COMPONENT(name, ways) ", " #name
#include "apapi/components.def"
#undef APAPI_COMPONENT
        ;

    return names + strlen(", ");
}
