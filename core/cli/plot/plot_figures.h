/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_PLOT_FIGURES_H
#define APAPI_PLOT_FIGURES_H
#include <stdbool.h>
#include <stddef.h>

#include "cli/job/job.h"

/* Power over time of some jobs, from their records. */

#define PLOT_JOBS_MAX 24
#define PLOT_COLUMNS 240
#define PLOT_SERIES_MAX 8

/** One line of a picture. */
struct plot_series {
    char name[APAPI_TEXT_SIZE];
    unsigned colour;              /* index in the palette; 0: colour of a total */
    double power_w[PLOT_COLUMNS]; /* NaN: not known for all that ran then */
};

struct plot_job {
    char id[32];
    size_t order; /* position of the word that selects it */
    struct show show;
    struct plot_series series[PLOT_SERIES_MAX];
    size_t series_count;
};

struct plot {
    bool by_node;    /* otherwise by domain */
    bool same_scale; /* all jobs use the same scale */
    size_t job_count;
    struct plot_job *jobs[PLOT_JOBS_MAX];
};

/**
 * Calculate the lines of a job with records. A moment of a node counts once, from the record that
 * knows most of it. There are no lines if no record has a timeline.
 * @return 0; -1 with errno ENOMEM.
 */
int plot_work_out(struct plot_job *job, bool by_node);

/** @return everything that a picture shows, as JSON, for free(); NULL: out of memory. */
char *plot_model(const struct plot *plot);

/** plot_page.html as a string, made by the build. */
extern const char plot_page_text[];

#endif
