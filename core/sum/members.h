/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SUM_MEMBERS_H
#define APAPI_SUM_MEMBERS_H
#include <stdbool.h>
#include <stddef.h>

#include "apapi/record.h"
#include "apapi/share_result.h"
#include "base/names.h"
#include "record/members.h"

#define JOB_ID_SIZE 32

/**
 * Add an energy, which may be NaN: not known. Uncertainties add up, as all may err to the same
 * side; an energy without uncertainty makes the uncertainty of the sum unknown.
 */
void sum_plus(double energy_j, double uncertainty_j, double *sum_j, double *sum_uncertainty_j);

/** Write a job's ID in Slurm's form: "17", "17_3", "21+1"; "" outside Slurm. */
void job_id_text(const struct apapi_identity *id, char *text, size_t size);

/** Write a step's ID: "17_3.0"; "one outside Slurm". */
void step_id_text(const struct apapi_identity *id, char *text, size_t size);

/** @return whether a step has the name, also as "+1.batch" of a heterogeneous job. */
bool step_is(const char *step, const char *name);

#define CROSSING_TEXT_SIZE 768 /* enough for all that crossing_text() writes */

/** @return whether a crossing is the last one of its threshold in the record. */
bool crossing_is_last(const struct apapi_record *record, size_t index);

/** @return index of the first crossing in the record that has the threshold of `index`. */
size_t crossing_first(const struct apapi_record *record, size_t index);

/**
 * Write a threshold's line: "3 times, first at 1.203 s, last at 3.5 s with 3.000 kJ; log".
 * After the semicolon comes the result of the action, if there is any, else the action.
 * @param index  of the threshold's last crossing in the record
 */
void crossing_text(const struct apapi_record *record, size_t index, char *text, size_t size);

/* Regions of several nodes, added up by path. */

#define REGION_SUMS_MAX 4096 /* paths; regions with further paths are in the rest */

/** A region on all nodes so far. */
struct region_sum {
    struct apapi_region_result region;
    uint32_t missing; /* bits of domains that a node has, but whose energy is not known here */
};

/** All zero at the start. */
struct region_sums {
    struct pool keys;
    struct region_sum *rows; /* by number in `keys` */
    size_t room;
    struct fom_sums foms;
    struct apapi_region_losses losses;
};

/** Add the regions of a record. 0; -1 with errno ENOMEM. */
int region_sums_add(struct region_sums *sums, const struct apapi_record *record);

/**
 * The regions of a record of all nodes: the regions with the highest energy first, then the other
 * kinds. A domain's energy is not known if one node lacks it.
 * @param max     regions that are named, at least 1; the others are in the rest
 * @param result  empty it with apapi_regions_clear(); set on success only
 * @return 0; -1 with errno ENOMEM
 */
int region_sums_result(const struct region_sums *sums, size_t max, struct apapi_regions *result);

/** Free what the sums own. */
void region_sums_free(struct region_sums *sums);

/** The shares of a step on its nodes. All zero at the start. */
struct share_sum {
    size_t nodes;             /* nodes whose share is known */
    size_t lacking;           /* nodes whose share was asked for and is not known */
    struct apapi_share share; /* added up; method and idle "mixed" if they differ */
};

void share_sum_add(struct share_sum *sum, const struct apapi_share *share);

#endif
