/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_NEAREST_H
#define APAPI_BASE_NEAREST_H
#include <stddef.h>

#include "apapi/event.h"

#define NEAREST_MAX 3

/** The names that a person may have meant who gave one that does not exist. */
struct nearest {
    char wanted[APAPI_NAME_SIZE]; /* "": nothing is near to it */
    size_t count;
    struct {
        char name[APAPI_NAME_SIZE];
        unsigned rank;
    } best[NEAREST_MAX]; /* nearest first */
};

/** Begin with no names. Of a pattern counts what comes before its first '*', '?' or '['. */
void nearest_begin(struct nearest *nearest, const char *wanted);

/**
 * Offer a name that exists. It is taken if at most two letters are wrong, missing, too many or
 * swapped, or if one name is a part of the other; capitals do not matter. An event may be meant
 * without its component.
 * @param context  a struct nearest: this is an apapi_component_f
 */
void nearest_offer(const char *name, void *context);

/** ": did you mean 'rapl', 'nvml' or 'net'?", "" without any; only those that `size` bytes hold. */
void nearest_text(const struct nearest *nearest, char *text, size_t size);

#endif
