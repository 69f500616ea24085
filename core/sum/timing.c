/* SPDX-License-Identifier: BSD-3-Clause */
#include "sum/sum.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/clock.h"
#include "record/record.h"
#include "sum/members.h"

/* Consecutive elements of the list of timings. */
struct range {
    int64_t start_ns, end_ns; /* start_ns is the first member, as compare_int64() sorts ranges */
    size_t first, count;
};

struct alignment {
    struct sum_entry *list;
    size_t count;
    struct range *ranges;
    int64_t *apart_ns; /* by boot: how far its clock is ahead; UNKNOWN_NS */
    uint32_t *nodes;   /* by boot: number of the first boot of its node */
};

#define UNKNOWN_NS INT64_MIN

/* @return the sum, limited to the range: forged records may have any numbers. */
static int64_t plus(int64_t a, int64_t b)
{
    int64_t sum;

    return !__builtin_add_overflow(a, b, &sum) && sum != INT64_MIN ? sum
           : a < 0                                                 ? -INT64_MAX
                                                                   : INT64_MAX;
}

/* @return whether the timing could be moved */
static bool timing_move(struct sum_entry *timing, int64_t by_ns)
{
    int64_t start_ns, end_ns;

    if (__builtin_add_overflow(timing->start_ns, by_ns, &start_ns) || start_ns < 0 ||
        __builtin_add_overflow(timing->end_ns, by_ns, &end_ns) || end_ns == INT64_MAX) {
        return false;
    }
    timing->start_ns = start_ns;
    timing->end_ns = end_ns;
    return true;
}

/* --- one node ------------------------------------------------------------------------------- */

/* Align the records of a boot. The first record stays where its clock says. */
static void align_boot(struct sum_entry *list, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint64_t since_ns = list[i].piece->monotonic_ns - list->piece->monotonic_ns;
        int64_t start_ns, jumped_ns;

        if (!__builtin_add_overflow(list->start_ns, since_ns, &start_ns)) {
            jumped_ns = list[i].start_ns - start_ns;
            list[i].jumped_ns = timing_move(&list[i], -jumped_ns) ? jumped_ns : 0;
        }
    }
}

/* Move boots of a node so that they follow one another, whatever the node's clock said. */
static void part_boots(struct sum_entry *list, struct range *boots, size_t count)
{
    int64_t until_ns = 0;

    qsort(boots, count, sizeof *boots, compare_int64);
    for (size_t b = 0; b < count; b++) {
        int64_t late_ns = until_ns > boots[b].start_ns ? until_ns - boots[b].start_ns : 0;

        for (size_t i = 0; i < boots[b].count && late_ns > 0; i++) {
            timing_move(&list[boots[b].first + i], late_ns);
        }
        until_ns = plus(boots[b].end_ns, late_ns);
    }
}

static struct range range_of_boot(struct sum_entry *list, size_t first, size_t count)
{
    struct range boot = {INT64_MAX, 0, first,
                         sum_alike(list + first, count - first, SUM_KEYS(SUM_NODE, SUM_BOOT))};

    if (*list[first].boot) {
        align_boot(list + first, boot.count);
    }
    for (size_t i = first; i < first + boot.count; i++) {
        boot.start_ns = list[i].start_ns < boot.start_ns ? list[i].start_ns : boot.start_ns;
        boot.end_ns = list[i].end_ns > boot.end_ns ? list[i].end_ns : boot.end_ns;
    }
    return boot;
}

/* Number the boots of all nodes, and align the records of each node. @return number of boots */
static uint32_t align_nodes(const struct alignment *alignment)
{
    struct sum_entry *list = alignment->list;
    uint32_t numbers = 0;

    sum_sort(list, alignment->count, SUM_KEYS(SUM_NODE, SUM_BOOT, SUM_UPTIME));
    for (size_t i = 0; i < alignment->count;) {
        const struct sum_entry *first = &list[i];
        uint32_t node = numbers;
        size_t boots = 0;

        while (i < alignment->count && list[i].piece->node == first->piece->node) {
            struct range *boot = &alignment->ranges[boots++];

            *boot = range_of_boot(list, i, alignment->count);
            for (; i < boot->first + boot->count; i++) {
                list[i].number = numbers;
            }
            alignment->nodes[numbers++] = node;
        }
        if (*first->boot) { /* then all records of the node know their boot */
            part_boots(list, alignment->ranges, boots);
        }
    }
    return numbers;
}

