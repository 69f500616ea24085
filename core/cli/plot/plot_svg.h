/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PLOT_PLOT_SVG_H
#define PLOT_PLOT_SVG_H
#include <stdio.h>

#include "cli/job/job.h"
#include "cli/query.h"

#define PLOT_JOBS_MAX 24
#define PLOT_COLUMNS 240
#define PLOT_SERIES_MAX 8
#define PLOT_COLOURS 8 /* 0 is of totals */

/* One line of a picture. */
struct plot_series {
    char name[APAPI_TEXT_SIZE];
    unsigned colour;
    double power_w[PLOT_COLUMNS]; /* NaN: not known for all that ran then */
};

struct plot_job {
    char id[32];
    size_t order; /* position of the word that selects it */
    struct show show;
    struct plot_series series[PLOT_SERIES_MAX];
    size_t series_count;
    struct apapi_regions regions;
    double length_s;
    double scale_s, scale_w; /* greatest values of its axes */
};

struct plot {
    struct query query;
    const char *output;
    int page;        /* the form: 1: a page; 0: a picture; -1: by the name */
    int by_node;     /* 0: by domain */
    bool same_scale; /* all jobs use the same scale */
    bool crowded;    /* more jobs than allowed */
    size_t job_count;
    struct plot_job *jobs[PLOT_JOBS_MAX];
};

/** @return a moment on the job's axis [s]. */
double plot_time_s(const struct plot_job *job, int64_t unix_ns);

/** @return whether the step has a mark where it begins. */
bool plot_marks(const struct show_step *step);

/** @return the part of the job's energy that a region used; 0: not known. */
double plot_share(const struct plot_job *job, const struct apapi_region_result *region);

/** Write the picture: a panel for each job. */
void plot_svg(const struct plot *plot, FILE *out);

#endif
