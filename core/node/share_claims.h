/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_SHARE_CLAIMS_H
#define NODE_SHARE_CLAIMS_H
#include <stddef.h>

#include "node/reading.h"
#include "node/share_page.h"

/* What steps that have ended were given, as their records say, and what is still to be paid. */
struct share_claims {
    uint64_t taken, unready; /* claims; one that was not complete when it was looked at */
    size_t begun;            /* in this interval: of steps that no reading has seen */
    bool any;                /* in this interval */
    double cpu_s;            /* in this interval, of the steps of the claims [s] */
    double owed_j[APAPI_DOMAINS];
    double returned_j[APAPI_DOMAINS]; /* what rows had, and records do not say */
};

/** Take the claims of an interval: the rows of their steps get what they say, and no more later. */
void share_claims_take(struct share_claims *claims, const struct share_page *page,
                       struct share_row *rows, const struct node_reading *reading);

/** @return what steps had of a domain that is nobody's now; it is returned once [J] */
double share_claims_return(struct share_claims *claims, int domain);

/** @return what is taken from a domain's energy in an interval, to be divided no more [J] */
double share_claims_pay(struct share_claims *claims, int domain, double *energy_j);

#endif
