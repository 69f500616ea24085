/* SPDX-License-Identifier: BSD-3-Clause */
/* Not fnmatch(3): it takes exponential time for many stars, and depends on the locale. */
#include <string.h>

#include "events/pattern.h"

/* Find the ']' of a set "[...]". @return NULL: none, '[' is an ordinary letter. */
static const char *set_end(const char *set)
{
    const char *at = set + 1;

    if (*at == '!' || *at == '^') {
        at++;
    }
    return *at ? strchr(at + 1, ']') : NULL;
}

static bool set_has(const char *set, const char *end, unsigned char letter)
{
    const unsigned char *at = (const unsigned char *)set + 1;
    const unsigned char *last = (const unsigned char *)end;
    bool negated = *at == '!' || *at == '^';
    bool found = false;

    for (at += negated; at < last; at++) {
        if (at[1] == '-' && at + 2 < last) {
            found |= at[0] <= letter && letter <= at[2];
            at += 2;
        } else {
            found |= *at == letter;
        }
    }
    return found != negated;
}

/* Match one element of the pattern with one letter. @return the text after the element, or NULL. */
static const char *match_letter(const char *pattern, char letter)
{
    const char *end;

    if (*pattern == '?') {
        return pattern + 1;
    }
    end = *pattern == '[' ? set_end(pattern) : NULL;
    if (end) {
        return set_has(pattern, end, (unsigned char)letter) ? end + 1 : NULL;
    }
    return *pattern == letter ? pattern + 1 : NULL;
}

static bool glob_matches(const char *pattern, const char *name)
{
    const char *after_star = NULL, *retry = NULL;

    while (*name) {
        const char *next;

        if (*pattern == '*') {
            after_star = ++pattern;
            retry = name;
            continue;
        }
        next = *pattern ? match_letter(pattern, *name) : NULL;
        if (next) {
            pattern = next;
            name++;
        } else if (after_star) {
            pattern = after_star;
            name = ++retry;
        } else {
            return false;
        }
    }
    return pattern[strspn(pattern, "*")] == '\0';
}

bool apapi_pattern_matches(const char *pattern, const char *name)
{
    return strcmp(pattern, name) == 0 || glob_matches(pattern, name);
}