/* --- the nodes together --------------------------------------------------------------------- */

static bool is_batch(const struct sum_entry *timing)
{
    return step_is(timing->step, "batch");
}

/* @return whether this is a step of several nodes, each of which began once and knows its boot. */
static bool tells_clocks(const struct sum_entry *step, size_t count, int64_t *seen)
{
    bool once = !is_batch(step); /* several batch steps are runs of a job, each on one node */
    size_t i = 0;

    for (; i < count && once; i++) {
        once = *step[i].boot && seen[step[i].number] == UNKNOWN_NS &&
               step[i].nodes != APAPI_UNKNOWN && step[i].nodes >= count;
        seen[step[i].number] = 0;
    }
    while (i-- > 0) {
        seen[step[i].number] = UNKNOWN_NS;
    }
    return once && count > 1;
}

/* Order steps by their number of nodes, the greatest first. */
static int compare_widths(const void *left, const void *right)
{
    const struct range *a = left, *b = right;

    return a->count == b->count ? COMPARE(a->first, b->first) : COMPARE(b->count, a->count);
}

static size_t find_steps(const struct alignment *alignment)
{
    struct sum_entry *list = alignment->list;
    size_t steps = 0;

    sum_sort(list, alignment->count, SUM_KEYS(SUM_STEP, SUM_JOB, SUM_RUN, SUM_START));
    for (size_t first = 0, own; first < alignment->count; first += own) {
        own =
            sum_alike(list + first, alignment->count - first, SUM_KEYS(SUM_STEP, SUM_JOB, SUM_RUN));
        if (tells_clocks(list + first, own, alignment->apart_ns)) {
            alignment->ranges[steps++] = (struct range){.first = first, .count = own};
        }
    }
    qsort(alignment->ranges, steps, sizeof *alignment->ranges, compare_widths);
    return steps;
}

/* Compare with a node whose clock is known, else with the middle node: most clocks are right. */
static void compare_clocks(const struct alignment *alignment, const struct range *step)
{
    const struct sum_entry *list = alignment->list + step->first;
    int64_t *apart_ns = alignment->apart_ns;
    int64_t start_ns = list[(step->count - 1) / 2].start_ns;

    for (size_t i = 0; i < step->count; i++) {
        if (apart_ns[list[i].number] != UNKNOWN_NS) {
            start_ns = plus(list[i].start_ns, -apart_ns[list[i].number]);
            break;
        }
    }
    for (size_t i = 0; i < step->count; i++) {
        int64_t ahead_ns = plus(list[i].start_ns, -start_ns);

        if (apart_ns[list[i].number] == UNKNOWN_NS) {
            apart_ns[list[i].number] = llabs(ahead_ns) < TIMING_APART_NS ? 0 : ahead_ns;
        }
    }
}

/* A boot that no step compares is taken to be like the first known boot of its node. */
static void assume_clocks(const struct alignment *alignment, uint32_t numbers)
{
    int64_t *apart_ns = alignment->apart_ns;
    const uint32_t *nodes = alignment->nodes;

    for (uint32_t n = 0; n < numbers; n++) {
        for (uint32_t k = nodes[n];
             k < numbers && nodes[k] == nodes[n] && apart_ns[n] == UNKNOWN_NS; k++) {
            apart_ns[n] = apart_ns[k];
        }
    }
}

static void align_clocks(const struct alignment *alignment, uint32_t numbers)
{
    size_t steps;

    for (uint32_t n = 0; n < numbers; n++) {
        alignment->apart_ns[n] = UNKNOWN_NS;
    }
    steps = find_steps(alignment);
    for (size_t i = 0; i < steps; i++) {
        compare_clocks(alignment, &alignment->ranges[i]);
    }
    assume_clocks(alignment, numbers);
    for (size_t i = 0; i < alignment->count && steps > 0; i++) {
        struct sum_entry *timing = &alignment->list[i];
        int64_t apart_ns = alignment->apart_ns[timing->number];

        if (apart_ns != UNKNOWN_NS && timing_move(timing, -apart_ns)) {
            timing->apart_ns = apart_ns;
        }
    }
}

