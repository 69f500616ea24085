/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_STORE_SCAN_FILTER_H
#define APAPI_STORE_SCAN_FILTER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/scan.h"
#include "base/names.h"

enum { FILTER_CLUSTER, FILTER_USER, FILTER_ACCOUNT, FILTER_PARTITION, FILTER_TEXTS };

/** A struct apapi_scan_filter, prepared for many lines. */
struct filter {
    int64_t from_ns, to_ns; /* INT64_MIN, INT64_MAX: no limit */
    uint32_t *jobs;         /* sorted */
    size_t job_count;
    bool job_parts;
    uint32_t uid;              /* of the wanted user; APAPI_UNKNOWN: given by name */
    char *texts[FILTER_TEXTS]; /* NULL: any */
    struct namelist nodes;     /* sorted; none: any */
};

/** Copy `wanted`; NULL: everything. 0; -1 with EINVAL, ENOMEM. Call filter_free() in both cases. */
int filter_init(struct filter *filter, const struct apapi_scan_filter *wanted,
                struct apapi_error *err);

/** Free what it owns. */
void filter_free(struct filter *filter);

/** @return whether records of this node are wanted. */
bool filter_wants_node(const struct filter *filter, const char *node);

/** @return whether records that ended on this day ("2026-11-21") are wanted. */
bool filter_wants_day(const struct filter *filter, const char *day);

/** @return whether the record is wanted. */
bool filter_wants(const struct filter *filter, const struct apapi_record *record);

/**
 * Check the beginning of a line in the form of apapi_record_encode().
 * @return false only if filter_wants() would certainly return false, or if it is not a record.
 */
bool filter_may_want(const struct filter *filter, const char *line, size_t size);

#endif
