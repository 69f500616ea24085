/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BUDGET_BUDGET_H
#define BUDGET_BUDGET_H
#include <math.h>
#include <stdbool.h>

#include "apapi/error.h"

/* An energy budget as users and sites write it: 5kWh,warn=80%,signal=USR1,scope=job. Pure text. */

#define BUDGET_TEXT_SIZE 32

/** What happens when the energy has reached the amount. */
enum budget_action {
    BUDGET_TERM,   /* SIGTERM, and SIGKILL after Slurm's KillWait */
    BUDGET_SIGNAL, /* one signal */
    BUDGET_LOG     /* a line */
};

struct budget {
    double amount_j; /* [J], > 0 */
    double warn;     /* part of the amount at which a line is printed; NaN: none */
    enum budget_action action;
    int signal;                  /* of BUDGET_SIGNAL */
    bool whole_job;              /* the action is for all steps of the job */
    bool acts;                   /* the text names an action */
    char text[BUDGET_TEXT_SIZE]; /* the amount as it was written */
};

#define BUDGET_NONE ((struct budget){.warn = NAN})

/**
 * Parse AMOUNT[,warn=N%][,signal=NAME|term|log][,scope=step|job].
 * @param budget  result, set on success only
 * @param err  three lines: what is wrong and what would be valid, the text, a caret at the place
 * @return 0; -1 with errno EINVAL or ERANGE
 */
int budget_parse(const char *text, struct budget *budget, struct apapi_error *err);

/** The same for an amount alone: "5kWh". Sets `amount_j` and `text`. */
int budget_parse_amount(const char *text, struct budget *budget, struct apapi_error *err);

/** The same for an action alone: "term", "log", "signal=USR1". Sets `action`, `signal`, `acts`. */
int budget_parse_action(const char *text, struct budget *budget, struct apapi_error *err);

/** @return the name of the signal that the action sends first, "USR1"; "": none. Static storage. */
const char *budget_signal_name(const struct budget *budget);

#endif