/* --- runs ----------------------------------------------------------------------------------- */

static bool knows_run(const struct sum_entry *timing)
{
    return timing->restarts != APAPI_UNKNOWN;
}

/* @return the run of the last one of the first `known` timings that began before `end_ns`. */
static uint32_t run_at(const struct sum_entry *timings, size_t known, int64_t end_ns)
{
    size_t begin = 0, end = known;

    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;

        if (timings[middle].start_ns < end_ns) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    if (begin > 0) {
        return timings[begin - 1].restarts;
    }
    return known > 0 && timings->restarts > 0 ? timings->restarts - 1 : 0;
}

/* A batch step that begins after the end of all earlier ones is that of the next run. The list is
 * sorted by start; it may also be a step that came again on a node. */
static void number_batches(struct sum_entry *batches, size_t count)
{
    int64_t end_ns = INT64_MAX;
    uint32_t run = 0;

    for (size_t i = 0; i < count; i++) {
        run += batches[i].start_ns > end_ns;
        run = knows_run(&batches[i]) ? batches[i].restarts : run;
        batches[i].restarts = run;
        end_ns = i == 0 || batches[i].end_ns > end_ns ? batches[i].end_ns : end_ns;
    }
}

/* Within a run, no step comes again: the step that a node has most often tells the runs. */
static void number_repeats(struct sum_entry *timings, size_t count)
{
    struct range most = {.count = 0};

    sum_sort(timings, count, SUM_KEYS(SUM_JOB, SUM_CLUSTER, SUM_STEP, SUM_NODE, SUM_START));
    for (size_t first = 0, own; first < count; first += own) {
        own = sum_alike(timings + first, count - first,
                        SUM_KEYS(SUM_JOB, SUM_CLUSTER, SUM_STEP, SUM_NODE));
        own = timings[first].job == APAPI_UNKNOWN ? 1 : own;
        most = own > most.count ? (struct range){.first = first, .count = own} : most;
    }
    number_batches(timings + most.first, most.count);
}

static void timings_find_runs(struct sum_entry *timings, size_t count)
{
    static const enum sum_key sure_first[] = {SUM_BATCH, SUM_KNOWN_RUN, SUM_KEYS_END};
    size_t known = 0;

    sum_sort(timings, count, sure_first);
    if (count > 0 && !is_batch(timings) && !knows_run(timings)) {
        number_repeats(timings, count);
        sum_sort(timings, count, sure_first);
    }
    while (known < count && is_batch(&timings[known])) {
        known++;
    }
    sum_sort(timings, known, SUM_KEYS(SUM_START));
    number_batches(timings, known);
    while (known < count && knows_run(&timings[known])) {
        known++;
    }
    sum_sort(timings, known, SUM_KEYS(SUM_START));
    for (size_t i = known; i < count; i++) {
        timings[i].restarts = run_at(timings, known, timings[i].end_ns);
    }
}

/* Set `nodes` to a component's nodes in a run: of its widest step or, if more, with a record. */
static size_t count_nodes(struct sum_entry *timings, size_t count)
{
    uint32_t widest = 0, recorded = 0;

    for (size_t i = 0; i < count; i++) {
        widest = known_greater(widest, timings[i].nodes);
        recorded += i == 0 || timings[i - 1].piece->node != timings[i].piece->node;
    }
    for (size_t i = 0; i < count; i++) {
        timings[i].nodes = recorded > widest ? recorded : widest;
    }
    return timings->nodes;
}

