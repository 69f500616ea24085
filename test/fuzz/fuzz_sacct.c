/* SPDX-License-Identifier: BSD-3-Clause */
/* Any text as a line of sacct; "|" stands for its delimiter. */
#include <math.h>

#include "cli/show/forms.h"
#include "fuzz/fuzz.h"

static bool is_amount(double value)
{
    return isnan(value) || (value >= 0 && isfinite(value));
}

static bool is_text(const char *text, size_t size)
{
    return memchr(text, '\0', size) != NULL;
}

static void check(const struct sacct_job *job)
{
    const double amounts[] = {job->elapsed_s,     job->core_s, job->cpu_s,   job->energy_j,
                              job->uncertainty_j, job->mean_w, job->measured};

    REQUIRE(job->job > 0);
    REQUIRE(is_text(job->job_id, sizeof job->job_id) && is_text(job->user, sizeof job->user));
    REQUIRE(strchr(job->state, ' ') == NULL);
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++) {
        REQUIRE(is_amount(amounts[i]));
    }
}

static void fuzz(char *text, size_t size)
{
    struct sacct_job job = {.job = 42};

    (void)size;
    for (char *c = text; (c = strchr(c, '|')) != NULL;) {
        *c = *SACCT_DELIMITER;
    }
    if (sacct_line_parse(text, &job)) {
        check(&job);
    }
}
