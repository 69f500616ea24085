/* SPDX-License-Identifier: BSD-3-Clause */
/* Find the nodes of the steps of a job that have no record. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hostlist.h"
#include "record/record.h"
#include "sum/sum.h"

#define LISTS_MAX 4 /* how many different node lists of a step are tried */

struct missing_search {
    const struct sum_store *store;
    struct sum_entries all; /* by step, run and node */
    bool names;             /* are wanted */
    bool restarted;         /* the job has run more than once */
    uint32_t job_nodes;     /* 0: not known */
};

/* --- names ---------------------------------------------------------------------------------- */

/* Find the nodes of a step without a record, if `all` are its nodes: as many, and all recorded ones
 * among them. @return 1; 0: `all` are other nodes; -1: out of memory */
static int missing_of(const struct namelist *all, struct sum_gap *gap)
{
    int result = 0;

    for (size_t i = 0; i < all->count && all->count == gap->nodes && result == 0; i++) {
        if (!namelist_have(&gap->recorded, all->names[i])) {
            result = namelist_add(&gap->missing, all->names[i]);
        }
    }
    if (result == 0 && all->count == gap->nodes &&
        all->count == gap->recorded.count + gap->missing.count) {
        return 1;
    }
    namelist_free(&gap->missing);
    return result;
}

/* Find the missing nodes by the node list in one of these records. */
static int missing_by_list(const struct sum_store *store, const struct sum_entry *entries,
                           size_t count, struct sum_gap *gap)
{
    uint32_t tried = POOL_NONE;
    int result = 0;

    for (size_t i = 0, lists = 0; i < count && lists < LISTS_MAX && result == 0; i++) {
        const struct sum_piece *piece = entries[i].piece;
        struct namelist all = {0};
        ssize_t listed;

        if (piece->nodelist == POOL_NONE || piece->nodelist == tried ||
            piece->nodes != gap->nodes) {
            continue;
        }
        listed = hostlist_names(pool_text(&store->nodelists, piece->nodelist), &all);
        result = listed < 0 && errno == ENOMEM ? -1 : 0;
        if (listed == (ssize_t)gap->nodes) {
            namelist_unique(&all);
            result = missing_of(&all, gap);
        }
        namelist_free(&all);
        tried = piece->nodelist;
        lists++;
    }
    return result;
}

/* Find the missing nodes by other steps: in a job that ran once, a step on all nodes has the nodes
 * of every other such step, or those of all records. */
static int missing_by_job(const struct missing_search *search, struct sum_gap *gap)
{
    struct namelist nodes = {0};
    int result = 0;

    if (!search->restarted && gap->nodes == search->job_nodes) {
        result = missing_by_list(search->store, search->all.list, search->all.count, gap);
        if (result == 0) {
            result = sum_nodes(&search->all, &nodes) ? -1 : missing_of(&nodes, gap);
        }
        namelist_free(&nodes);
    }
    return result;
}

/* Nodes whose records were not read do not count as missing. */
static void missing_keep_asked(const struct namelist *asked, struct sum_gap *gap)
{
    size_t kept = 0;

    for (size_t i = 0; i < gap->missing.count; i++) {
        if (namelist_have(asked, gap->missing.names[i])) {
            gap->missing.names[kept++] = gap->missing.names[i];
        } else {
            free(gap->missing.names[i]);
        }
    }
    gap->missing.count = gap->count = kept;
}

/* --- runs ----------------------------------------------------------------------------------- */

/* @return how many of `count` entries are of the first one's step and run; 0: out of memory */
static size_t missing_take_run(struct sum_entry *entries, size_t count, struct sum_gap *gap)
{
    const struct sum_entries run = {entries,
                                    sum_alike(entries, count, SUM_KEYS(SUM_STEP, SUM_RUN))};

    *gap = (struct sum_gap){.step = entries->step, .restarts = entries->restarts};
    for (size_t i = 0; i < run.count; i++) {
        gap->nodes = known_greater(gap->nodes, entries[i].piece->nodes);
    }
    return sum_nodes(&run, &gap->recorded) ? 0 : run.count;
}

/* Find what is missing of one run of a step. @return 0; -1: out of memory */
static int missing_find(const struct missing_search *search, const struct sum_entry *entries,
                        size_t count, struct sum_gap *gap)
{
    const struct namelist *asked = &search->store->asked;
    int found = 0;

    if (gap->nodes <= gap->recorded.count) {
        return 0;
    }
    if (search->names || asked->count > 0) {
        found = missing_by_list(search->store, entries, count, gap);
        found = found ? found : missing_by_job(search, gap);
    }
    if (found < 0) {
        return -1;
    }
    gap->named = found > 0;
    gap->count = gap->nodes - gap->recorded.count;
    if (asked->count > 0) {
        missing_keep_asked(asked, gap);
    }
    return 0;
}

int sum_each_gap(const struct sum_store *store, const struct sum_entries *entries, bool names,
                 sum_gap_f visit, void *context)
{
    struct sum_entry *list = array_copy(entries->list, entries->count, sizeof *list);
    struct missing_search search = {store, {list, entries->count}, names, false, 0};
    int result = list || entries->count == 0 ? 0 : -1;

    if (list) {
        sum_sort(list, entries->count, SUM_KEYS(SUM_STEP, SUM_RUN, SUM_NODE, SUM_START));
    }
    for (size_t i = 0; i < entries->count && list; i++) {
        search.restarted = search.restarted || list[i].restarts != list->restarts;
        if (strcmp(list[i].step, "extern") == 0) { /* runs on all nodes, knows their number */
            search.job_nodes = known_greater(search.job_nodes, list[i].piece->nodes);
        }
    }
    for (size_t i = 0, same; i < entries->count && result == 0; i += same) {
        struct sum_gap gap;

        same = missing_take_run(list + i, entries->count - i, &gap);
        result = same ? missing_find(&search, list + i, same, &gap) : -1;
        if (result == 0 && gap.count > 0) {
            result = visit(&gap, context);
        }
        namelist_free(&gap.recorded);
        namelist_free(&gap.missing);
    }
    free(list);
    return result;
}
