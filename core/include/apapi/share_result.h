/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SHARE_RESULT_H
#define APAPI_SHARE_RESULT_H
#include <stdbool.h>
#include <stdint.h>

#include "apapi/error.h"
#include "apapi/event.h"

APAPI_BEGIN_C

/*
 * The share of a node's energy that a step is given. Plain data. A number that is not known is NaN,
 * never 0. All functions here may be called from any thread.
 */

#define APAPI_SHARE_WORD_SIZE 24   /* size of a method's name, with its NUL [bytes] */
#define APAPI_SHARE_REASON_SIZE 96 /* size of a reason, with its NUL [bytes] */

/** Share of the energy of one domain. */
struct apapi_share_energy {
    double energy_j;      /* given to the step [J]; NaN: not known */
    double uncertainty_j; /* uncertainty of energy_j from meters, readings and idle power that is
                             not known; without the error of the method itself [J]; NaN: not
                             known */
    double idle_j; /* idle energy by allocated cores, a part of energy_j [J]; NaN: not shared */
    double idle_w; /* idle power of the node that the method used [W]; NaN: not known, so that all
                      power was taken as dynamic */
};

/** Share of a step on one node. */
struct apapi_share {
    char method[APAPI_SHARE_WORD_SIZE];   /* "cpu-time"; "exclusive": the step had the whole node;
                                             "": the share is not known */
    char idle[APAPI_SHARE_WORD_SIZE];     /* "apart": no step is given idle power; "cores": each
                                             step is given it by its cores; "included": it is not
                                             known, and shared with the rest; "": does not matter */
    char reason[APAPI_SHARE_REASON_SIZE]; /* why the share is not known; "": it is known, or was
                                             not asked for */
    bool slices;                          /* the energy of GPUs is shared by slices (MIG) */
    uint64_t interval_ns;                 /* time between two divisions [ns]; 0: not known */
    uint64_t tail_ns; /* time at the end, after the last division: its energy is what the step used
                         then, at the last known rate [ns] */
    struct apapi_share_energy domains[APAPI_DOMAINS]; /* by enum apapi_domain */
};

/** @return a share of which nothing is known. */
APAPI_API struct apapi_share apapi_share_unknown(void);

/** @return whether a record has a share. */
APAPI_API bool apapi_share_known(const struct apapi_share *share);

/** @return energy of the domains that add up [J]; NaN: none of them is known. */
APAPI_API double apapi_share_energy_j(const struct apapi_share *share);

/**
 * @return uncertainty of apapi_share_energy_j() [J]: the sum over the domains, because all may err
 *         in the same direction. NaN: the uncertainty of a domain is not known
 */
APAPI_API double apapi_share_uncertainty_j(const struct apapi_share *share);

APAPI_END_C
#endif
