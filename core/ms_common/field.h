/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MS_COMMON_FIELD_H
#define MS_COMMON_FIELD_H
#include <stddef.h>

#include "apapi/event.h"
#include "ms_common/resource.h"

/* Which event gets into which field of a measurement. */

#define FIELD_ANY_KIND APAPI_KINDS
#define FIELD_ANY_DOMAIN APAPI_DOMAINS

/** Which number of an event. */
enum statistic {
    STATISTIC_TOTAL, /* energy [J]; of other gauges: value x time */
    STATISTIC_MEAN,  /* of energy and power [W]; of other gauges their value */
    STATISTIC_MAX,
    STATISTIC_SUM, /* of all readings */
    STATISTIC_NOW  /* the latest value; of energy: its power [W] */
};

/** What is stored if several events get into one field. */
enum join { JOIN_ADD, JOIN_MAX, JOIN_MEAN };

/** What the operating system offers where the events do not. Bits. */
enum part { PART_NONE, PART_TEMPERATURE = 1, PART_FREQUENCY = 2, PART_TIME = 4, PART_MEMORY = 8 };

enum number_type { NUMBER_DOUBLE, NUMBER_U32, NUMBER_U64 };

/** A field, or one for each processor package or core. */
struct field {
    const char *pattern; /* of events, as fnmatch(3) */
    enum apapi_kind kind;
    enum apapi_domain domain;
    enum statistic statistic;
    enum join join;
    enum part part;
    enum number_type type;
    size_t offset;        /* in the measurement [bytes] */
    size_t package_bytes; /* from one package to the next; 0: not one for each */
    size_t core_bytes;    /* from one core to the next; 0: not one for each */
    double factor;        /* of the event's unit, if its kind is known */
    double raw_factor;    /* of the raw value, where only the name of the event says what it is */
};

/** @return the fields of a resource. Static storage. */
const struct field *fields_of(enum resource resource, size_t *count);

#endif
