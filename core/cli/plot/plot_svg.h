/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PLOT_PLOT_SVG_H
#define PLOT_PLOT_SVG_H
#include <stdio.h>

#include "cli/job/job.h"

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
    struct show show;
    struct plot_series series[PLOT_SERIES_MAX];
    size_t series_count;
    struct apapi_regions regions;
    double length_s, greatest_w; /* of its axes */
};

/** @return a moment on the job's axis [s]. */
double plot_time_s(const struct plot_job *job, int64_t unix_ns);

/** @return whether the step has a mark where it begins. */
bool plot_marks(const struct show_step *step);

/** @return the part of the job's energy that a region used; 0: not known. */
double plot_share(const struct plot_job *job, const struct apapi_region_result *region);

/** Write the picture. */
void plot_svg(const struct plot_job *job, FILE *out);

#endif
