/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef THRESHOLD_TYPES_H
#define THRESHOLD_TYPES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/event.h"

/*
 * Thresholds as users write them, one a line: 'METER CONDITION [: ACTION[, ACTION]...]'.
 *
 *   METER      an event (component:::event), a domain, or total
 *   CONDITION  >= 5kJ | every 1kJ | > 600W [for 10s] [hysteresis 20W] | < 100W [for 10s]
 *   ACTION     log | stamp | signal=USR1[@step] | term | exec=COMMAND (the rest of the text)
 *
 * Without an action: log.
 */

#define THRESHOLDS_MAX 64            /* of one session */
#define THRESHOLD_TEXT_SIZE 256      /* of meter and condition, with the NUL [bytes] */
#define THRESHOLD_COMMAND_SIZE 1024  /* of a command, with the NUL [bytes] */
#define THRESHOLD_TOTAL_NAME "total" /* package + dram + gpu of the node */

enum threshold_condition {
    THRESHOLD_TOTAL, /* what was counted reaches the amount, once */
    THRESHOLD_EVERY, /* the amount has been counted again */
    THRESHOLD_ABOVE,
    THRESHOLD_BELOW
};

/** What an amount is of. THRESHOLD_PLAIN: a bare number, in the unit of the meter. */
enum threshold_unit {
    THRESHOLD_PLAIN,
    THRESHOLD_ENERGY,
    THRESHOLD_POWER,
    THRESHOLD_TEMPERATURE,
    THRESHOLD_PERCENT
};

/** What happens, as bits. */
enum threshold_action {
    THRESHOLD_LOG = 1,
    THRESHOLD_STAMP = 2,
    THRESHOLD_SIGNAL = 4,
    THRESHOLD_TERM = 8,
    THRESHOLD_EXEC = 16
};

struct threshold {
    char text[THRESHOLD_TEXT_SIZE]; /* meter and condition as written: "total >= 5kJ" */
    size_t amount_at, unit_at;      /* in `text`; without a unit both are the same */
    char meter[APAPI_NAME_SIZE];
    enum threshold_condition condition;
    enum threshold_unit unit;
    double amount;                        /* [J], [W], [C], [%], or in the unit of the meter */
    uint64_t hold_ns;                     /* for how long a level must hold [ns]; 0: at once */
    double hysteresis;                    /* as `amount`; 0: none */
    unsigned actions;                     /* enum threshold_action */
    int signal;                           /* of THRESHOLD_SIGNAL */
    bool whole_step;                      /* it is for all processes, not for the tasks alone */
    char command[THRESHOLD_COMMAND_SIZE]; /* of THRESHOLD_EXEC */
    bool elsewhere; /* no meter of this node crosses it: who watches it says when */
};

#endif
