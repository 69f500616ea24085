/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_DOCTOR_EXAMINE_H
#define APAPI_DOCTOR_EXAMINE_H
#include <stdbool.h>
#include <stddef.h>

#include "apapi/catalog.h"
#include "apapi/source.h"

/** The result of two readings of an event. */
enum evaluation {
    EVENT_FINE,
    EVENT_DEAD,       /* it can be read but its value never changes */
    EVENT_IMPLAUSIBLE /* or it cannot be read */
};

/** Two readings of one event; far enough apart that an energy counter must have moved. */
struct two_readings {
    struct apapi_reading before;
    struct apapi_reading after;
    double elapsed_s; /* between them [s], > 0 */
};

/** @param text  result unless EVENT_FINE: the reason */
enum evaluation evaluate_event(const struct apapi_event *event, const struct two_readings *readings,
                               char *text, size_t size);

#define TROUBLES_MAX 8 /* reported one by one */

/** An event that can be opened but is useless. */
struct trouble {
    char event[APAPI_NAME_SIZE];
    char text[96];
};

/** The result of trying a way. */
struct finding {
    bool known;
    int error;                 /* 0: it can be opened */
    struct apapi_error reason; /* why it cannot */
    char detail[64];           /* of what is read */
    size_t events;
    size_t trouble_count; /* of events */
    struct trouble troubles[TROUBLES_MAX];
    bool estimated; /* not a meter: all events are computed */
};

/** One way to read a component. */
struct examined_way {
    struct apapi_way way;
    struct finding mine;
    struct finding
        ordinary; /* for a user without any permission, by opening it; known to root only */
};

/**
 * Try a way in its own process, as the libraries that it loads may end it: as this user, with
 * readings of all events; if this is root, also as a user without any permission, without readings.
 */
void examine(struct examined_way *way);

#endif
