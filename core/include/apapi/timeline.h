/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_TIMELINE_H
#define APAPI_TIMELINE_H
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define APAPI_TIMELINE_BINS 120

/**
 * Energy over time in bins of equal width. Whatever the length of the run, there are at most
 * APAPI_TIMELINE_BINS of them; the last one may be cut by the end of the run. Plain data.
 */
struct apapi_timeline {
    uint64_t bin_ns;                        /* width of a bin [ns], > 0 if count > 0 */
    uint64_t length_ns;                     /* of the run: where the last bin ends [ns] */
    size_t count;                           /* of bins; 0: nothing is known */
    float energy_j[APAPI_TIMELINE_BINS];    /* of what is known of the bin [J]; 0 if nothing is */
    float covered_pct[APAPI_TIMELINE_BINS]; /* how much of the bin is known, 0..100 */
};

/** @return the length of a bin: bin_ns, but for the last one [ns]; 0 beyond. */
APAPI_API uint64_t apapi_timeline_bin_length(const struct apapi_timeline *timeline, size_t bin);

/** @return mean power of what is known of the bin [W]; NaN: nothing is. */
APAPI_API double apapi_timeline_power_w(const struct apapi_timeline *timeline, size_t bin);

/** @return all energy [J]; NaN without bins. */
APAPI_API double apapi_timeline_energy_j(const struct apapi_timeline *timeline);

/**
 * Energy between two times, counted from the timeline's beginning. Within a bin the power
 * is taken to be constant.
 * @param known_ns  how much of that time is known [ns]; NULL: not wanted
 * @return [J]; 0 if nothing is known
 */
APAPI_API double apapi_timeline_between_j(const struct apapi_timeline *timeline, uint64_t from_ns,
                                          uint64_t to_ns, uint64_t *known_ns);

/** Join neighbours until a bin is at least `bin_ns` wide. */
APAPI_API void apapi_timeline_coarsen(struct apapi_timeline *timeline, uint64_t bin_ns);

/** A sum of timelines that began at different times. */
struct apapi_timeline_sum {
    int64_t start_unix_ns; /* of the earliest [ns since 1970] */
    struct apapi_timeline timeline;
};

/**
 * Add the timeline of another node, which began at `start_unix_ns`. The sum is as wide as the
 * widest and as long as all together. A bin of the sum is covered as the worst of those that have
 * it.
 * @param sum  zeroed before the first
 * Does not allocate.
 */
APAPI_API void apapi_timeline_sum_add(struct apapi_timeline_sum *sum, int64_t start_unix_ns,
                                      const struct apapi_timeline *timeline);

#ifdef __cplusplus
}
#endif
#endif
