/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REGIONS_OBSERVER_H
#define REGIONS_OBSERVER_H
#include <stdint.h>

#include "regions/page.h"

/*
 * What else wants to see the regions of this process: counters of the processor, for example. With
 * an observer regions are kept without a measured step, too.
 *
 * `slot` is the number of the calling thread in the program page, PAGE_THREADS if it has none;
 * `node` that of the region. begin() is called before the region's time begins, end() after it.
 */
struct region_observer {
    void (*begin)(uint32_t slot, uint32_t node); /* NULL is allowed, as for all of them */
    void (*read)(uint32_t slot, uint32_t node);
    void (*end)(uint32_t slot, uint32_t node);
    void (*leave)(uint32_t slot); /* the calling thread ends */
};

/**
 * Set the only observer of this process. It stays, unchanged, for as long as the process runs.
 * @return 0; -1 with errno EALREADY: there is one
 */
int region_observe(const struct region_observer *observer);

#endif
