/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FAKE_SOURCE_H
#define FAKE_SOURCE_H
#include <stdint.h>

#include "sources/sources.h"

#define FAKE_EVENTS_MAX 4
#define FAKE_ROWS_MAX 64

/** A source that plays a script: a row of readings for each time it is read, then the last again.
 */
struct fake_source {
    struct apapi_reader base;
    struct apapi_event events[FAKE_EVENTS_MAX];
    struct apapi_reading rows[FAKE_ROWS_MAX][FAKE_EVENTS_MAX];
    int row_count, next;
};

/** Prepare a fake with `count` energy counters of the package domain in microjoules. */
void fake_source_init(struct fake_source *fake, int count);

/** Append a row: the same reading for all events. */
void fake_source_row(struct fake_source *fake, uint64_t raw, int error);

#endif
