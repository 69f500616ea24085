/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_CONFIG_DEFINITIONS_H
#define APAPI_CONFIG_DEFINITIONS_H
#include <stddef.h>

#include "apapi/event.h"
#include "apapi/events.h"
#include "measure/meter.h"

/** Bits of the statistics of a value; equal to enum apapi_shown. */
enum apapi_stat {
    APAPI_STAT_NO = 0,
    APAPI_STAT_MIN = 1,
    APAPI_STAT_MAX = 2,
    APAPI_STAT_AVG = 4,
    APAPI_STAT_ACC = 8,
    APAPI_STAT_ALL = 15
};

/** A definition's part for value0 or for value1. */
struct apapi_value_definition {
    unsigned stats;   /* APAPI_STAT_*; APAPI_STAT_NO: the value is not wanted */
    const char *type; /* "energy"; UTF-8 */
    const char *unit; /* "J"; UTF-8; "": the source's unit */
    double factor;    /* divides the value; NaN: it was 0 or not finite, so the value is missing */
};

/** One line of a definitions file. Owned by its struct apapi_eventops. */
struct apapi_definition {
    const char *name;   /* an event or a pattern */
    size_t line;        /* number of the line in its file; 0: built in */
    uint64_t range_max; /* with raw_units: the counter's greatest raw value; 0: not known */
    struct apapi_value_definition values[2];
    enum apapi_operation operation;
    enum apapi_kind kind;
    enum apapi_domain domain;
    bool raw_units;   /* the maximum is a number: factors divide raw values and nanoseconds;
                         false (`auto`): they divide base units (J, W, ...) and seconds */
    bool accumulates; /* with raw_units: true for a counter; without: the source knows */
    bool has_kind;    /* `kind` is set; false: the kind is that of the source */
    bool has_domain;  /* `domain` is set; false: the domain is that of the source */
};

/** @return definition number `index` in the order of the file, NULL beyond the last or of NULL. */
const struct apapi_definition *apapi_eventops_at(const struct apapi_eventops *eventops,
                                                 size_t index);

/** @return the first definition whose name or pattern fits; NULL: none, or `eventops` is NULL. */
const struct apapi_definition *apapi_eventops_find(const struct apapi_eventops *eventops,
                                                   const char *event);

/**
 * @param rules  NULL: no files
 * @return the definition of an event: the first of the user's definitions that fits, else the first
 *         of the default file, else the built-in one for its kind. Never NULL; lives like `rules`.
 */
const struct apapi_definition *apapi_event_rules_define(const struct apapi_event_rules *rules,
                                                        const struct apapi_event *event);

/**
 * Complete an event by its definition: kind and domain, if the definition names them; and if the
 * source only knows a number (APAPI_KIND_COUNT) and the definition has raw units: counter or gauge,
 * range, kind, unit and scale. What the source knows stays. An event becomes energy only if its
 * unit is J, and power only if its unit is W.
 */
void apapi_definition_complete(const struct apapi_definition *definition,
                               struct apapi_event *event);

/**
 * Check that a definition in raw units agrees with what the source knows of the event's unit. Call
 * this before apapi_definition_complete().
 * @return 0: they agree, or the unit is not known; -1 with errno EDOM: the kinds differ, or the
 *         scales by more than 1 %; `err` has the reason.
 */
int apapi_definition_check(const struct apapi_definition *definition,
                           const struct apapi_event *event, struct apapi_error *err);

/**
 * @param value  0 or 1
 * @return the number by which value0 (raw units) or value1 (made by the operation from raw units
 *         and nanoseconds) is divided to be in the definition's unit; NaN: the value is missing.
 */
double apapi_definition_divisor(const struct apapi_definition *definition,
                                const struct apapi_event *event, int value);

/** @return the unit of value0 (0) or value1 (1). Lives as long as `definition` and `event`. */
const char *apapi_definition_unit(const struct apapi_definition *definition,
                                  const struct apapi_event *event, int value);

/** @return "APAPI_OP1_NOP", ...; "?" when out of range. Static storage. */
const char *apapi_operation_name(enum apapi_operation operation);

#endif
