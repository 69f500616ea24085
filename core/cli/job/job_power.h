/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_JOB_JOB_POWER_H
#define APAPI_JOB_JOB_POWER_H
#include "cli/job/job_view.h"

/*
 * Power over time of one node or of all nodes. A moment of a node counts once, from the record that
 * knows most of it. Between its steps and after the last one a node adds nothing. While a step
 * runs, everything that is ever known of the node must be known: its power is unknown if one of its
 * domains is, before a late record begins, and from the end of an incomplete record to the end of
 * its step on the other nodes.
 */

/**
 * Divide the job's time into equal columns and calculate their mean power [W]; NaN: nothing ran, or
 * the power of a node that ran is not known.
 * @param node    NULL: the sum over all
 * @param domain  APAPI_DOMAIN_NONE: all that add up
 * @return 0; -1 with errno ENOMEM.
 */
int show_power(const struct show *show, const char *node, int domain, double *power_w,
               size_t columns);

#endif
