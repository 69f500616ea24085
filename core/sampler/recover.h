/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_RECOVER_H
#define SAMPLER_RECOVER_H
#include <stdatomic.h>

#include "sampler/step.h"

/**
 * Write records that others left in the spool to the accounting files, unless they are there
 * already. Stops at the first that cannot be written, after 256 files, or when `enough` is set.
 * @param step  of this sampler: gives folders and node
 */
void recover_spooled(const struct step *step, const atomic_bool *enough);

#endif
