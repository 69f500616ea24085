/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SUM_SHARE_SUM_H
#define SUM_SHARE_SUM_H
#include <jansson.h>
#include <stddef.h>

#include "apapi/share_result.h"

/** The shares of a step on its nodes. All zero at the start. */
struct share_sum {
    size_t nodes;             /* whose share is known */
    size_t lacking;           /* whose share was asked for and is not known */
    struct apapi_share share; /* added up; method and idle "mixed" if they differ */
};

void share_sum_add(struct share_sum *sum, const struct apapi_share *share);

/** Add "share" to a merged record, if any was asked for. 0; -1: out of memory. */
int share_sum_encode(json_t *root, const struct share_sum *sum);

#endif
