/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_PLOT_FIGURES_H
#define APAPI_PLOT_FIGURES_H
#include <jansson.h>
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

#define PLOT_BANDS_MAX 6

/** The power of regions over time, as far as records know it. */
struct plot_bands {
    size_t count;
    const char *paths[PLOT_BANDS_MAX];
    double power_w[PLOT_BANDS_MAX][PLOT_COLUMNS]; /* 0 at the start */
    bool known;
};

/** Calculate the power of `paths`. @return 0; -1 with errno ENOMEM. */
int plot_bands_work_out(const struct show *show, struct plot_bands *bands);

/** @return everything that a picture shows; NULL: out of memory. */
json_t *plot_model(const struct plot *plot);

/** plot_page.html as a string, made by the build. */
extern const char plot_page_text[];

/**
 * The page with the model, free it with free(). NULL: out of memory.
 * @param size  result [bytes]
 */
char *plot_page(const json_t *model, size_t *size);

/**
 * The picture drawn by apapi-plot, free it with free().
 * @param form  "svg", "png", "pdf"
 * @param size  result [bytes]
 * @return NULL with `err`.
 */
char *plot_draw(const json_t *model, const char *form, size_t *size, struct apapi_error *err);

#endif
