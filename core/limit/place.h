/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LIMIT_PLACE_H
#define LIMIT_PLACE_H
#include <stdbool.h>
#include <stddef.h>

#include "limit/limit.h"

/** A text that is being read, and what users write in it: amounts and signals. */
struct place {
    const char *text; /* from its beginning */
    const char *at;   /* what is read next */
    struct apapi_error *err;
};

/** A number with its unit. */
struct amount {
    double value; /* [J], [W], [C], [%], or plain */
    enum limit_unit unit;
    const char *unit_at; /* where the unit is, or would be */
};

void place_skip_blanks(struct place *place);

/** @return the bytes up to a blank, one of `ends` or the end. */
size_t place_word_length(const struct place *place, const char *ends);

/** Step over a word, if the text goes on with it. @return whether it does. */
bool place_take(struct place *place, const char *word);

/**
 * Report a problem: what is wrong, the text, and a caret below `where`. Of a long text only what is
 * around the place.
 * @return -1 with errno `code`
 */
int place_fail(const struct place *place, const char *where, int code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** The units that are valid, by enum limit_unit: "J, kJ, MJ, Wh, kWh, MWh". */
extern const char *const place_units[];

/**
 * Read "5kJ", "600 W", "80°C", "3".
 * @param wanted  the units that a message names; LIMIT_PLAIN: all
 * @return 0; -1 with errno EINVAL, ERANGE.
 */
int place_take_amount(struct place *place, enum limit_unit wanted, struct amount *amount);

/** Read the name of a signal, "USR1" or "SIGUSR1". @return 0; -1 with errno EINVAL. */
int place_take_signal(struct place *place, int *number);

#endif
