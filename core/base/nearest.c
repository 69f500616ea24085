/* SPDX-License-Identifier: BSD-3-Clause */
/* This file uses libc only, because it is also compiled into the plugin. */
#include "base/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MISTAKES_MAX 2
#define PART_MIN 3 /* shortest part of a name that is considered */

#define BEGINNING_MIN 5 /* shortest name that is compared to a beginning, with mistakes */

/* Ranks; lower is nearer. A mistake in a beginning weighs more than all letters after it. */
enum { BY_MISTAKE = 0, BY_BEGINNING = 1000, MISTAKE = 200, BY_PART = 2000, FAR = 3000 };

void nearest_begin(struct nearest *nearest, const char *wanted)
{
    size_t length = strcspn(wanted, "*?[");

    *nearest = (struct nearest){.count = 0};
    if (length < sizeof nearest->wanted) {
        memcpy(nearest->wanted, wanted, length);
    }
}

static bool nearest_same(char left, char right)
{
    return tolower((unsigned char)left) == tolower((unsigned char)right);
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/*
 * @return letters wrong, missing, added or swapped with the next one (Damerau-Levenshtein distance)
 * @param beginning  result: the distance of `left` to the nearest prefix of `right`
 */
static unsigned count_mistakes(const char *left, const char *right, unsigned *beginning)
{
    unsigned char table[APAPI_NAME_SIZE][APAPI_NAME_SIZE]; /* distances between prefixes */
    unsigned char *last = table[strlen(left)];

    *beginning = APAPI_NAME_SIZE;
    for (unsigned i = 0; i == 0 || left[i - 1]; i++) {
        for (unsigned j = 0; j == 0 || right[j - 1]; j++) {
            unsigned best = i + j;

            if (i > 0 && j > 0) {
                best = least(table[i - 1][j - 1] + !nearest_same(left[i - 1], right[j - 1]),
                             least(table[i - 1][j], table[i][j - 1]) + 1U);
            }
            if (i > 1 && j > 1 && nearest_same(left[i - 1], right[j - 2]) &&
                nearest_same(left[i - 2], right[j - 1])) {
                best = least(best, table[i - 2][j - 2] + 1U);
            }
            table[i][j] = (unsigned char)best;
        }
    }
    for (size_t j = 0; j <= strlen(right); j++) {
        *beginning = least(*beginning, last[j]);
    }
    return last[strlen(right)];
}

static unsigned rank_part(const char *part, size_t length, const char *whole, size_t whole_length)
{
    unsigned rest = (unsigned)(whole_length - length);

    if (length < PART_MIN || length > whole_length) {
        return FAR;
    }
    if (strncasecmp(part, whole, length) == 0) {
        return BY_BEGINNING + rest;
    }
    return strcasestr(whole, part) ? BY_PART + rest : FAR;
}

static unsigned rank_mistakes(const char *wanted, size_t wanted_length, const char *name)
{
    unsigned beginning, whole = count_mistakes(wanted, name, &beginning);

    if (whole <= MISTAKES_MAX && (size_t)whole * 2 <= wanted_length) {
        return BY_MISTAKE + whole;
    }
    if (beginning <= MISTAKES_MAX && wanted_length >= BEGINNING_MIN) {
        return BY_BEGINNING + MISTAKE * beginning + (unsigned)strlen(name);
    }
    return FAR;
}

/* @return how different two names are; FAR or more: too different. */
static unsigned rank(const char *wanted, const char *name)
{
    size_t wanted_length = strlen(wanted), name_length = strlen(name);

    if (wanted_length >= APAPI_NAME_SIZE || name_length >= APAPI_NAME_SIZE) {
        return FAR;
    }
    return least(rank_mistakes(wanted, wanted_length, name),
                 least(rank_part(wanted, wanted_length, name, name_length),
                       rank_part(name, name_length, wanted, wanted_length)));
}

static void insert(struct nearest *nearest, const char *name, unsigned rank)
{
    size_t index = nearest->count;

    while (index > 0 && nearest->best[index - 1].rank > rank) {
        index--;
    }
    if (index == NEAREST_MAX) {
        return;
    }
    nearest->count += nearest->count < NEAREST_MAX;
    memmove(&nearest->best[index + 1], &nearest->best[index],
            (nearest->count - 1 - index) * sizeof *nearest->best);
    strcpy(nearest->best[index].name, name);
    nearest->best[index].rank = rank;
}

void nearest_offer(const char *name, void *context)
{
    struct nearest *nearest = context;
    unsigned distance = rank(nearest->wanted, name);
    const char *event = strstr(name, ":::");

    if (event && !strstr(nearest->wanted, ":::")) { /* users often omit the component */
        distance = least(distance, rank(nearest->wanted, event + strlen(":::")));
    }
    if (distance < FAR) {
        insert(nearest, name, distance);
    }
}

/* @return whether the first `count` names fit. */
static bool nearest_put_names(const struct nearest *nearest, size_t count, char *text, size_t size)
{
    size_t used = 0;

    for (size_t i = 0; i < count && used < size; i++) {
        const char *before = i + 1 == count ? " or " : ", ";

        used += (size_t)snprintf(text + used, size - used, "%s'%s'",
                                 i == 0 ? ": did you mean " : before, nearest->best[i].name);
    }
    if (used < size) {
        used += (size_t)snprintf(text + used, size - used, "%s", count ? "?" : "");
    }
    return used < size;
}

void nearest_text(const struct nearest *nearest, char *text, size_t size)
{
    size_t count = nearest->count;

    while (!nearest_put_names(nearest, count, text, size) && count > 0) {
        count--;
    }
}
