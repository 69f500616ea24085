/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef THRESHOLD_THRESHOLD_H
#define THRESHOLD_THRESHOLD_H
#include <stdbool.h>

#include "apapi/error.h"
#include "threshold/types.h"

/* No I/O. The functions may be called from any thread. */

/**
 * Parse one threshold. The meter need not exist; its name is checked as far as it is a domain.
 * @param err  three lines: what is wrong and what would be valid, the text, a caret at the place
 * @return 0; -1 with errno EINVAL, ERANGE, ENAMETOOLONG. `threshold` is set on success only.
 */
int threshold_parse(const char *text, struct threshold *threshold, struct apapi_error *err);

/** @return "J", "W", "C", "%"; "": that of the meter. Static storage. */
const char *threshold_unit_name(const struct threshold *threshold);

/** What is wrong with a threshold that was parsed. */
enum threshold_part { THRESHOLD_METER, THRESHOLD_AMOUNT, THRESHOLD_UNIT };

/** Report that a part is wrong, as threshold_parse() does. @return -1 with errno `code` */
int threshold_refuse(const struct threshold *threshold, enum threshold_part part, int code,
                     const char *what, struct apapi_error *err);

/**
 * Check the unit and the condition of an event against the kind that it has.
 * @return 0; -1 with errno EINVAL, `err` as threshold_parse()
 */
int threshold_check_kind(const struct threshold *threshold, enum apapi_kind kind,
                         struct apapi_error *err);

/** @return whether the meter is an event, and not a domain or the total. */
bool threshold_is_of_event(const struct threshold *threshold);

#endif
