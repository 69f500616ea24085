/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RECORDS_OWN_H
#define APAPI_RECORDS_OWN_H
#include <stdbool.h>

#include "cli/records/input_options.h"
#include "config/config.h"

/* The records of the user who runs the command, if he may not read those of all. */

/** @return whether he has to read those in user_records. */
bool own_is_needed(const struct config *config);

/** @return their folder. Static storage. */
const char *own_folder(const struct config *config);

/** @return whether the user cannot read the folder of all records, and has named no other. */
bool own_is_all(const struct report_input *input, const struct config *config);

/** Say that none of them is wanted. @return the exit status. */
int own_fail_none(const struct report_input *input);

#endif
