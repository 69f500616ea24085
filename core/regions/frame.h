/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REGIONS_FRAME_H
#define REGIONS_FRAME_H
#include <stdint.h>

/** A region that is open in a thread. */
struct stack_frame {
    uint64_t start; /* [ticks] */
    uint32_t node;
    uint32_t name;    /* of regions/intern.h */
    uint32_t repeats; /* begins of the same name right within it */
};

#endif
