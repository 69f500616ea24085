/* SPDX-License-Identifier: BSD-3-Clause */
/* The pieces of a sum, each once, and their order. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "record/record.h"
#include "sum/members.h"
#include "sum/sum.h"

void sum_of_job(struct sum_entries *entries)
{
    for (size_t i = 0; i < entries->count; i++) {
        struct sum_entry *entry = &entries->list[i];

        entry->nodes = known_greater(entry->nodes, entry->piece->job_nodes);
    }
}

/* The same text has the same address, as both are of one pool. */
static int sum_compare_texts(const char *left, const char *right)
{
    return left == right ? 0 : strverscmp(left, right);
}

static int sum_compare_key(const struct sum_entry *a, const struct sum_entry *b, enum sum_key key)
{
    const struct sum_piece *one = a->piece, *other = b->piece;

    switch (key) {
    case SUM_NODE:
        return sum_compare_texts(a->node, b->node);
    case SUM_STEP:
        return sum_compare_texts(a->step, b->step);
    case SUM_CLUSTER:
        return sum_compare_texts(a->cluster, b->cluster);
    case SUM_BOOT:
        return sum_compare_texts(a->boot, b->boot);
    case SUM_JOB:
        return COMPARE(a->job, b->job);
    case SUM_RECORD_JOB:
        return COMPARE(one->job, other->job);
    case SUM_RUN:
        return COMPARE(a->restarts, b->restarts);
    case SUM_BATCH:
        return COMPARE(step_is(b->step, "batch"), step_is(a->step, "batch"));
    case SUM_KNOWN_RUN:
        return COMPARE(a->restarts == APAPI_UNKNOWN, b->restarts == APAPI_UNKNOWN);
    case SUM_START:
        return COMPARE(a->start_ns, b->start_ns);
    case SUM_END:
        return COMPARE(b->end_ns, a->end_ns);
    case SUM_UPTIME:
        return COMPARE(one->monotonic_ns, other->monotonic_ns);
    case SUM_COMPLETE:
        return COMPARE(other->reason == POOL_NONE, one->reason == POOL_NONE);
    default: /* SUM_TWIN */
        return record_twin_compare(
            &(struct record_twin){other->whole_ns, other->reason == POOL_NONE, other->digest},
            &(struct record_twin){one->whole_ns, one->reason == POOL_NONE, one->digest});
    }
}

/* @param keys  address of the pointer to them */
static int sum_compare(const void *left, const void *right, void *keys)
{
    int order = 0;

    for (const enum sum_key *key = *(const enum sum_key **)keys; *key != SUM_KEYS_END && order == 0;
         key++) {
        order = sum_compare_key(left, right, *key);
    }
    return order;
}

void sum_sort(struct sum_entry *list, size_t count, const enum sum_key *keys)
{
    size_t sorted = 1; /* entries often have their order already */

    while (sorted < count && sum_compare(&list[sorted - 1], &list[sorted], &keys) <= 0) {
        sorted++;
    }
    if (sorted < count) {
        qsort_r(list, count, sizeof *list, sum_compare, &keys);
    }
}

size_t sum_alike(const struct sum_entry *list, size_t count, const enum sum_key *keys)
{
    size_t alike = 0;

    while (alike < count && sum_compare(list, &list[alike], &keys) == 0) {
        alike++;
    }
    return alike;
}

uint32_t *sum_numbers(const struct sum_store *store)
{
    uint32_t *numbers = calloc(store->piece_count + 1, sizeof *numbers);

    for (uint32_t i = 0; i < store->piece_count && numbers; i++) {
        numbers[i] = i;
    }
    return numbers;
}

int sum_gather(const struct sum_store *store, const uint32_t *numbers, size_t count,
               struct sum_entries *entries)
{
    static const enum sum_key same[] = {SUM_STEP,       SUM_NODE,    SUM_START,
                                        SUM_RECORD_JOB, SUM_CLUSTER, SUM_KEYS_END};
    struct sum_entry *list = calloc(count + 1, sizeof *list);
    size_t kept = 0;

    if (!list) {
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        const struct sum_piece *piece = &store->pieces[numbers ? numbers[i] : i];

        list[i] = (struct sum_entry){.piece = piece,
                                     .cluster = pool_text(&store->texts, piece->cluster),
                                     .node = pool_text(&store->texts, piece->node),
                                     .step = pool_text(&store->texts, piece->step),
                                     .boot = pool_text(&store->texts, piece->boot),
                                     .job = store->mixed ? APAPI_UNKNOWN : piece->job,
                                     .nodes = store->mixed ? APAPI_UNKNOWN : piece->nodes,
                                     .restarts = store->mixed ? APAPI_UNKNOWN : piece->restarts,
                                     .start_ns = piece->start_ns,
                                     .end_ns = piece->start_ns + (int64_t)piece->elapsed_ns};
    }
    sum_sort(list, count,
             SUM_KEYS(SUM_STEP, SUM_NODE, SUM_START, SUM_RECORD_JOB, SUM_CLUSTER, SUM_TWIN));
    for (size_t i = 0; i < count; i += sum_alike(list + i, count - i, same)) {
        list[kept++] = list[i];
    }
    *entries = (struct sum_entries){list, kept};
    return 0;
}

int sum_nodes(const struct sum_entries *entries, struct namelist *nodes)
{
    const char *last = NULL;

    for (size_t i = 0; i < entries->count; i++) { /* they are sorted by node within a step */
        if (entries->list[i].node != last && namelist_add(nodes, entries->list[i].node)) {
            return -1;
        }
        last = entries->list[i].node;
    }
    namelist_unique(nodes);
    return 0;
}
