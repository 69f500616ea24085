/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REGIONS_RANK_H
#define REGIONS_RANK_H
#include <stdint.h>

#define RANK_UNKNOWN UINT32_MAX

/** @return rank of this process in its step, from its environment; or RANK_UNKNOWN. */
uint32_t rank_of_process(void);

#endif
