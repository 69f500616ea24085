/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RECORD_PROMETHEUS_H
#define APAPI_RECORD_PROMETHEUS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "apapi/record.h"

/*
 * Steps as OpenMetrics text, which the textfile collector of Prometheus' node exporter reads too.
 * What is not known of a step has no line.
 */

#define PROMETHEUS_STEPS_MAX 1000 /* in one text; the running and the newest ones */

/** The steps of a text (opaque). One thread at a time. */
struct prometheus;

/** @return no steps; freed by prometheus_destroy(). NULL with errno ENOMEM. */
struct prometheus *prometheus_create(void);

/** Free. NULL is allowed. errno is preserved. */
void prometheus_destroy(struct prometheus *prometheus);

/**
 * Add a step; what is needed of the record is copied. Of records with the same labels the one that
 * began last counts, and of those that of the finished step, then the longest.
 * @param running  the step goes on; the record is as far as it has got
 * @return 0; -1 with errno ENOMEM.
 */
int prometheus_add(struct prometheus *prometheus, const struct apapi_record *record, bool running);

/**
 * Write the text to its end, "# EOF".
 * @param skipped  lines and files that could not be read
 * @return 0; -1 with errno of the stream. Whether all of it arrives tells fclose() or fflush().
 */
int prometheus_write(struct prometheus *prometheus, size_t skipped, FILE *out);

#endif
