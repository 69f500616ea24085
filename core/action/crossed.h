/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ACTION_CROSSED_H
#define ACTION_CROSSED_H

#include "apapi/record.h"
#include "threshold/types.h"

#define CROSSED_LINE_SIZE 512
#define CROSSED_VARIABLES 7
#define CROSSED_VARIABLE_SIZE 320

/** What is said of a crossing: its threshold, and where it was. */
struct crossed {
    const struct threshold *threshold;
    const struct apapi_crossing *crossing;
    const char *node;
};

/** "apapi: n1: total >= 5kJ crossed at 12:31:07.125 with 5.000 kJ" and a newline. */
void crossed_line(const struct crossed *crossed, const char *said_by, char line[CROSSED_LINE_SIZE]);

/** The variables of a command, as for execve(). */
struct crossed_variables {
    char texts[CROSSED_VARIABLES][CROSSED_VARIABLE_SIZE];
    char *list[CROSSED_VARIABLES + 1];
};

void crossed_variables(const struct crossed *crossed, struct crossed_variables *variables);

#endif
