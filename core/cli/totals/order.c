/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of buckets and rows: by name. */
#include "cli/totals/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cli/totals/job_state.h"

bool report_bucket_counts(const struct report_ledger *ledger, uint32_t bucket)
{
    const struct report_bucket *job = &ledger->buckets[bucket];

    return job->first != POOL_NONE &&
           (!ledger->states || (ledger->states & report_state_of(job->code, job->signal)));
}

static int compare_texts(const struct pool *pool, uint32_t left, uint32_t right)
{
    return strverscmp(pool_text(pool, left), pool_text(pool, right));
}

static int compare_rows(const void *left, const void *right, void *keys)
{
    return compare_texts(keys, *(const uint32_t *)left, *(const uint32_t *)right);
}

static const char *tail(const struct report_ledger *ledger, uint32_t bucket)
{
    const char *key = pool_text(&ledger->bucket_keys, bucket), *slash = strrchr(key, '/');

    return slash ? slash : key;
}

/* Sort by cluster, job, and step or day. The key of a bucket may lack the cluster. */
static int order_compare_buckets(const void *left, const void *right, void *context)
{
    const struct report_ledger *ledger = context;
    uint32_t number = *(const uint32_t *)left, other = *(const uint32_t *)right;
    const struct report_bucket *a = &ledger->buckets[number], *b = &ledger->buckets[other];
    int order;

    if (a->own_job == APAPI_UNKNOWN && b->own_job == APAPI_UNKNOWN) {
        return compare_texts(&ledger->bucket_keys, number, other);
    }
    order = compare_texts(&ledger->texts, a->cluster, b->cluster);
    if (order == 0 && a->own_job != b->own_job) {
        order = a->own_job + 1 < b->own_job + 1 ? -1 : 1; /* outside Slurm comes first */
    }
    order = order ? order : COMPARE(a->uid, b->uid);
    order = order ? order : strverscmp(tail(ledger, number), tail(ledger, other));
    return order ? order : compare_texts(&ledger->bucket_keys, number, other);
}

static uint32_t *make_numbers(size_t count)
{
    uint32_t *numbers = reallocarray(NULL, count + 1, sizeof *numbers);

    for (size_t i = 0; numbers && i < count; i++) {
        numbers[i] = (uint32_t)i;
    }
    return numbers;
}

uint32_t *report_order_buckets(const struct report_ledger *ledger, size_t *count)
{
    uint32_t *order = make_numbers(ledger->bucket_count);
    struct report_ledger context = *ledger;

    *count = 0;
    for (uint32_t i = 0; order && i < ledger->bucket_count; i++) {
        if (report_bucket_counts(ledger, i)) {
            order[(*count)++] = i;
        }
    }
    if (order) {
        qsort_r(order, *count, sizeof *order, order_compare_buckets, &context);
    }
    return order;
}

uint32_t *report_ledger_order(const struct report_ledger *ledger, size_t *count)
{
    struct pool keys = ledger->row_keys;
    uint32_t *order;

    if (ledger->group_count == 0) {
        return report_order_buckets(ledger, count);
    }
    *count = keys.count;
    order = make_numbers(*count);
    if (order) {
        qsort_r(order, *count, sizeof *order, compare_rows, &keys);
    }
    return order;
}
