/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_NEAREST_H
#define APAPI_BASE_NEAREST_H
#include <stddef.h>

#include "apapi/event.h"

#define NEAREST_MAX 3

/** Collects existing names that are similar to a misspelled one. */
struct nearest {
    char wanted[APAPI_NAME_SIZE]; /* "": nothing is similar */
    size_t count;
    struct {
        char name[APAPI_NAME_SIZE];
        unsigned rank;
    } best[NEAREST_MAX]; /* nearest first */
};

/** Begin without names. If `wanted` is a pattern, its part before '*', '?' or '[' is compared. */
void nearest_begin(struct nearest *nearest, const char *wanted);

/**
 * Offer an existing name. It is accepted if at most two letters are wrong, missing, added or
 * swapped, or if one name is part of the other. Case is ignored. The component of an event may be
 * omitted.
 * @param context  a struct nearest: this is an apapi_component_f
 */
void nearest_offer(const char *name, void *context);

/**
 * Write ": did you mean 'rapl', 'nvml' or 'net'?", or "" without names. Names that do not fit into
 * `size` are left out.
 */
void nearest_text(const struct nearest *nearest, char *text, size_t size);

#endif
