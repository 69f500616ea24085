/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RECORD_MEMBERS_H
#define APAPI_RECORD_MEMBERS_H
#include <stdbool.h>

#include "apapi/measurement.h"
#include "apapi/record.h"
#include "apapi/region_result.h"
#include "apapi/share_result.h"
#include "base/json.h"
#include "record/fields.h"

/* --- energies by domain ----------------------------------------------------------------------- */

/* Arrays, by enum apapi_domain, of structures of `size` bytes that begin with an energy or NaN. */

/** The first members of such a structure. */
enum energies_member { ENERGIES_J, ENERGIES_UNCERTAINTY_J };

/**
 * @return the sum of a member over the domains that add up and whose energy is known; NaN: no
 * energy is known, or one of the uncertainties is not
 */
double energies_sum(const void *first, size_t size, enum energies_member member);

/* --- regions ---------------------------------------------------------------------------------- */

/** @return whether there are any regions, figures of merit or losses. */
bool regions_exist(const struct apapi_regions *regions);

extern const struct field fields_of_regions[]; /* in struct apapi_regions */

/** @return the sum of two numbers, or the one that is known. */
static inline uint32_t known_total(uint32_t a, uint32_t b)
{
    return a == APAPI_UNKNOWN ? b : b == APAPI_UNKNOWN ? a : a + b;
}

/** Figures of merit, added up by name and unit. All zero at the start. */
struct fom_sums {
    size_t count;
    struct apapi_fom list[APAPI_FOMS_MAX];
};

/** @return whether the figure has room and its sum is finite; otherwise nothing changes. */
bool foms_add(struct fom_sums *sums, const struct apapi_fom *fom);

/** @return a region whose energies are not known. */
struct apapi_region_result region_unmeasured(void);

/** @return energy_j / time_ns [W]; NaN: not known. */
double region_power_w(const struct apapi_region_result *region, enum apapi_domain domain);

/* --- share ------------------------------------------------------------------------------------ */

/** @return whether the share includes idle power, because idle power was not known. */
bool share_has_idle(const struct apapi_share *share);

/**
 * Write "share" into the object that is open, if there is a share or a reason for having none.
 * @param missing_nodes  nodes whose share was asked for, and is not known; 0: not written
 */
void share_write(struct json_writer *json, const struct apapi_share *share, size_t missing_nodes);

/** Read the value of "share"; NULL: there is no "share". 0; -1 with EINVAL and path->err. */
int share_decode(const struct tree_node *object, struct apapi_share *share,
                 const struct field_path *path);

/* --- timeline --------------------------------------------------------------------------------- */

/** @return the unit of the bins' energies, which are written as integer multiples of it [J] */
double timeline_unit_j(const struct apapi_timeline *timeline);

/** Write "unit_j":…,"n":[…],"covered_pct":{…} of a timeline with bins. */
void timeline_write(struct json_writer *json, const struct apapi_timeline *timeline);

/** Write "timeline", the energy of the domains over time, if there is any. */
void timelines_write(struct json_writer *json, const struct apapi_measurement *m);

/**
 * Read the value of "timeline", or nothing if it is NULL. Domains and elapsed_ns must have been
 * read before. 0; -1 with EINVAL and path->err.
 */
int timelines_decode(const struct tree_node *object, struct apapi_measurement *m,
                     const struct field_path *path);

#endif
