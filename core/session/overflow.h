/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_OVERFLOW_H
#define SESSION_OVERFLOW_H
#include "apapi/overflow.h"
#include "session/sampling.h"

/* Setting, changing and removing thresholds: as the functions of apapi/overflow.h. */

int overflow_add(struct sampling *sampling, const struct apapi_overflow *what,
                 struct apapi_error *err);
int overflow_change(struct sampling *sampling, int number, double threshold,
                    struct apapi_error *err);
int overflow_remove(struct sampling *sampling, int number);

#endif
