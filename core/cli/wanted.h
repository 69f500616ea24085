/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_CLI_WANTED_H
#define APAPI_CLI_WANTED_H
#include <stdbool.h>
#include <stddef.h>

#include "apapi/error.h"
#include "apapi/event.h"
#include "apapi/interval.h"

#define WANTED_MAX 128

/** The components that a command's words name, or all that can be named. */
struct wanted {
    bool named;
    size_t count;
    struct wanted_component {
        char name[APAPI_COMPONENT_SIZE];
        const char *pattern; /* of events, "rapl:::PACKAGE*"; NULL: all */
    } components[WANTED_MAX];
};

/**
 * Parse "rapl", "rapl:nvml" and "rapl:::PACKAGE*"; without words: all components that can be named
 * here.
 * @return 0; -1 with errno EINVAL, ENOENT (an unknown name: `err` has the nearest).
 */
int wanted_parse(int count, char *const words[], struct wanted *wanted, struct apapi_error *err);

/** @return whether an event of the component is wanted. */
bool wanted_event(const struct wanted_component *component, const struct apapi_event *event);

#endif
