/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef THRESHOLD_PLACE_H
#define THRESHOLD_PLACE_H
#include <stdbool.h>
#include <stddef.h>

#include "apapi/error.h"

/** A text that is being read. */
struct place {
    const char *text; /* from its beginning */
    const char *at;   /* what is read next */
    struct apapi_error *err;
};

void place_skip_blanks(struct place *place);

/** @return the bytes up to a blank, one of `ends` or the end. */
size_t place_word_length(const struct place *place, const char *ends);

/**
 * Report a problem: what is wrong, the text, and a caret below `where`. Of a long text only what is
 * around the place.
 * @return -1 with errno `code`
 */
int place_fail(const struct place *place, const char *where, int code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
