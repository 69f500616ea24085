/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_WORD_H
#define APAPI_BASE_WORD_H
#include <stdbool.h>
#include <string.h>

/** Check whether the first `length` bytes of a text, which may be longer, are this name. */
static inline bool word_is(const char *word, size_t length, const char *name)
{
    return strlen(name) == length && strncmp(word, name, length) == 0;
}

#endif
