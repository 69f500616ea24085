/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_REGIONS_REGIONS_H
#define APAPI_REGIONS_REGIONS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"
#include "apapi/event.h"
#include "apapi/region_result.h"
#include "base/names.h"

/* The output of `apapi regions`: regions added up over threads, ranks and nodes. */

#define REGIONS_EVENTS_MAX 64
#define REGIONS_ROWS_MAX 65536
#define REGIONS_WHERE 2

/** An event of a region. */
struct region_event {
    bool instant; /* a value, not an increment: the mean is shown */
    enum apapi_domain domain;
    double joules; /* of a unit, if it is the energy of `domain` */
    bool shared;   /* it counts for the whole node, whatever thread reads it */
};

/** Time and energy of a region, with or without the regions inside it. NaN: not known. */
struct region_use {
    double time_s; /* of all threads */
    double wall_s; /* of the thread that took longest; of a record their mean */
    double energy_j[APAPI_DOMAINS];
    double uncertainty_j[APAPI_DOMAINS];
    double values[REGIONS_EVENTS_MAX]; /* by event; an instant one's sum over all passes */
};

/** A region, as one row shows it. Texts are numbers of regions->texts. */
struct region_row {
    uint32_t path; /* of other kinds "(idle)", ... */
    enum apapi_region_kind kind;
    uint32_t where[REGIONS_WHERE]; /* rank and thread, or step and node; POOL_NONE: all */
    uint64_t count;
    uint64_t ranks, threads; /* in which it was; ranks are programs or nodes */
    uint32_t last_rank;
    const char *method;    /* "measured", "estimated", ...; static storage; NULL: not known */
    struct region_use own; /* without the regions inside it */
    struct region_use all; /* with them */
};

/** A figure of merit of a step or rank. */
struct region_fom {
    uint32_t where; /* as that of rows, [0] */
    struct apapi_fom fom;
};

/** All zero at the start, but for the members above `texts`. */
struct regions {
    bool inclusive;                          /* show regions with those inside them */
    bool split[REGIONS_WHERE];               /* whether `where` has rows of its own */
    const char *where_titles[REGIONS_WHERE]; /* of struct region_row's `where` */
    const char *ranks_title;                 /* of its `ranks` */
    struct pool texts, events, keys;
    struct region_event described[REGIONS_EVENTS_MAX];
    struct region_row *rows; /* by number in `keys`; sorted by regions_finish() */
    size_t row_count, row_room;
    size_t dropped;   /* rows without room */
    bool shared;      /* energy is of the whole node for each thread */
    double *totals_j; /* of all rows of where[0], 0 for POOL_NONE; set by regions_finish() */
    struct region_fom *foms;
    size_t fom_count, fom_room;
};

/** @return energy of the rows of a step or rank [J]; NaN: not known. POOL_NONE: of all rows */
double regions_total_j(const struct regions *regions, uint32_t where);

/** A row of zeros. */
struct region_row regions_row(uint32_t path);

const char *regions_event_name(const struct regions *regions, size_t number);

/** @return its value as shown: of an instant event the mean. NaN: not known */
double regions_event_value(const struct regions *regions, const struct region_row *row,
                           size_t number);

/** Add what one region was in one thread, or on one node. 0; -1 with errno ENOMEM. */
int regions_add(struct regions *regions, const struct region_row *row);

/** Add a figure of merit; those of the same name and unit, one after the other, are added up.
 * 0; -1 with errno ENOMEM. */
int regions_add_fom(struct regions *regions, uint32_t where, const struct apapi_fom *fom);

/**
 * When all is added: calculate energies from the events' values, and sort by energy and time.
 * @return 0; -1 with errno ENOMEM
 */
int regions_finish(struct regions *regions);

/** Figures that follow from others. NaN: not known. */
struct region_figures {
    double energy_j, uncertainty_j; /* of the domains that add up */
    double share;                   /* of the energy of all rows of where[0], 0..1 */
    double power_w;                 /* mean power that one thread in the region draws */
    double edp_js;                  /* energy x wall time */
    double ipc, mflops, mflop_per_j;
};
struct region_figures regions_figures(const struct regions *regions, const struct region_row *row);

/** The figures that `regions->inclusive` selects. */
const struct region_use *regions_use(const struct regions *regions, const struct region_row *row);

void regions_free(struct regions *regions);

/**
 * Add the files of PAPI's high-level API in a folder, or one file.
 * @param warn     receives why a file is left out
 * @param skipped  result: their number
 * @return 0; -1 with errno and `err`
 */
typedef void (*regions_warn_f)(const char *text);
int regions_read_folder(struct regions *regions, const char *path, regions_warn_f warn,
                        size_t *skipped, struct apapi_error *err);

#endif
