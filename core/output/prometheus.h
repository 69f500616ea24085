/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_OUTPUT_PROMETHEUS_H
#define APAPI_OUTPUT_PROMETHEUS_H
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
 * began last counts, and of those that of the finished step, then its live page, then the longest.
 * @param running  the step goes on; the record is as far as it had got at its checkpoint
 * @return 0; -1 with errno ENOMEM.
 */
int prometheus_add(struct prometheus *prometheus, const struct apapi_record *record, bool running);

/** What the live page of a step says. */
struct prometheus_live {
    const struct apapi_identity *id; /* without account, partition, QOS */
    int64_t start_unix_ns;
    double elapsed_s;
    bool running;                                           /* else it has just ended */
    double energy_j[APAPI_DOMAINS], power_w[APAPI_DOMAINS]; /* NaN: unknown */
};

/**
 * Add it. Of the same step's checkpoint only that counts which a page does not know.
 * @return 0; -1 with errno ENOMEM.
 */
int prometheus_add_live(struct prometheus *prometheus, const struct prometheus_live *live);

/** How records fare, besides the steps. */
struct prometheus_counts {
    size_t skipped; /* lines and files that could not be read */
    size_t waiting; /* records that could not be written yet */
};

/**
 * Write the text to its end, "# EOF".
 * @return 0; -1 with errno of the stream. Whether all of it arrives tells fclose() or fflush().
 */
int prometheus_write(struct prometheus *prometheus, const struct prometheus_counts *counts,
                     FILE *out);

#endif
