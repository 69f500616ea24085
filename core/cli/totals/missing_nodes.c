/* SPDX-License-Identifier: BSD-3-Clause */
/* Which nodes of the steps of a bucket have no record. */
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "base/text.h"
#include "cli/totals/pieces.h"
#include "sum/lacking.h"

#define REMARK_COLUMNS 200
#define LISTS_MAX 4 /* different lists of a step that are tried */

/* A step in one run of its job. */
struct run {
    const struct report_piece *const *pieces; /* by node */
    size_t count;
    const char *step;
    uint32_t restarts;
    uint32_t nodes;     /* of the step */
    uint32_t own_count; /* with a record */
    struct namelist own, missing;
    bool named; /* `missing` is known */
};

struct node_search {
    const struct report_ledger *ledger;
    const struct pieces *pieces; /* all of the bucket */
    const struct report_view *view;
    struct report_total *total;
    bool restarted;          /* the job has run more than once */
    uint32_t job_nodes;      /* 0: not known */
    struct namelist missing; /* of all runs */
};

/* --- runs ----------------------------------------------------------------------------------- */

/* Sort by step and run, then as usual. */
static int missing_nodes_compare_runs(const void *left, const void *right, void *texts)
{
    const struct report_piece *a = *(const struct report_piece *const *)left,
                              *b = *(const struct report_piece *const *)right;

    if (a->step == b->step && a->restarts != b->restarts) {
        return a->restarts < b->restarts ? -1 : 1;
    }
    return report_compare_pieces(left, right, texts);
}

static bool is_restarted(const struct pieces *pieces)
{
    for (size_t i = 0; i < pieces->count; i++) {
        if (pieces->list[i]->restarts != pieces->list[0]->restarts) {
            return true;
        }
    }
    return false;
}

/* @return the same pieces sorted by run, to be freed; NULL: out of memory. */
static const struct report_piece **sort_runs(const struct report_ledger *ledger,
                                             const struct pieces *pieces)
{
    struct pool texts = ledger->texts;
    const struct report_piece **sorted = calloc(pieces->count + 1, sizeof(struct report_piece *));

    if (sorted) {
        memcpy(sorted, pieces->list, pieces->count * sizeof(struct report_piece *));
        qsort_r(sorted, pieces->count, sizeof(struct report_piece *), missing_nodes_compare_runs,
                &texts);
    }
    return sorted;
}

/* Take the run that starts with the first of `count` pieces. */
static struct run missing_nodes_take_run(const struct report_ledger *ledger,
                                         const struct report_piece *const *pieces, size_t count)
{
    struct run run = {.pieces = pieces,
                      .step = pool_text(&ledger->texts, pieces[0]->step),
                      .restarts = pieces[0]->restarts};

    for (; run.count < count && pieces[run.count]->step == pieces[0]->step &&
           pieces[run.count]->restarts == run.restarts;
         run.count++) {
        const struct report_piece *piece = pieces[run.count];

        run.own_count += run.count == 0 || piece->node != pieces[run.count - 1]->node;
        if (piece->nodes != APAPI_UNKNOWN && piece->nodes > run.nodes) {
            run.nodes = piece->nodes;
        }
    }
    return run;
}

static int list_own(const struct report_ledger *ledger, struct run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        if ((i == 0 || run->pieces[i]->node != run->pieces[i - 1]->node) &&
            namelist_add(&run->own, pool_text(&ledger->texts, run->pieces[i]->node))) {
            return -1;
        }
    }
    namelist_sort(&run->own);
    return 0;
}

/* --- names ---------------------------------------------------------------------------------- */

/* Use the list of one of these pieces. @return 1; 0: none is consistent; -1: out of memory */
static int name_by_list(const struct report_ledger *ledger,
                        const struct report_piece *const *pieces, size_t count, struct run *run)
{
    uint32_t tried = POOL_NONE;
    int result = 0;

    for (size_t i = 0, lists = 0; i < count && lists < LISTS_MAX && result == 0; i++) {
        uint32_t list = pieces[i]->nodelist;

        if (list != POOL_NONE && list != tried && pieces[i]->nodes == run->nodes) {
            result = lacking_nodes(pool_text(&ledger->nodelists, list), run->nodes, &run->own,
                                   &run->missing);
            tried = list;
            lists++;
        }
    }
    return result;
}

/* The extern step runs on all nodes of a job and knows their number. @return 0: not known */
static uint32_t count_job_nodes(const struct report_ledger *ledger, const struct pieces *pieces)
{
    uint32_t count = 0;

    for (size_t i = 0; i < pieces->count; i++) {
        const struct report_piece *piece = pieces->list[i];

        if (piece->nodes != APAPI_UNKNOWN && piece->nodes > count &&
            strcmp(pool_text(&ledger->texts, piece->step), "extern") == 0) {
            count = piece->nodes;
        }
    }
    return count;
}

