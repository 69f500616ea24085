/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_SHARE_H
#define MEASURE_SHARE_H
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/event.h"

/*
 * A node's energy in one interval, divided among the steps that ran. For all inputs,
 * energy = steps + idle + unattributed in each domain.
 *
 * In package, dram and the domains inside package, idle power comes first, all other energy is
 * dynamic. The method says how dynamic energy is divided. A GPU's energy goes to the steps that
 * have the GPU. psys and node are divided like the sum of package, dram and gpu.
 */

#define SHARE_GPUS_MAX 64

/** The receiver of idle power. */
enum share_idle {
    SHARE_IDLE_APART, /* no step is given idle power */
    SHARE_IDLE_CORES, /* steps, by allocated cores; the part of free cores stays idle */
    SHARE_IDLES
};

/** A step in an interval, and the energy that it has been given so far. */
struct share_step {
    double cpu_s;                   /* CPU time of its cgroup in the interval [s]; NaN: not known */
    double cores;                   /* allocated to the step; NaN: not known */
    double seconds;                 /* time in the interval in which the step ran [s] */
    uint64_t gpus;                  /* a bit for each GPU of the step */
    const uint8_t *slices;          /* slices that the step has of each GPU, by its number; 0: the
                                       whole GPU, or not known. NULL: whole GPUs */
    double energy_j[APAPI_DOMAINS]; /* given to the step in all intervals [J] */
    double idle_j[APAPI_DOMAINS];   /* idle energy in energy_j [J] */
    double dynamic_s[APAPI_DOMAINS]; /* sum of its part of dynamic energy times the interval [s] */
    double cores_s[APAPI_DOMAINS];   /* sum of its part of idle energy times the interval [s] */
    double inner_j, inner_idle_j;    /* in this interval, in the domains that add up [J]; results */
    double inner_dynamic_j, inner_cores_j; /* in this interval: energy of these domains x parts */
};

/** The node in an interval. */
struct share_interval {
    double seconds;                 /* > 0 */
    double energy_j[APAPI_DOMAINS]; /* [J]; NaN: not known */
    double gpu_j[SHARE_GPUS_MAX];   /* of each GPU, in energy_j[APAPI_DOMAIN_GPU] [J]; or NaN */
    const uint8_t *gpu_slices;      /* slices of each GPU; 0: not known. NULL: none has slices */
    double span_s[APAPI_DOMAINS];   /* time of energy_j, for a slow meter [s]; 0: `seconds` */
    double idle_w[APAPI_DOMAINS];   /* power while no step runs [W]; NaN: not known, all dynamic */
    double cpu_s; /* CPU time of all processes, without the CPU time that they also use while no
                     step runs, which is in the idle power [s]; NaN: not known */
    double cores; /* cores of the node; NaN: not known */
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
    /* weight of the processes outside all steps; NaN: not known. NULL: they have none */
    double (*others)(const struct share_interval *interval, double steps);
};

extern const struct share_method share_methods[]; /* the last one has no name */

/** @return the method called `name`; NULL: there is none. */
const struct share_method *share_method_find(const char *name);

/** @return "apart", "cores". */
const char *share_idle_name(enum share_idle idle);

/** A rule of division. */
struct share_rule {
    const struct share_method *method;
    enum share_idle idle;
};

/**
 * Divide one interval: add its energy to the sums of the steps and of the node. `steps` may be NULL
 * if `count` is 0: then all energy is idle. Does not allocate.
 */
void share_divide(const struct share_rule *rule, const struct share_interval *interval,
                  struct share_step *steps, size_t count, struct share_totals *totals);

/*
 * Idle power: the 10th percentile of the power while no step runs, over about the last week of such
 * time. A histogram with 64 bins for each power of two; each bin has the mean of its values.
 */

enum {
    IDLE_LEAST = -10, /* power of two of the first bin: 0.001 W; a lower power counts in it, too */
    IDLE_OCTAVES = 30,
    IDLE_BINS_PER_OCTAVE = 64,
    IDLE_BINS = IDLE_OCTAVES * IDLE_BINS_PER_OCTAVE
};

#define IDLE_ENOUGH_S 30       /* with less idle time the percentile is not known [s] */
#define IDLE_MEMORY_S 604800.0 /* idle time after which all weights are halved: a week [s] */

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
 * @param error_w  result: how much the median is above the percentile [W]: a possible idle power
 * @return the 10th percentile [W]; NaN: too little is known.
 */
double idle_power_w(const struct idle_power *idle, double *error_w);

/**
 * @param energy_j  energy of the node while the step ran
 * @param idle_j    idle energy of that time; NaN: not known
 * @return the part of the node's dynamic energy, and so of the meters' error, that the step was
 *         given with `given_j`; 1 if `given_j` is more than all
 */
static inline double share_part(double given_j, double energy_j, double idle_j)
{
    double dynamic_j = energy_j - (isnan(idle_j) ? 0 : idle_j);

    return dynamic_j > given_j ? given_j / dynamic_j : 1;
}

/*
 * Idle power of a node that is always busy: its power as a function of CPU time is extrapolated to
 * no CPU time. The means of blocks of successive intervals are kept; full blocks are joined.
 */

#define IDLE_BLOCKS 16
#define IDLE_BLOCK_S 4 /* length of a block at the start [s] */

struct idle_block {
    double seconds, cores_s, cores2_s, energy_j, cores_j; /* sums of 1, c, c^2, p and cp [s] */
};

/** All zero at the start. */
struct idle_fit {
    struct idle_block blocks[IDLE_BLOCKS];
    unsigned count; /* blocks in use; the last one is being filled */
    double block_s; /* length of a full block [s]; 0: IDLE_BLOCK_S */
};

/** Idle power and its uncertainty [W], if each second of CPU time takes a constant power. */
struct idle_estimate {
    double power_w, uncertainty_w; /* NaN: CPU time has not varied enough */
};

/** Add the mean power of an interval, and the mean number of cores at work in it. */
void idle_fit_add(struct idle_fit *fit, double power_w, double cores, double seconds);

/** @return an estimate with an uncertainty of at most a tenth of the dynamic power; else NaN. */
struct idle_estimate idle_fit_estimate(const struct idle_fit *fit);

#endif
