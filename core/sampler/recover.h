/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_RECOVER_H
#define SAMPLER_RECOVER_H
#include <stdatomic.h>
#include <stdbool.h>

#include "sampler/step.h"

/**
 * Write what others have left in the spool to the accounting files, as far as it is not there
 * already. Ends at the first that cannot be written, after 256 files, or when `enough` is set.
 * @param step  of this sampler: its folders and its node
 */
void recover_spooled(const struct step *step, const atomic_bool *enough);

#endif
