/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_DELIVER_H
#define SPANK_APAPI_DELIVER_H
#include <slurm/spank.h>

#include "channel/report.h"
#include "step.h"

/**
 * Find where the step's srun collects, and remove that from the tasks' environment. Remote, once
 * per step, before any task.
 * @param collector  result; its port is 0 if no srun collects
 */
void spank_apapi_deliver_find(spank_t spank, const struct spank_apapi_step *step,
                              struct report_collector *collector);

/**
 * Describe where the sampler sends its totals, if srun wants any. Remote, when the tasks exist.
 */
void spank_apapi_deliver_describe(spank_t spank, const struct report_collector *collector,
                                  struct message *message);

/**
 * Report to srun if it collects. Remote, when the step has ended on this node.
 * @param word  APAPI_WORD_RECORD or APAPI_WORD_ABSENT
 */
void spank_apapi_deliver(spank_t spank, const struct report_collector *collector, const char *node,
                         const char *word, const char *payload);

#endif
