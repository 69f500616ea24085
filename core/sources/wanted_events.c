/* SPDX-License-Identifier: BSD-3-Clause */
#include "sources/wanted_events.h"

#include <fnmatch.h>
#include <stdatomic.h>
#include <string.h>

#define WANTED_MAX 512
#define SEPARATOR ":::"

static char *wanted[WANTED_MAX];
static atomic_size_t wanted_count;

bool wanted_events_name(const char *event)
{
    for (size_t i = 0; i < atomic_load(&wanted_count); i++) {
        if (fnmatch(wanted[i], event, 0) == 0) {
            return true;
        }
    }
    return false;
}

/* @return the length of "rapl:::" in "rapl:::PACKAGE*"; 0: the pattern begins with no component */
static size_t wanted_events_prefix(const char *pattern)
{
    const char *separator = strstr(pattern, SEPARATOR);

    return separator ? (size_t)(separator - pattern) + strlen(SEPARATOR) : 0;
}

void wanted_events_add(const char *pattern)
{
    size_t count = atomic_load(&wanted_count), length = wanted_events_prefix(pattern);
    char component[APAPI_NAME_SIZE];

    if (length == 0 || strlen(pattern) >= sizeof component || count == WANTED_MAX) {
        return;
    }
    memcpy(component, pattern, length);
    component[length] = '\0';
    if (fnmatch(pattern, component, 0) == 0 || wanted_events_name(pattern)) {
        return;
    }
    wanted[count] = strdup(pattern);
    if (wanted[count]) {
        atomic_store(&wanted_count, count + 1);
    }
}

static bool wanted_events_fits_any(const char *pattern, const struct apapi_reader *reader)
{
    for (size_t i = 0; i < reader->count; i++) {
        if (fnmatch(pattern, reader->events[i].name, 0) == 0) {
            return true;
        }
    }
    return false;
}

size_t wanted_events_missing(const char *component, const struct apapi_reader *reader)
{
    size_t missing = 0, length = strlen(component);

    for (size_t i = 0; i < atomic_load(&wanted_count); i++) {
        missing += strncmp(wanted[i], component, length) == 0 &&
                   wanted_events_prefix(wanted[i]) == length + strlen(SEPARATOR) &&
                   !wanted_events_fits_any(wanted[i], reader);
    }
    return missing;
}