/* Add a run to the total. @return how many timings are of the same run as the first one */
static size_t add_run(struct sum_entry *timings, size_t count, struct apapi_job_total *total,
                      double *elapsed_ns)
{
    const size_t own = sum_alike(timings, count, SUM_KEYS(SUM_RUN));
    int64_t start_ns = INT64_MAX, end_ns = 0;
    size_t nodes = 0;

    for (size_t i = 0, same; i < own; i += same) {
        same = sum_alike(timings + i, own - i, SUM_KEYS(SUM_JOB));
        nodes += count_nodes(timings + i, same);
    }
    for (size_t i = 0; i < own; i++) {
        start_ns = timings[i].start_ns < start_ns ? timings[i].start_ns : start_ns;
        end_ns = timings[i].end_ns > end_ns ? timings[i].end_ns : end_ns;
    }
    total->runs++;
    total->job_nodes = nodes > total->job_nodes ? nodes : total->job_nodes;
    *elapsed_ns += (double)(end_ns - start_ns);
    total->node_s += (double)(end_ns - start_ns) * (double)nodes;
    return own;
}

static void timings_sum(struct sum_entry *timings, size_t count, struct apapi_job_total *total)
{
    double elapsed_ns = 0;

    sum_sort(timings, count, SUM_KEYS(SUM_RUN, SUM_JOB, SUM_NODE));
    for (size_t i = 0; i < count;) {
        i += add_run(timings + i, count - i, total, &elapsed_ns);
    }
    total->elapsed_ns = (uint64_t)fmin(elapsed_ns, 9e18);
    total->node_s /= NS_PER_S;
}

/* --- the whole ------------------------------------------------------------------------------ */

static const enum sum_key in_time[] = {SUM_NODE,     SUM_START,      SUM_STEP,    SUM_END,
                                       SUM_COMPLETE, SUM_RECORD_JOB, SUM_CLUSTER, SUM_KEYS_END};

int sum_align(const struct sum_store *store, struct sum_entries *entries,
              struct apapi_job_total *total)
{
    struct sum_entry *list = entries->list;
    size_t count = entries->count;
    const struct alignment alignment = {.list = list,
                                        .count = count,
                                        .ranges = calloc(count + 1, sizeof *alignment.ranges),
                                        .apart_ns = calloc(count + 1, sizeof *alignment.apart_ns),
                                        .nodes = calloc(count + 1, sizeof *alignment.nodes)};
    bool failed = !alignment.ranges || !alignment.apart_ns || !alignment.nodes;

    if (!failed) {
        align_clocks(&alignment, align_nodes(&alignment));
        for (size_t i = 0; i < count && store->asked.count > 0; i++) {
            list[i].nodes = APAPI_UNKNOWN; /* records of other nodes were not read */
        }
        if (!store->mixed) {
            timings_find_runs(list, count);
        }
        timings_sum(list, count, total);
        sum_sort(list, count, in_time);
    }
    free(alignment.ranges);
    free(alignment.apart_ns);
    free(alignment.nodes);
    errno = failed ? ENOMEM : errno;
    return failed ? -1 : 0;
}

void sum_find_ends(struct sum_entries *entries)
{
    struct sum_entry *list = entries->list;
    const struct sum_entry *last = list; /* of the same step and run, the entry that ends last */

    sum_sort(list, entries->count, SUM_KEYS(SUM_STEP, SUM_RUN, SUM_END));
    for (size_t i = 0; i < entries->count; i++) {
        bool same = last->piece->step == list[i].piece->step && last->restarts == list[i].restarts;

        last = same ? last : &list[i];
        list[i].until_ns = last->end_ns;
    }
    sum_sort(list, entries->count, in_time);
}

/* --- the union of spans of time --------------------------------------------------------------- */

double spans_length_ns(struct span *spans, size_t count)
{
    int64_t until_ns = INT64_MIN;
    double length_ns = 0;

    qsort(spans, count, sizeof *spans, compare_int64); /* by start */
    for (size_t i = 0; i < count; i++) {
        int64_t from_ns = spans[i].start_ns > until_ns ? spans[i].start_ns : until_ns;

        if (spans[i].end_ns > from_ns) {
            length_ns += (double)spans[i].end_ns - (double)from_ns;
            until_ns = spans[i].end_ns;
        }
    }
    return length_ns;
}
