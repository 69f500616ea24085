/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_CROSSED_H
#define SAMPLER_CROSSED_H
#include "apapi/record.h"

/**
 * Add what the collector says of the budgets of the step to a record's crossings.
 * @param lines  its answer to a total, see channel.h. What is malformed is left out
 */
void crossed_note(struct apapi_record *record, const char *lines);

#endif
