/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HISTORY_GENERATE_H
#define HISTORY_GENERATE_H
#include <stdio.h>

#include "simulation/history.h"

/** Make the history of a seed. */
void history_generate(struct history *history, uint64_t seed);

/** Say in words what happens in it. */
void history_print(const struct history *history, FILE *out);

#endif
