/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_TOTALS_JOB_STATE_H
#define APAPI_TOTALS_JOB_STATE_H
#include "apapi/error.h"
#include "apapi/record.h"

/* How a job's tasks ended, as bits. Records do not know Slurm's other states. */
enum { REPORT_STATE_COMPLETED = 1, REPORT_STATE_FAILED = 2 };

/** "completed,F", case-insensitive. @return 0; -1 with errno EINVAL. */
int report_states_parse(const char *text, unsigned *states, struct apapi_error *err);

/** From exit status and signal. @return 0: not known. */
unsigned report_state_of(uint32_t code, uint32_t signal);

/** @return its name in sacct; "" for 0. */
const char *report_state_name(unsigned state);

#endif
