/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_FEED_H
#define SESSION_FEED_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/measurement.h"

/*
 * Who feeds a domain, of the components that have meters for it: the first one of the user's list
 * that has measured it in this run. One that was late stands behind all that were not, or the
 * energy until then would be lost; of those that were late, the one that was it least.
 * All of them are measured to the end, so it is the same whatever order they open in.
 */
#define FEED_LATE_NS UINT64_C(10000000000) /* after the start of the run: no matter */
#define FEED_NEVER UINT64_MAX

struct feed {
    size_t index;     /* of the component that feeds the domain; SIZE_MAX: none */
    uint64_t late_ns; /* 0: it was in time; FEED_NEVER: it has not measured it (yet) */
};

/** The domains of a measurement, while its components are finished one after the other. */
struct domain_results {
    struct apapi_domain_result *results; /* APAPI_DOMAINS; borrowed */
    struct feed feeds[APAPI_DOMAINS];
    double covered;   /* the least share of the time of any meter, 0..1; NaN: nothing */
    uint32_t unknown; /* bits of domains that have meters, and no energy that is known */
    bool fill;        /* estimate the energy of the time that is not covered */
};

/** Nobody feeds any domain. */
void feed_clear(struct feed feeds[APAPI_DOMAINS]);

/** @return whether the component at `index` feeds the domain, now that it is `late_ns` late. */
bool feed_offer(struct feed *feed, size_t index, uint64_t late_ns);

#endif
