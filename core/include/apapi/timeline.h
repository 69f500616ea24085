/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_TIMELINE_H
#define APAPI_TIMELINE_H
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"

APAPI_BEGIN_C

/* All functions here may be called from any thread; none allocates. */

#define APAPI_TIMELINE_BINS 120 /* most bins of a timeline */

/**
 * Energy over time, in bins of equal width. A run of any length has at most APAPI_TIMELINE_BINS
 * bins. The end of the run may cut the last bin. Plain data.
 */
struct apapi_timeline {
    uint64_t bin_ns;                        /* width of a bin [ns]; > 0 if count > 0 */
    uint64_t length_ns;                     /* length of the run: its end is the last bin's [ns] */
    size_t count;                           /* number of bins; 0: there is no timeline */
    float energy_j[APAPI_TIMELINE_BINS];    /* of the bin's covered part [J]; 0: none is covered */
    float covered_pct[APAPI_TIMELINE_BINS]; /* part of the bin that is covered, 0..100 [%] */
};

/** @return the length of a bin: bin_ns, or less if it is the last one [ns]; 0: no such bin. */
APAPI_API uint64_t apapi_timeline_bin_length(const struct apapi_timeline *timeline, size_t bin);

/** @return mean power of the covered part of the bin [W]; NaN: no part is covered. */
APAPI_API double apapi_timeline_power_w(const struct apapi_timeline *timeline, size_t bin);

/** @return the energy of all bins [J]; NaN: there is no timeline. */
APAPI_API double apapi_timeline_energy_j(const struct apapi_timeline *timeline);

/**
 * Energy between two times. Power is taken as constant within a bin.
 * @param from_ns, to_ns  times since the beginning of the timeline [ns]
 * @param known_ns        result: how much of this time is covered [ns]; NULL: not needed
 * @return [J]; 0 if nothing is covered
 */
APAPI_API double apapi_timeline_between_j(const struct apapi_timeline *timeline, uint64_t from_ns,
                                          uint64_t to_ns, uint64_t *known_ns);

/** Join neighbouring bins until a bin is at least `bin_ns` wide [ns], or 146 years. */
APAPI_API void apapi_timeline_coarsen(struct apapi_timeline *timeline, uint64_t bin_ns);

APAPI_END_C
#endif
