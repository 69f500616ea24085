/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ATIME_REPORT_H
#define ATIME_REPORT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "apapi/record.h"
#include "base/child.h"
#include "limit/limit.h"

/** One run of the program. */
struct run {
    struct apapi_record record;
    struct child_end end; /* elapsed_ns only if no program was started */
};

/** The data of a report. */
struct report {
    char *const *program;        /* as for execvp() */
    size_t runs_wanted, warmups; /* warm-ups come first and are not measured */
    bool verbose;
    struct child_end warmup; /* the last warm-up */
    size_t count;            /* finished runs, > 0 */
    struct run *runs;        /* room for `runs_wanted` */
};

/* --- forms ------------------------------------------------------------------------------------ */

/** Writes one format. @return 0; -1 with errno ENOMEM. */
typedef int (*report_f)(FILE *out, const struct report *report, struct apapi_error *err);

/** Writes one format for two programs. @return 0; -1 with errno ENOMEM. */
typedef int (*compare_f)(FILE *out, const struct report reports[2], struct apapi_error *err);

/** A table for people; several runs as mean and standard deviation. */
int report_table(FILE *out, const struct report *report, struct apapi_error *err);

/** One line: a record with the key `program`; for several runs an array of them, and statistics. */
int report_json(FILE *out, const struct report *report, struct apapi_error *err);

/** A line of names and units, then a line for each number, domain and event of each run. */
int report_csv(FILE *out, const struct report *report, struct apapi_error *err);

/** Two programs that were run in turn, for people and as JSON: each of them, and the difference. */
int compare_table(FILE *out, const struct report reports[2], struct apapi_error *err);
int compare_json(FILE *out, const struct report reports[2], struct apapi_error *err);

/* --- figures ---------------------------------------------------------------------------------- */

/** A number of a run. */
enum figure { ELAPSED, USER, SYSTEM, ENERGY, POWER, FIGURES };

struct figure_name {
    const char *word, *key, *unit; /* in a table, in JSON */
};
extern const struct figure_name figure_names[FIGURES];

/* Figures that are compared between two programs, in this order. */
static const enum figure figures_compared[] = {ENERGY, POWER, ELAPSED};

/** The subject of a figure; all zero: the run. Domains and regions have no CPU time. */
struct part {
    enum apapi_domain domain;
    const struct apapi_region_result *region; /* of the list of report_regions(); NULL: none */
};
#define WHOLE ((struct part){APAPI_DOMAIN_NONE, NULL})

/** @return the number; NaN: not known. A region's power is energy by time of its threads. */
double run_figure(const struct run *run, enum figure figure, struct part part);

/** @return the uncertainty of the energy, as a part of the energy; NaN: not known. */
double run_uncertainty(const struct run *run, struct part part);

/** Mean (NaN: no value) and standard deviation (n - 1; NaN: less than two) of the known values. For
 * energy and power it is at least the deviation that follows from the runs' uncertainties. */
struct spread {
    size_t count;
    double mean;
    double sd;
};

/**
 * @return the spread of a figure over all runs. A total counts only if it lacks no domain that
 * another run knows: totals with and without a package cannot be compared.
 */
struct spread report_spread(const struct report *report, enum figure figure, struct part part);

/** @return bits of the domains that add up, have a meter in some run, and are known in no run. */
uint32_t report_missing_domains(const struct report *report);

/** @return bits of the domains that only one of two programs has in its total. */
uint32_t report_other_domains(const struct report reports[2]);

/** @return whether at least one run has measured this domain; NONE: any domain that adds up. */
bool report_has_domain(const struct report *report, enum apapi_domain domain);

/**
 * Add up the regions of all runs.
 * @param sums  result; empty it with apapi_regions_clear()
 * @return 0; -1 with errno ENOMEM
 */
int report_regions(const struct report *report, struct apapi_regions *sums);

/* --- Student's t distribution: how sure the mean of some runs is ------------------------------ */

/** @return probability that |t| is at least `t` with `df` degrees of freedom (> 0), 0..1. */
double student_two_sided(double t, double df);

/** @return the t that |t| exceeds in 5 % of cases, with `df` degrees of freedom. */
double student_t95(double df);

/** @return half of the 95 % confidence interval of the mean; NaN for fewer than two values. */
double student_half_width(const struct spread *spread);

/** Difference of two means, by Welch's t-test. NaN: not known. */
struct difference {
    double mean;       /* other - one */
    double half_width; /* of the 95 % confidence interval of `mean` */
    double p;          /* probability of at least this difference if the true means are equal */
};

struct difference student_difference(const struct spread *one, const struct spread *other);

/**
 * @return the second program's figure minus the first program's. An energy or a power is not known
 * if report_other_domains() are not empty.
 */
struct difference report_difference(const struct report reports[2], enum figure figure);

#endif
