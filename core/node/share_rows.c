/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/share_rows.h"

#include <stdbool.h>
#include <string.h>

static bool share_rows_is(const struct share_row *row, const struct cgroup_step *step)
{
    return row->flags & SHARE_ROW_USED && row->inode == step->inode && row->job == step->job &&
           strcmp(row->step, step->step) == 0;
}

unsigned share_rows_find(const struct share_row *rows, const struct cgroup_step *step)
{
    unsigned at = 0;

    while (at < SHARE_PAGE_ROWS && !share_rows_is(&rows[at], step)) {
        at++;
    }
    return at;
}

unsigned share_rows_free(const struct share_row *rows)
{
    unsigned oldest = SHARE_ROWS_NONE;

    for (unsigned i = 0; i < SHARE_PAGE_ROWS; i++) {
        if (!(rows[i].flags & SHARE_ROW_USED)) {
            return i;
        }
        if (!(rows[i].flags & SHARE_ROW_RUNNING) &&
            (oldest == SHARE_ROWS_NONE || rows[i].time_ns < rows[oldest].time_ns)) {
            oldest = i;
        }
    }
    return oldest;
}
