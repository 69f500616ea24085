/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Extern steps may not know the name of their cluster, and some records not whose they are. They
 * belong to the job with that number: of the same user if both know it, and, if several clusters
 * have such a job, to the one that ran on the same node.
 */
#include <stdlib.h>

#include "base/array.h"
#include "cli/totals/pieces.h"
#include "record/record.h"

#define COMPARED_MAX 1000000 /* pairs of records */

struct cluster_search {
    struct report_ledger *ledger;
    uint32_t *order; /* buckets of jobs, by their number */
    size_t count;
};

static const struct report_bucket *bucket_at(const struct cluster_search *search, size_t index)
{
    return &search->ledger->buckets[search->order[index]];
}

static bool is_said(const struct report_ledger *ledger, uint32_t text)
{
    return *pool_text(&ledger->texts, text) != '\0';
}

static int clusters_compare_jobs(const void *left, const void *right, void *buckets)
{
    uint32_t i = *(const uint32_t *)left, k = *(const uint32_t *)right;
    const struct report_bucket *a = (const struct report_bucket *)buckets + i,
                               *b = (const struct report_bucket *)buckets + k;
    int order = COMPARE(a->own_job, b->own_job);

    order = order ? order : COMPARE(a->cluster, b->cluster);
    order = order ? order : COMPARE(a->uid, b->uid);
    order = order ? order : COMPARE(a->user, b->user);
    return order ? order : COMPARE(i, k);
}

uint32_t *report_sort_jobs(const struct report_ledger *ledger, size_t *count)
{
    uint32_t *order = calloc(ledger->bucket_count + 1, sizeof *order);

    *count = 0;
    for (uint32_t i = 0; order && i < ledger->bucket_count; i++) {
        if (ledger->buckets[i].own_job != APAPI_UNKNOWN) {
            order[(*count)++] = i;
        }
    }
    if (order) {
        qsort_r(order, *count, sizeof *order, clusters_compare_jobs, ledger->buckets);
    }
    return order;
}

static bool share_node(const struct report_ledger *ledger, const struct report_bucket *a,
                       const struct report_bucket *b)
{
    int compared = 0;

    for (uint32_t i = a->first; i != POOL_NONE; i = ledger->pieces[i].next) {
        for (uint32_t k = b->first; k != POOL_NONE; k = ledger->pieces[k].next) {
            if (ledger->pieces[i].node == ledger->pieces[k].node) {
                return true;
            }
            if (++compared == COMPARED_MAX) {
                return false;
            }
        }
    }
    return false;
}

static bool may_be_same(const struct report_ledger *ledger, const struct report_bucket *nameless,
                        const struct report_bucket *named)
{
    return is_said(ledger, named->cluster) &&
           (nameless->user == named->user || !is_said(ledger, nameless->user) ||
            !is_said(ledger, named->user));
}

/* @return the cluster of one of this job's buckets; POOL_NONE: ambiguous */
static uint32_t find_cluster(const struct cluster_search *search,
                             const struct report_bucket *nameless, size_t first, size_t count,
                             bool by_node)
{
    uint32_t found = POOL_NONE;

    for (size_t i = first; i < first + count; i++) {
        const struct report_bucket *named = bucket_at(search, i);

        if (!may_be_same(search->ledger, nameless, named) ||
            (by_node && !share_node(search->ledger, nameless, named))) {
            continue;
        }
        if (found != POOL_NONE && found != named->cluster) {
            return POOL_NONE;
        }
        found = named->cluster;
    }
    return found;
}

static uint32_t clusters_step_of(const struct report_ledger *ledger,
                                 const struct report_bucket *bucket)
{
    return ledger->pieces[bucket->first].step;
}

/* Whether records of both would be in one bucket if both knew the cluster. */
static bool is_same_bucket(const struct report_ledger *ledger, const struct report_bucket *a,
                           const struct report_bucket *b)
{
    return a->first != POOL_NONE && b->first != POOL_NONE && a->day == b->day &&
           (ledger->by != REPORT_BY_STEP ||
            clusters_step_of(ledger, a) == clusters_step_of(ledger, b));
}

static void clusters_fill(const struct report_ledger *ledger, uint32_t *text, uint32_t other)
{
    *text = is_said(ledger, *text) ? *text : other;
}

static void move_pieces(struct report_ledger *ledger, struct report_bucket *from,
                        struct report_bucket *to)
{
    uint32_t last = from->first;

    while (ledger->pieces[last].next != POOL_NONE) {
        last = ledger->pieces[last].next;
    }
    ledger->pieces[last].next = to->first;
    to->first = from->first;
    from->first = POOL_NONE;
    clusters_fill(ledger, &to->user, from->user);
    clusters_fill(ledger, &to->account, from->account);
    clusters_fill(ledger, &to->partition, from->partition);
    clusters_fill(ledger, &to->qos, from->qos);
    clusters_fill(ledger, &to->job_name, from->job_name);
    clusters_fill(ledger, &to->name, from->name);
    to->restarts = known_greater(to->restarts, from->restarts);
    to->batches += from->batches;
    to->uid = to->uid == APAPI_UNKNOWN ? from->uid : to->uid;
}

static void name_bucket(const struct cluster_search *search, struct report_bucket *nameless,
                        size_t first, size_t count)
{
    struct report_ledger *ledger = search->ledger;
    uint32_t cluster = is_said(ledger, nameless->cluster)
                           ? nameless->cluster
                           : find_cluster(search, nameless, first, count, false);

    if (cluster == POOL_NONE) {
        cluster = find_cluster(search, nameless, first, count, true);
    }
    if (cluster == POOL_NONE) {
        return;
    }
    nameless->cluster = cluster;
    for (size_t i = first; i < first + count; i++) {
        struct report_bucket *named = &ledger->buckets[search->order[i]];

        if (named != nameless && named->cluster == cluster &&
            may_be_same(ledger, nameless, named) && is_same_bucket(ledger, named, nameless)) {
            move_pieces(ledger, nameless, named);
            return;
        }
    }
}

static size_t same_job(const struct cluster_search *search, size_t first)
{
    size_t end = first + 1;

    while (end < search->count &&
           bucket_at(search, end)->own_job == bucket_at(search, first)->own_job) {
        end++;
    }
    return end - first;
}

int report_name_clusters(struct report_ledger *ledger)
{
    struct cluster_search search = {.ledger = ledger};

    if (ledger->by == REPORT_BY_NODE) {
        return 0;
    }
    search.order = report_sort_jobs(ledger, &search.count);
    if (!search.order) {
        return -1;
    }
    for (size_t first = 0, count; first < search.count; first += count) {
        count = same_job(&search, first);
        for (size_t i = first; i < first + count && count > 1; i++) {
            struct report_bucket *bucket = &ledger->buckets[search.order[i]];

            if (!is_said(ledger, bucket->cluster) || bucket->uid == APAPI_UNKNOWN) {
                name_bucket(&search, bucket, first, count);
            }
        }
    }
    free(search.order);
    return 0;
}
