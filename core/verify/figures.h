/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VERIFY_FIGURES_H
#define VERIFY_FIGURES_H
#include <stddef.h>

#include "verify/play.h"

/* What is printed, on standard output. */

void figures_print_head(void);
void figures_print_row(const struct figures *figures);

/** Print one line of JSON. @return 0; -1: out of memory. */
int figures_print_json(const struct figures *figures, size_t count, const struct play *play);

#endif
