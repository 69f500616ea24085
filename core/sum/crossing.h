/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SUM_CROSSING_H
#define APAPI_SUM_CROSSING_H
#include <stdbool.h>
#include <stddef.h>

#include "apapi/record.h"

#define CROSSING_TEXT_SIZE 768 /* enough for all that crossing_text() writes */

/** @return whether a crossing is the last one of its threshold in the record. */
bool crossing_is_last(const struct apapi_record *record, size_t index);

/** @return the first crossing in the record of the threshold of another one. */
size_t crossing_first(const struct apapi_record *record, size_t index);

/**
 * What a record says of a threshold: "3 times, first at 1.203 s, last at 3.5 s with 3.000 kJ; log".
 * Behind the semicolon is the result, if there is any, else the action.
 * @param index  of its last crossing in the record
 */
void crossing_text(const struct apapi_record *record, size_t index, char *text, size_t size);

#endif
