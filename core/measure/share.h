/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_SHARE_H
#define MEASURE_SHARE_H
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/event.h"

/*
 * A node's energy in one interval, divided among the steps that ran. Whatever the numbers are,
 * energy = steps + idle + unattributed in each domain.
 *
 * Package and dram, and the domains inside and around them: idle power comes first, all else is
 * dynamic. The method says how dynamic energy is divided. A GPU's energy goes to the steps that
 * have it. psys and node are divided as their parts are.
 */

#define SHARE_GPUS_MAX 64

/** The receiver of idle power. */
enum share_idle {
    SHARE_IDLE_APART, /* no step is given any */
    SHARE_IDLE_CORES, /* by allocated cores; those that no step has leave their part idle */
    SHARE_IDLES
};

/** A step in an interval, and what it has been given so far. */
struct share_step {
    double cpu_s;                   /* CPU time of its cgroup in the interval [s]; NaN: not known */
    double cores;                   /* allocated to it; NaN: not known */
    double seconds;                 /* of the interval, in which it ran [s] */
    uint64_t gpus;                  /* bits of the GPUs that it has */
    const uint8_t *slices;          /* of these GPUs, that it has, by their numbers; 0: the whole
                                       GPU, or not known. NULL: whole ones */
    double energy_j[APAPI_DOMAINS]; /* given to it in all intervals [J] */
    double idle_j[APAPI_DOMAINS];   /* of this, idle energy [J] */
    double dynamic_s[APAPI_DOMAINS]; /* part of dynamic energy times the interval [s] */
    double cores_s[APAPI_DOMAINS];   /* the same of idle energy */
    double inner_j, inner_idle_j;    /* in this interval, in the domains that add up [J]; results */
    double inner_dynamic_j, inner_cores_j; /* in this interval: these domains times the parts */
};

/** The node in an interval. */
struct share_interval {
    double seconds;                 /* > 0 */
    double energy_j[APAPI_DOMAINS]; /* [J]; NaN: not known */
    double gpu_j[SHARE_GPUS_MAX];   /* of each GPU, in energy_j[APAPI_DOMAIN_GPU] [J]; NaN */
    const uint8_t *gpu_slices;      /* that each GPU has; 0: not known. NULL: none has slices */
    double span_s[APAPI_DOMAINS];   /* in which energy_j was used, by a slow meter; 0: `seconds` */
    double idle_w[APAPI_DOMAINS];   /* while no step runs [W]; NaN: not known, all is dynamic */
    double cpu_s; /* CPU time of all processes, without what they use while no step runs, as that is
                     in the idle power [s]; NaN: not known */
    double cores; /* that the node has; NaN: not known */
};

/** The node's energy in all intervals, by its receivers [J]. */
struct share_totals {
    double energy_j[APAPI_DOMAINS], steps_j[APAPI_DOMAINS], idle_j[APAPI_DOMAINS],
        unattributed_j[APAPI_DOMAINS];
};

/** A method. */
struct share_method {
    const char *name;
    double (*weight)(const struct share_step *step); /* NaN: not known */
    /* weight of what runs beside the steps; NaN: not known */
    double (*others)(const struct share_interval *interval, double steps);
};

extern const struct share_method share_methods[]; /* the last one has no name */

/** @return the method; NULL: there is none of this name. */
const struct share_method *share_method_find(const char *name);

/** @return "apart", "cores". */
const char *share_idle_name(enum share_idle idle);

/** A rule of division. */
struct share_rule {
    const struct share_method *method;
    enum share_idle idle;
};

/**
 * Divide one interval: add to what each step and the node's totals have. `steps` may be NULL if
 * `count` is 0: then all energy is idle. Does not allocate.
 */
void share_divide(const struct share_rule *rule, const struct share_interval *interval,
                  struct share_step *steps, size_t count, struct share_totals *totals);

/*
 * Idle power: the 10th percentile of the power while no step runs, of about the last week of such
 * time. A histogram with 64 bins for each power of two; each knows the mean of its values.
 */

enum {
    IDLE_LEAST = -10, /* power of two of the first bin: 0.001 W; less counts as that */
    IDLE_OCTAVES = 30,
    IDLE_BINS_PER_OCTAVE = 64,
    IDLE_BINS = IDLE_OCTAVES * IDLE_BINS_PER_OCTAVE
};

#define IDLE_ENOUGH_S 30       /* of idle time; with less the percentile is not known */
#define IDLE_MEMORY_S 604800.0 /* when there is so much, all weights are halved */

struct idle_bin {
    float seconds, energy_j;
};

struct idle_power {
    struct idle_bin bins[IDLE_BINS];
    double sum_s;
};

/** Add the mean power of an interval in which no step ran. Only positive values count. */
void idle_add(struct idle_power *idle, double power_w, double seconds);

/**
 * @param error_w  how much the median is above it [W]: idle power may have been so much
 * @return the 10th percentile [W]; NaN: too little is known.
 */
double idle_power_w(const struct idle_power *idle, double *error_w);

/**
 * @param energy_j  of the node while the step ran
 * @param idle_j    idle energy of that time; NaN: not known
 * @return the part of the rest that was given to the step, and so of the meters' error: 1, if more
 *         was given than there was
 */
static inline double share_part(double given_j, double energy_j, double idle_j)
{
    double dynamic_j = energy_j - (isnan(idle_j) ? 0 : idle_j);

    return dynamic_j > given_j ? given_j / dynamic_j : 1;
}

/*
 * Idle power of a node that is busy: its power follows CPU time, and is extrapolated to none. The
 * means of blocks of successive intervals are kept; when there is no place, blocks are joined.
 */

#define IDLE_BLOCKS 16
#define IDLE_BLOCK_S 4 /* at the start */

struct idle_block {
    double seconds, cores_s, cores2_s, energy_j, cores_j; /* sums of 1, c, c^2, p and cp [s] */
};

/** All zero at the start. */
struct idle_fit {
    struct idle_block blocks[IDLE_BLOCKS];
    unsigned count; /* the last one is being filled */
    double block_s; /* 0: IDLE_BLOCK_S */
};

/** Idle power and how far it may be wrong, of a constant power for each second of CPU time [W]. */
struct idle_estimate {
    double power_w, uncertainty_w; /* NaN: CPU time has not varied enough */
};

/** Add the mean power of an interval, and the mean number of cores at work in it. */
void idle_fit_add(struct idle_fit *fit, double power_w, double cores, double seconds);

/** @return an estimate that is good for a tenth of the dynamic power, if there is one. */
struct idle_estimate idle_fit_estimate(const struct idle_fit *fit);

#endif
