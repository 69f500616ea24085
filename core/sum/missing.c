/* SPDX-License-Identifier: BSD-3-Clause */
/* Which nodes of the steps of a job have no record. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hostlist.h"
#include "sum/sum.h"

#define LISTS_MAX 4 /* different lists of a step that are tried */

/* A step in one run of its job, by node. */
struct missing_run {
    const struct sum_entry *entries;
    size_t count;
    struct sum_gap gap;
};

struct missing_search {
    const struct sum_store *store;
    struct sum_entries all; /* by step, run and node */
    const struct sum_gap_visitor *visitor;
    bool restarted;     /* the job has run more than once */
    uint32_t job_nodes; /* 0: not known */
};

/* --- names ---------------------------------------------------------------------------------- */

static int missing_subtract(const struct namelist *all, const struct namelist *own,
                            struct namelist *lacking)
{
    for (size_t i = 0; i < all->count; i++) {
        if (!namelist_have(own, all->names[i]) && namelist_add(lacking, all->names[i])) {
            return -1;
        }
    }
    if (all->count - lacking->count == own->count) {
        return 1;
    }
    namelist_free(lacking); /* some of `own` are not in the list */
    return 0;
}

int lacking_nodes(const char *list, uint32_t nodes, const struct namelist *own,
                  struct namelist *lacking)
{
    struct namelist all = {0};
    int result = 0;

    *lacking = (struct namelist){0};
    if (hostlist_names(list, &all) < 0) {
        result = errno == ENOMEM ? -1 : 0;
    } else if (all.count == nodes) {
        namelist_unique(&all);
        result = all.count == nodes ? missing_subtract(&all, own, lacking) : 0;
    }
    namelist_free(&all);
    return result;
}

/* Use the list of one of these records. @return 1; 0: none is consistent; -1: out of memory */
static int missing_by_list(const struct sum_store *store, const struct sum_entry *entries,
                           size_t count, struct sum_gap *gap)
{
    uint32_t tried = POOL_NONE;
    int result = 0;

    for (size_t i = 0, lists = 0; i < count && lists < LISTS_MAX && result == 0; i++) {
        const struct sum_piece *piece = entries[i].piece;

        if (piece->nodelist != POOL_NONE && piece->nodelist != tried &&
            piece->nodes == gap->nodes) {
            result = lacking_nodes(pool_text(&store->nodelists, piece->nodelist), gap->nodes,
                                   &gap->recorded, &gap->missing);
            tried = piece->nodelist;
            lists++;
        }
    }
    return result;
}

/* The nodes of the job without a record of this step, if every node has a record of some step. */
static int missing_by_records(const struct missing_search *search, struct sum_gap *gap)
{
    struct namelist nodes = {0};
    int result = sum_nodes(&search->all, &nodes);

    for (size_t i = 0; i < nodes.count && nodes.count == gap->nodes && result == 0; i++) {
        if (!namelist_have(&gap->recorded, nodes.names[i])) {
            result = namelist_add(&gap->missing, nodes.names[i]);
        }
    }
    namelist_free(&nodes);
    return result ? -1 : gap->missing.count > 0;
}

/* In a job that ran once, a step on all nodes has the nodes of every other such step. */
static int missing_by_job(const struct missing_search *search, struct sum_gap *gap)
{
    int result;

    if (search->restarted || gap->nodes != search->job_nodes) {
        return 0;
    }
    result = missing_by_list(search->store, search->all.list, search->all.count, gap);
    return result ? result : missing_by_records(search, gap);
}

/* Nodes that were not read are not missing. */
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

static int missing_name(const struct missing_search *search, struct missing_run *run)
{
    int result = missing_by_list(search->store, run->entries, run->count, &run->gap);

    if (result == 0) {
        result = missing_by_job(search, &run->gap);
    }
    run->gap.named = result > 0;
    return result < 0 ? -1 : 0;
}

/* --- runs ----------------------------------------------------------------------------------- */

static int missing_compare(const void *left, const void *right)
{
    const struct sum_entry *a = left, *b = right;
    int order = a->piece->step == b->piece->step ? 0 : strverscmp(a->step, b->step);

    order = order ? order : COMPARE(a->restarts, b->restarts);
    order = order ? order : strverscmp(a->node, b->node);
    return order ? order : COMPARE(a->start_ns, b->start_ns);
}

/* Take the run that starts with the first of `count` entries. 0; -1 with ENOMEM. */
static int missing_take_run(const struct sum_entry *entries, size_t count, struct missing_run *run)
{
    *run = (struct missing_run){.entries = entries,
                                .gap = {.step = entries->step, .restarts = entries->restarts}};
    for (; run->count < count && entries[run->count].piece->step == entries->piece->step &&
           entries[run->count].restarts == entries->restarts;
         run->count++) {
        const struct sum_entry *entry = &entries[run->count];
        uint32_t nodes = entry->piece->nodes;

        if (nodes != APAPI_UNKNOWN && nodes > run->gap.nodes) {
            run->gap.nodes = nodes;
        }
        if ((run->count == 0 || entry[-1].piece->node != entry->piece->node) &&
            namelist_add(&run->gap.recorded, entry->node)) {
            return -1;
        }
    }
    return 0;
}

/* The extern step runs on all nodes of a job and knows their number. */
static void missing_know_job(struct missing_search *search)
{
    for (size_t i = 0; i < search->all.count; i++) {
        const struct sum_entry *entry = &search->all.list[i];
        uint32_t nodes = entry->piece->nodes;

        search->restarted = search->restarted || entry->restarts != search->all.list->restarts;
        if (nodes != APAPI_UNKNOWN && nodes > search->job_nodes &&
            strcmp(entry->step, "extern") == 0) {
            search->job_nodes = nodes;
        }
    }
}

static int missing_visit(const struct missing_search *search, struct missing_run *run)
{
    const struct sum_gap_visitor *visitor = search->visitor;
    bool some = visitor->asked && visitor->asked->count > 0;

    if (run->gap.nodes <= run->gap.recorded.count) {
        return 0;
    }
    if ((visitor->names || some) && missing_name(search, run)) {
        return -1;
    }
    run->gap.count = run->gap.nodes - run->gap.recorded.count;
    if (some) {
        missing_keep_asked(visitor->asked, &run->gap);
    }
    return run->gap.count > 0 ? visitor->visit(&run->gap, visitor->context) : 0;
}

int sum_each_gap(const struct sum_store *store, const struct sum_entries *entries,
                 const struct sum_gap_visitor *visitor)
{
    struct missing_search search = {
        .store = store,
        .visitor = visitor,
        .all = {calloc(entries->count + 1, sizeof *entries->list), entries->count}};
    int result = search.all.list ? 0 : -1;
    struct missing_run run;

    if (result == 0 && entries->count > 0) {
        memcpy(search.all.list, entries->list, entries->count * sizeof *entries->list);
        qsort(search.all.list, entries->count, sizeof *entries->list, missing_compare);
        missing_know_job(&search);
    }
    for (size_t i = 0; i < entries->count && result == 0; i += run.count) {
        result = missing_take_run(search.all.list + i, entries->count - i, &run);
        if (result == 0) {
            result = missing_visit(&search, &run);
        }
        namelist_free(&run.gap.recorded);
        namelist_free(&run.gap.missing);
    }
    free(search.all.list);
    return result;
}
