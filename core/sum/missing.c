/* SPDX-License-Identifier: BSD-3-Clause */
/* Which nodes of the steps of a job have no record. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hostlist.h"
#include "sum/sum.h"

#define LISTS_MAX 4 /* different lists of a step that are tried */

struct missing_search {
    const struct sum_store *store;
    struct sum_entries all; /* by step, run and node */
    const struct sum_gap_visitor *visitor;
    bool restarted;     /* the job has run more than once */
    uint32_t job_nodes; /* 0: not known */
};

/* --- names ---------------------------------------------------------------------------------- */

/*
 * Which nodes of a step have no record, by a list of `nodes` names that a record has. `own` have
 * one, each once and sorted. Free `lacking` in any case.
 * @return 1; 0: the list is not believed, as it is none, has another number of nodes, or not all of
 *         `own`; -1 with ENOMEM
 */
static int lacking_nodes(const char *list, uint32_t nodes, const struct namelist *own,
                         struct namelist *lacking)
{
    struct namelist all = {0};
    int result = hostlist_names(list, &all) < 0 && errno == ENOMEM ? -1 : 0;
    bool believed = result == 0 && all.count == nodes;

    *lacking = (struct namelist){0};
    namelist_unique(&all);
    for (size_t i = 0; i < all.count && believed && result == 0; i++) {
        if (!namelist_have(own, all.names[i])) {
            result = namelist_add(lacking, all.names[i]);
        }
    }
    believed = believed && all.count == nodes && nodes - lacking->count == own->count;
    namelist_free(&all);
    if (result || !believed) {
        namelist_free(lacking);
    }
    return result ? result : believed;
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

/* --- runs ----------------------------------------------------------------------------------- */

static int missing_compare(const void *left, const void *right)
{
    const struct sum_entry *a = left, *b = right;
    int order = a->piece->step == b->piece->step ? 0 : strverscmp(a->step, b->step);

    order = order ? order : COMPARE(a->restarts, b->restarts);
    order = order ? order : strverscmp(a->node, b->node);
    return order ? order : COMPARE(a->start_ns, b->start_ns);
}

/* @return how many of `count` entries are of the first one's step and run; 0: out of memory */
static size_t missing_take_run(const struct sum_entry *entries, size_t count, struct sum_gap *gap)
{
    size_t same = 0;

    *gap = (struct sum_gap){.step = entries->step, .restarts = entries->restarts};
    for (; same < count && entries[same].piece->step == entries->piece->step &&
           entries[same].restarts == entries->restarts;
         same++) {
        const struct sum_piece *piece = entries[same].piece;

        if (piece->nodes != APAPI_UNKNOWN && piece->nodes > gap->nodes) {
            gap->nodes = piece->nodes;
        }
        if ((same == 0 || entries[same - 1].piece->node != piece->node) &&
            namelist_add(&gap->recorded, entries[same].node)) {
            return 0;
        }
    }
    return same;
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

/* @param entries  of one run of a step */
static int missing_visit(const struct missing_search *search, const struct sum_entry *entries,
                         size_t count, struct sum_gap *gap)
{
    const struct sum_gap_visitor *visitor = search->visitor;
    bool some = visitor->asked && visitor->asked->count > 0;
    int found = 0;

    if (gap->nodes <= gap->recorded.count) {
        return 0;
    }
    if (visitor->names || some) {
        found = missing_by_list(search->store, entries, count, gap);
        found = found ? found : missing_by_job(search, gap);
    }
    if (found < 0) {
        return -1;
    }
    gap->named = found > 0;
    gap->count = gap->nodes - gap->recorded.count;
    if (some) {
        missing_keep_asked(visitor->asked, gap);
    }
    return gap->count > 0 ? visitor->visit(gap, visitor->context) : 0;
}

int sum_each_gap(const struct sum_store *store, const struct sum_entries *entries,
                 const struct sum_gap_visitor *visitor)
{
    struct sum_entry *list = array_copy(entries->list, entries->count, sizeof *list);
    struct missing_search search = {store, {list, entries->count}, visitor, false, 0};
    int result = list || entries->count == 0 ? 0 : -1;

    if (list) {
        qsort(list, entries->count, sizeof *list, missing_compare);
        missing_know_job(&search);
    }
    for (size_t i = 0, same; i < entries->count && result == 0; i += same) {
        struct sum_gap gap;

        same = missing_take_run(list + i, entries->count - i, &gap);
        result = same ? missing_visit(&search, list + i, same, &gap) : -1;
        namelist_free(&gap.recorded);
        namelist_free(&gap.missing);
    }
    free(list);
    return result;
}
