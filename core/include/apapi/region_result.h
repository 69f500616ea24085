/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_REGION_RESULT_H
#define APAPI_REGION_RESULT_H
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"
#include "apapi/event.h"

APAPI_BEGIN_C

/*
 * The regions in a record: time and energy of the parts of programs. Plain data. A number that is
 * not known is NaN, never 0. All functions here may be called from any thread.
 */

#define APAPI_REGION_PATH_SIZE 256 /* size of a path "outer/inner", with its NUL [bytes] */
#define APAPI_REGIONS_MAX 256      /* most regions named in a record; others: APAPI_REGION_REST */
#define APAPI_REGION_BINS 60       /* most bins of a region's share over time */
#define APAPI_FOM_NAME_SIZE 64     /* size of a figure of merit's name, with its NUL [bytes] */
#define APAPI_FOM_UNIT_SIZE 32     /* size of a figure of merit's unit, with its NUL [bytes] */
#define APAPI_FOMS_MAX 64          /* most figures of merit in a record */

/** The kind of an entry. */
enum apapi_region_kind {
    APAPI_REGION_NAMED,    /* a region that a program has marked, by its path */
    APAPI_REGION_UNMARKED, /* threads of programs with regions, while they are in no region */
    APAPI_REGION_IDLE, /* the node without these threads: its idle power and all other programs */
    APAPI_REGION_REST, /* all regions that have no entry of their own, added up */
    APAPI_REGION_KINDS
};

/** Where the energy of an entry comes from. */
enum apapi_region_method {
    APAPI_REGION_UNKNOWN,   /* the energy is not known: `reason` says why */
    APAPI_REGION_MEASURED,  /* the region lasted several readings: difference of the meters */
    APAPI_REGION_ESTIMATED, /* from its share of the time in many intervals between readings */
    APAPI_REGION_SHARED,    /* the readings cannot tell the region from others: their common energy
                               is shared by time. `reason` names one of the others */
    APAPI_REGION_METHODS
};

/** Energy of a region in one domain. */
struct apapi_region_energy {
    double energy_j;      /* [J]; NaN: not known */
    double uncertainty_j; /* the energy is within energy_j +- this in 95 of 100 runs [J]; NaN: not
                             known */
    double power_w;       /* energy_j / time_s: the power that one thread in the region adds [W] */
};

/** A region in all programs of a step on one node. */
struct apapi_region_result {
    char path[APAPI_REGION_PATH_SIZE]; /* its names from the outermost on, joined by "/"; "": not of
                                          kind APAPI_REGION_NAMED. UTF-8 */
    enum apapi_region_kind kind;
    enum apapi_region_method method;
    uint64_t count;    /* times that the region was entered; 0: not known */
    uint32_t programs; /* processes that used the region */
    uint32_t threads;  /* threads of all these processes that used the region; those of a process
                          that did not run at the same time may be one */
    uint64_t time_ns;  /* time in the region, but not in an inner one, of all threads together [ns];
                          APAPI_REGION_IDLE: the time of the measurement */
    char reason[96];   /* why the energy is not known or not told apart; "": it is */
    struct apapi_region_energy domains[APAPI_DOMAINS]; /* by enum apapi_domain */
    uint64_t bin_ns; /* width of a bin of `share_pct`, from the start of the measurement [ns] */
    uint32_t bins;   /* bins in use; 0: not known. In later bins the share is 0 */
    uint8_t share_pct[APAPI_REGION_BINS]; /* of the node's energy (package + dram + gpu) in the bin,
                                             by the mean power of each region, 0..100 [%] */
};

/** A figure of merit: a result of the program (iterations, FLOP), to be divided by its energy. */
struct apapi_fom {
    char name[APAPI_FOM_NAME_SIZE]; /* UTF-8 */
    char unit[APAPI_FOM_UNIT_SIZE]; /* "": none */
    double value;                   /* sum of the last value of each of the `programs` */
    uint32_t programs;              /* processes that gave a value */
};

/** Counts of regions and programs without an entry of their own. */
struct apapi_region_losses {
    uint64_t regions;  /* regions in the entry APAPI_REGION_REST */
    uint64_t names;    /* names, and figures of merit, without room in a program or the record */
    uint64_t threads;  /* threads for which a program, or the step, had no room */
    uint64_t programs; /* programs for which the step had no room */
    uint64_t refused;  /* programs whose page was not valid */
    uint64_t misuses;  /* begins without an end, ends without a begin */
};

/** The regions of a step on one node. */
struct apapi_regions {
    size_t count;
    struct apapi_region_result *list; /* owned: the regions by cost, then the other kinds */
    size_t fom_count;
    struct apapi_fom *foms; /* owned */
    struct apapi_region_losses losses;
};

/** Free what `regions` owns, and set it to zeros. NULL is allowed. errno is preserved. */
APAPI_API void apapi_regions_clear(struct apapi_regions *regions);

/** @return "region", "unmarked", "idle", "rest"; "?" for any other number. Static storage. */
APAPI_API const char *apapi_region_kind_name(enum apapi_region_kind kind);

/** @return "unknown", "measured", "estimated", "shared"; "?" for any other number. Static. */
APAPI_API const char *apapi_region_method_name(enum apapi_region_method method);

/** @return energy of the domains that add up [J]; NaN: none of them is known. */
APAPI_API double apapi_region_energy_j(const struct apapi_region_result *region);

APAPI_END_C
#endif
