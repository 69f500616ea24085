/* SPDX-License-Identifier: BSD-3-Clause */
/* The runs of jobs that were requeued: which records are of which, and how the last one ended. */
#include <stdlib.h>

#include "cli/totals/pieces.h"
#include "record/record.h"
#include "sum/timing.h"

/* May there be several runs? */
static bool is_requeued(const struct report_bucket *bucket)
{
    return bucket->batches > 1 || (bucket->restarts != APAPI_UNKNOWN && bucket->restarts > 0);
}

static bool is_same_job(const struct report_bucket *a, const struct report_bucket *b)
{
    return a->own_job == b->own_job && a->cluster == b->cluster && a->uid == b->uid &&
           a->user == b->user;
}

static struct timing timing_of_piece(const struct report_ledger *ledger, uint32_t number)
{
    const struct report_piece *piece = &ledger->pieces[number];

    return (struct timing){.node = pool_text(&ledger->texts, piece->node),
                           .step = pool_text(&ledger->texts, piece->step),
                           .boot = pool_text(&ledger->texts, piece->boot),
                           .monotonic_ns = piece->monotonic_ns,
                           .elapsed_ns = piece->elapsed_ns,
                           .job = piece->job,
                           .nodes = piece->nodes,
                           .restarts = piece->restarts,
                           .start_ns = piece->start_ns,
                           .index = number};
}

/* How a bucket ended is how its last run did: in the first one a user can choose the number. */
static void end_bucket(const struct report_ledger *ledger, struct report_bucket *bucket)
{
    int64_t start_ns = -1;

    for (uint32_t at = bucket->first; at != POOL_NONE; at = ledger->pieces[at].next) {
        const struct report_piece *piece = &ledger->pieces[at];

        if (piece->start_ns > start_ns) {
            start_ns = piece->start_ns;
            bucket->restarts = piece->restarts;
        }
    }
    bucket->code = bucket->signal = APAPI_UNKNOWN;
    for (uint32_t at = bucket->first; at != POOL_NONE; at = ledger->pieces[at].next) {
        const struct report_piece *piece = &ledger->pieces[at];

        if (piece->restarts == bucket->restarts) {
            bucket->code = known_greater(bucket->code, piece->code);
            bucket->signal = known_greater(bucket->signal, piece->signal);
        }
    }
}

/* The job of these buckets: one, or one for each of its steps or days. */
static int find_runs(struct report_ledger *ledger, const uint32_t *buckets, size_t count)
{
    struct timing *timings;
    size_t pieces = 0, used = 0;
    int result;

    for (size_t i = 0; i < count; i++) {
        for (uint32_t at = ledger->buckets[buckets[i]].first; at != POOL_NONE;
             at = ledger->pieces[at].next) {
            pieces++;
        }
    }
    timings = calloc(pieces + 1, sizeof *timings);
    for (size_t i = 0; i < count && timings; i++) {
        for (uint32_t at = ledger->buckets[buckets[i]].first; at != POOL_NONE;
             at = ledger->pieces[at].next) {
            timings[used++] = timing_of_piece(ledger, at);
        }
    }
    result = timings ? timings_align(timings, used) : -1;
    if (result == 0) {
        timings_find_runs(timings, used);
    }
    for (size_t i = 0; i < used && result == 0; i++) {
        ledger->pieces[timings[i].index].restarts = timings[i].restarts;
    }
    for (size_t i = 0; i < count && result == 0; i++) {
        end_bucket(ledger, &ledger->buckets[buckets[i]]);
    }
    free(timings);
    return result;
}

static int find_all(struct report_ledger *ledger)
{
    size_t count;
    uint32_t *order = report_sort_jobs(ledger, &count);
    int result = order ? 0 : -1;

    for (size_t first = 0, end; first < count && result == 0; first = end) {
        bool requeued = false;
        size_t batches = 0;

        for (end = first; end < count &&
                          is_same_job(&ledger->buckets[order[first]], &ledger->buckets[order[end]]);
             end++) {
            requeued |= is_requeued(&ledger->buckets[order[end]]);
            batches += ledger->buckets[order[end]].batches;
        }
        result = requeued || batches > 1 ? find_runs(ledger, order + first, end - first) : 0;
    }
    free(order);
    return result;
}

int report_find_runs(struct report_ledger *ledger)
{
    int result = 0;

    for (size_t i = 0; i < ledger->bucket_count; i++) {
        if (ledger->by == REPORT_BY_DAY || is_requeued(&ledger->buckets[i])) {
            result = find_all(ledger);
            break;
        }
    }
    for (size_t i = 0; i < ledger->piece_count; i++) {
        struct report_piece *piece = &ledger->pieces[i];

        piece->restarts = piece->restarts == APAPI_UNKNOWN ? 0 : piece->restarts;
    }
    return result;
}
