/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "cli/job/job_view.h"
#include "record/members.h"
#include "sum/regions.h"

static int job_regions_add(const struct show *show, const char *step, struct region_sums *sums)
{
    for (size_t i = 0; i < show->count; i++) {
        if (strcmp(show->records[i].id.step, step) == 0 &&
            region_sums_add(sums, &show->records[i])) {
            return -1;
        }
    }
    return 0;
}

static int job_regions_visit(const struct show *show, const struct show_step *step, size_t max,
                             show_regions_f visit, void *context)
{
    struct region_sums sums = {0};
    struct apapi_regions regions;
    int result = job_regions_add(show, step->step, &sums);

    if (result == 0) {
        result = region_sums_result(&sums, max, &regions);
    }
    region_sums_free(&sums);
    if (result) {
        return -1;
    }
    if (regions_exist(&regions)) {
        result = visit(step, &regions, context);
    }
    apapi_regions_clear(&regions);
    return result;
}

int show_each_regions(const struct show *show, size_t max, show_regions_f visit, void *context)
{
    int result = 0;

    for (size_t i = 0; i < show->step_count && result == 0; i++) {
        result = job_regions_visit(show, &show->steps[i], max, visit, context);
    }
    return result;
}
