/* SPDX-License-Identifier: BSD-3-Clause */
#include "node_option.h"

#include <stdio.h>
#include <string.h>

/* Options of slurmd that take no value: "N" behind others may be a part of their value. */
#define SWITCHES "bcCDGhMsvVxZ"

static const char *next_of(const char *word)
{
    return word + strlen(word) + 1;
}

bool node_option_find(const char *words, size_t length, char *node, size_t size)
{
    const char *end = words + length;

    for (const char *word = next_of(words); word < end; word = next_of(word)) {
        const char *letter = word + 1 + (word[0] == '-' ? strspn(word + 1, SWITCHES) : 0);
        const char *name;

        if (word[0] != '-' || *letter != 'N') {
            continue;
        }
        name = letter[1] ? letter + 1 : next_of(word);
        if (name < end && *name) {
            snprintf(node, size, "%s", name);
            return true;
        }
    }
    return false;
}
