/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SUM_REGIONS_H
#define APAPI_SUM_REGIONS_H
#include "apapi/record.h"
#include "base/names.h"

/* Regions of several nodes, added up by path. */

#define REGION_SUMS_MAX 4096 /* paths; all others are in the rest */

/** A region on all nodes so far. */
struct region_sum {
    struct apapi_region_result region;
    uint32_t missing; /* bits of the domains that a node measured, but not for this region */
};

/** All zero at the start. */
struct region_sums {
    struct pool keys;
    struct region_sum *rows; /* by number in `keys` */
    size_t room;
    struct apapi_fom foms[APAPI_FOMS_MAX];
    size_t fom_count;
    struct apapi_region_losses losses;
};

/** Add those of a record. 0; -1 with errno ENOMEM. */
int region_sums_add(struct region_sums *sums, const struct apapi_record *record);

/**
 * What a record of all nodes would have: the regions with the highest energy first, then the other
 * kinds. A domain's energy is not known if one node lacks it.
 * @param max     regions that are named, at least 1; the others are in the rest
 * @param result  empty it with apapi_regions_clear(); set on success only
 * @return 0; -1 with errno ENOMEM
 */
int region_sums_result(const struct region_sums *sums, size_t max, struct apapi_regions *result);

/** Free what it owns. */
void region_sums_free(struct region_sums *sums);

#endif
