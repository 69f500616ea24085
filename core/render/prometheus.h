/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RENDER_PROMETHEUS_H
#define APAPI_RENDER_PROMETHEUS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "apapi/record.h"

/*
 * Steps as OpenMetrics text, which the textfile collector of Prometheus' node exporter can read,
 * too. Unknown values have no line.
 */

/* The most steps of a text; running steps and the newest ones are preferred. */
#define PROMETHEUS_STEPS_MAX 1000

/** The steps of a text (opaque). One thread at a time. */
struct prometheus;

/** @return an empty set; free it with prometheus_destroy(). NULL with errno ENOMEM. */
struct prometheus *prometheus_create(void);

/** Free. NULL is allowed. errno is preserved. */
void prometheus_destroy(struct prometheus *prometheus);

/**
 * Add a step. The record is copied as far as needed. Of records with the same labels, the one that
 * began last counts. If they began at the same time, the record of a finished step is preferred to
 * a live page, a live page to a checkpoint, and a longer record to a shorter one.
 * A recovered record has no energy: the step's counter was higher.
 * @param running  the record is a checkpoint of a running step
 * @return 0; -1 with errno ENOMEM.
 */
int prometheus_add(struct prometheus *prometheus, const struct apapi_record *record, bool running);

/** The values of a step's live page. */
struct prometheus_live {
    const struct apapi_identity *id; /* without account, partition, QOS */
    int64_t start_unix_ns;
    double elapsed_s;
    bool running;                                           /* otherwise it has just ended */
    double energy_j[APAPI_DOMAINS], power_w[APAPI_DOMAINS]; /* NaN: unknown */
    double budget_j, budget_used_j; /* of all nodes of the step; budget_j 0: there is none */
};

/**
 * Add a live page. A checkpoint of the same step only adds what the page does not know.
 * @return 0; -1 with errno ENOMEM.
 */
int prometheus_add_live(struct prometheus *prometheus, const struct prometheus_live *live);

/** Counts of records, besides the steps. */
struct prometheus_counts {
    size_t skipped; /* lines and files that could not be read */
    size_t waiting; /* records in the spool that could not be written */
};

/**
 * Write the whole text including "# EOF".
 * @return 0; -1 with errno of the stream. Check fclose() or fflush() for write errors.
 */
int prometheus_write(struct prometheus *prometheus, const struct prometheus_counts *counts,
                     FILE *out);

#endif
