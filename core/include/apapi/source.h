/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SOURCE_H
#define APAPI_SOURCE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"
#include "apapi/event.h"

APAPI_BEGIN_C

/*
 * Sources read meters. Programs get a reader from apapi_catalog_open(), look at its `events`,
 * `count` and `detail`, and call apapi_catalog_read() and apapi_catalog_describe().
 */

/** The code that reads the meters of one kind (opaque). */
struct apapi_source;

/** One event at one reading. */
struct apapi_reading {
    uint64_t raw; /* read it with apapi_event_value(); not valid if `error` is not 0 */
    int error;    /* 0, or the errno with which the reading failed */
};

/** An open source. Each source embeds it as the first member of a structure of its own. */
struct apapi_reader {
    const struct apapi_source *source;
    const struct apapi_event *events; /* owned by the reader; unchanged until it is closed */
    size_t count;                     /* of events */
    char detail[64]; /* what is read, for people: "sysfs powercap", "PAPI 7.1.0 rapl" */
    bool own_worker; /* a reading may take seconds, or end its thread: use a thread of its own */
};

/** Called once for each component that a source offers. `name` is valid only during the call. */
typedef void (*apapi_component_f)(const char *name, void *context);

/** @return the source's name as in APAPI_SOURCES: "sysfs", "papi". Static storage. */
APAPI_API const char *apapi_source_name(const struct apapi_source *source);

/**
 * Set a value for a source, as a section of apapi.conf does: ("ipmi", "host", "10.0.0.7"). The
 * environment variable APAPI_<SECTION>_<KEY> has precedence.
 * @param section, key  lower case, together at most 50 characters
 * @param value         copied
 * @return 0; -1 with errno ENOSPC (more than 64 settings), ENOMEM
 * Thread-safety: before the first session is created and the first component is opened.
 */
APAPI_API int apapi_source_set(const char *section, const char *key, const char *value);

APAPI_END_C
#endif
