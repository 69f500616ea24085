/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REGIONS_JOIN_H
#define REGIONS_JOIN_H
#include "regions/stack.h"

/** Make the calling thread's stack, which has none. @return NULL: PROGRAM_OFF, or no memory. */
struct region_stack *join_thread(void);

#endif
