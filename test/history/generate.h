/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HISTORY_GENERATE_H
#define HISTORY_GENERATE_H
#include "simulation/history.h"

/** Make the history of a seed. */
void history_generate(struct history *history, uint64_t seed);

#endif
