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

/** @return whether the meter is an event, and not a domain or the total. */
bool threshold_is_of_event(const struct threshold *threshold);

#endif
