/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_SHARE_ROWS_H
#define NODE_SHARE_ROWS_H
#include "node/cgroups.h"
#include "node/share_page.h"

/* The node sampler's own rows: SHARE_PAGE_ROWS of them. */

#define SHARE_ROWS_NONE SHARE_PAGE_ROWS

/** @return the number of the step's row; SHARE_ROWS_NONE. Its job, step and inode count. */
unsigned share_rows_find(const struct share_row *rows, const struct cgroup_step *step);

/** @return a free row, or that of the step that ended first; SHARE_ROWS_NONE: all run. */
unsigned share_rows_free(const struct share_row *rows);

#endif