/* The nodes of the job without a record of this step, if every node has a record of some step. */
static int name_by_records(const struct node_search *search, struct run *run)
{
    const struct pieces *pieces = search->pieces;
    uint32_t *nodes = calloc(pieces->count + 1, sizeof *nodes);
    size_t count = nodes ? report_nodes(pieces->list, pieces->count, nodes) : 0;
    int result = nodes ? 0 : -1;

    for (size_t i = 0; i < count && count == run->nodes && result == 0; i++) {
        const char *name = pool_text(&search->ledger->texts, nodes[i]);

        if (!namelist_have(&run->own, name)) {
            result = namelist_add(&run->missing, name);
        }
    }
    free(nodes);
    return result ? -1 : run->missing.count > 0;
}

/* In a job that ran once, a step on all nodes has the nodes of every other such step. */
static int name_by_job(const struct node_search *search, struct run *run)
{
    const struct pieces *pieces = search->pieces;
    int result;

    if (search->restarted || run->nodes != search->job_nodes) {
        return 0;
    }
    result = name_by_list(search->ledger, pieces->list, pieces->count, run);
    return result ? result : name_by_records(search, run);
}

static int name_missing(const struct node_search *search, struct run *run)
{
    int result = list_own(search->ledger, run);

    if (result == 0) {
        result = name_by_list(search->ledger, run->pieces, run->count, run);
    }
    if (result == 0) {
        result = name_by_job(search, run);
    }
    run->named = result > 0;
    return result < 0 ? -1 : 0;
}

/* --- the report ----------------------------------------------------------------------------- */

/* Nodes that were not read are not missing. @return number of missing ones */
static uint32_t missing_nodes_count_missing(const struct node_search *search, struct run *run)
{
    const struct namelist *asked = &search->ledger->asked;
    size_t kept = 0;

    if (asked->count == 0) {
        return run->nodes - run->own_count;
    }
    for (size_t i = 0; i < run->missing.count; i++) {
        if (namelist_have(asked, run->missing.names[i])) {
            run->missing.names[kept++] = run->missing.names[i];
        } else {
            free(run->missing.names[i]);
        }
    }
    run->missing.count = kept;
    return (uint32_t)kept;
}

static int remark(const struct node_search *search, const struct run *run, uint32_t missing)
{
    char *text = NULL, restart[32] = "";
    size_t size;
    FILE *out = open_memstream(&text, &size);
    int result = -1;

    if (run->restarts > 0) {
        snprintf(restart, sizeof restart, ", restart %u", run->restarts);
    }
    if (out) {
        fprintf(out, "%s.%s%s: no record of %u of %u nodes%s", search->total->job_id, run->step,
                restart, missing, run->nodes, run->named ? ": " : "; there is one of ");
        result = hostlist_put_names(out, run->named ? &run->missing : &run->own, REMARK_COLUMNS);
    }
    if (!text_of_stream(out, &text, result)) {
        return -1;
    }
    search->view->remark(text, search->view->context);
    free(text);
    return 0;
}

static int note_run(struct node_search *search, struct run *run)
{
    const struct report_view *view = search->view;
    bool by_name = view->remark || view->nodelists || search->ledger->asked.count > 0;
    uint32_t missing;

    if (by_name && name_missing(search, run)) {
        return -1;
    }
    missing = missing_nodes_count_missing(search, run);
    search->total->missing += missing;
    if (missing > 0 && view->remark && remark(search, run, missing)) {
        return -1;
    }
    for (size_t i = 0; i < run->missing.count && view->nodelists; i++) {
        if (namelist_add(&search->missing, run->missing.names[i])) {
            return -1;
        }
    }
    return 0;
}

static int missing_nodes_find(struct node_search *search, const struct report_piece *const *pieces)
{
    size_t left = search->pieces->count;
    int result = 0;

    while (left > 0 && result == 0) {
        struct run run = missing_nodes_take_run(search->ledger, pieces, left);

        pieces += run.count;
        left -= run.count;
        if (run.nodes > run.own_count) {
            result = note_run(search, &run);
        }
        namelist_free(&run.own);
        namelist_free(&run.missing);
    }
    return result;
}

static int list_missing(struct node_search *search)
{
    size_t size;
    FILE *out = open_memstream(&search->total->missing_nodes, &size);
    int result;

    namelist_unique(&search->missing);
    result = out ? hostlist_put_names(out, &search->missing, REPORT_LIST_COLUMNS) : -1;
    return text_of_stream(out, &search->total->missing_nodes, result) ? 0 : -1;
}

int report_find_missing(const struct report_ledger *ledger, const struct pieces *pieces,
                        const struct report_view *view, struct report_total *total)
{
    struct node_search search = {.ledger = ledger,
                                 .pieces = pieces,
                                 .view = view,
                                 .total = total,
                                 .restarted = is_restarted(pieces),
                                 .job_nodes = count_job_nodes(ledger, pieces)};
    const struct report_piece **sorted = NULL;
    int result = -1;

    if (search.restarted) {
        sorted = sort_runs(ledger, pieces);
    }
    if (sorted || !search.restarted) {
        result = missing_nodes_find(&search, sorted ? sorted : pieces->list);
    }
    if (result == 0 && search.missing.count > 0) {
        result = list_missing(&search);
    }
    namelist_free(&search.missing);
    free(sorted);
    return result;
}
