/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RECORD_HOUR_H
#define APAPI_RECORD_HOUR_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"
#include "apapi/event.h"
#include "apapi/scan.h"
#include "base/json.h"

/* --- an hour ---------------------------------------------------------------------------------- */

/* A line of a node's own record: the energy that its meters saw in an hour, and its parts. */

#define HOUR_GAPS_MAX 32

/** The energy of a meter and its parts [J]. NaN: not known. */
struct hour_sum {
    double energy_j;       /* what the meter saw */
    double steps_j;        /* given to steps as shares */
    double idle_j;         /* of the node, while no step runs */
    double unattributed_j; /* attributed to no step */
};

/** A time without readings, or without readings that count. */
struct hour_gap {
    int64_t start_ns; /* UTC since 1970 [ns] */
    double elapsed_s; /* [s] */
    char reason[64];  /* "sampler down", "reboot", "reset", "reading failed" */
};

/** An hour, or the part of it in which one sampler ran: parts add up. Plain data. */
struct hour {
    char cluster[64]; /* "": not known */
    char node[256];
    char method[32];          /* of the shares; "": not known */
    int64_t start_ns, end_ns; /* UTC since 1970 [ns] */
    double measured_s;        /* time in the hour that lies between readings [s] */
    double idle_w;            /* 10th percentile of power while no step ran [W]; NaN: not known */
    uint64_t steps;           /* number of steps that ran */
    struct hour_sum domains[APAPI_DOMAINS]; /* by enum apapi_domain */
    struct hour_sum total;                  /* of the domains that add up */
    struct hour_sum node_meter;             /* of the BMC or the platform */
    struct hour_gap gaps[HOUR_GAPS_MAX];
    size_t gap_count;   /* in `gaps` */
    uint64_t gap_total; /* all gaps, also those without room in `gaps` */
    uint64_t resets;    /* of meters */
};

/**
 * Parse a line.
 * @param tree  scratch memory of the caller, zero at the start
 * @param hour  result, set for 1 only
 * @return 1: an hour; 0: another type of line; -1 with errno EINVAL, ENOTSUP (another version),
 * ENOMEM
 */
int hour_decode(struct tree *tree, const char *text, size_t size, struct hour *hour,
                struct apapi_error *err);

/* --- writing ---------------------------------------------------------------------------------- */

/** @return the line, without a newline, to be freed with free(); NULL: out of memory */
char *hour_encode(const struct hour *hour);

/* --- files ------------------------------------------------------------------------------------ */

/*
 * Nodes' own records in an accounting folder: <dir>/<YYYY-MM-DD>/<node>.hours, also .hours.gz.
 * Lines that are no lines of such a record are skipped, counted and reported.
 */

/** @return 0; -1 with errno: stop */
typedef int (*hour_f)(const struct hour *hour, void *context);

/**
 * Read the hours of the wanted clusters and nodes that begin in the filter's time, in the order of
 * days and nodes.
 * @param sink  its `context` is also given to `take`; its `record` is not called
 * @return 0; -1 with errno of opening `dir`, EINVAL (`nodes`), ENOMEM, or of `take`, which leaves
 * `err` empty
 */
int hours_read(const char *dir, const struct apapi_scan_filter *filter,
               const struct apapi_scan_sink *sink, hour_f take, struct apapi_error *err);

#endif
