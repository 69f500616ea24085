/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_JOB_JOB_POWER_H
#define APAPI_JOB_JOB_POWER_H
#include "cli/job/job_view.h"

/*
 * Power over time of one node or of all. A moment of a node counts once, by the record that knows
 * most of it. Between its steps and behind the last one a node adds nothing; while one runs, all
 * that is known of the node at any time is needed: its power is unknown where one domain of it is,
 * before a late record begins, and from the end of a record that is not complete to the end of its
 * step on the other nodes.
 */

/**
 * Fill equal columns from the job's beginning to its end with their mean power [W]; NaN: nothing
 * ran, or the power of a node that ran is not known.
 * @param node    NULL: the sum of all
 * @param domain  APAPI_DOMAIN_NONE: all that add up
 * @return 0; -1 with errno ENOMEM.
 */
int show_power(const struct show *show, const char *node, int domain, double *power_w,
               size_t columns);

#endif
