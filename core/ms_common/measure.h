/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MS_COMMON_MEASURE_H
#define MS_COMMON_MEASURE_H
#include <stdbool.h>

#include "ms_common/measurement.h"

/* Measuring the resources of a list. Problems are reported on standard error. Any thread. */

struct measure;

/** Find out what can be measured. @return free it with measure_destroy(); NULL: nothing can */
struct measure *measure_create(void);

bool measure_has(const struct measure *measure, enum resource resource);

/** Measure the resources of these flags from the next start on, into the measurements of `list`. */
void measure_prepare(struct measure *measure, const struct ms_list *list, int flags);

void measure_start(struct measure *measure);

/** Read for the last time, and store the figures. */
void measure_stop(struct measure *measure);

bool measure_is_running(struct measure *measure);

/** A measurement of a list is about to be freed. */
void measure_forget(struct measure *measure, const void *measurement);

/** Stop, and free. */
void measure_destroy(struct measure *measure);

#endif
