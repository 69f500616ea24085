/* SPDX-License-Identifier: BSD-3-Clause */
/* Which nodes of a job's steps have no record. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hostlist.h"
#include "base/text.h"
#include "cli/job/job_view.h"
#include "sum/lacking.h"

#define LIST_COLUMNS 300

/* Records of one step in one run of its job, by node. */
struct missing_run {
    const struct apapi_record *const *records;
    size_t count;
    uint32_t nodes;
    struct namelist own, lacking;
};

static int job_missing_compare_runs(const void *left, const void *right)
{
    const struct apapi_record *a = *(const struct apapi_record *const *)left,
                              *b = *(const struct apapi_record *const *)right;
    int order = strverscmp(a->id.step, b->id.step);

    order = order ? order : COMPARE(a->id.restarts, b->id.restarts);
    return order ? order : strverscmp(a->id.node, b->id.node);
}

static bool is_of_run(const struct apapi_record *a, const struct apapi_record *b)
{
    return strcmp(a->id.step, b->id.step) == 0 && a->id.restarts == b->id.restarts;
}

/* Take the run that starts with the first of `count` records. */
static int job_missing_take_run(const struct apapi_record *const *records, size_t count,
                                struct missing_run *run)
{
    *run = (struct missing_run){.records = records};
    for (; run->count < count && is_of_run(records[0], records[run->count]); run->count++) {
        const struct apapi_identity *id = &records[run->count]->id;

        if (id->nodes != APAPI_UNKNOWN && id->nodes > run->nodes) {
            run->nodes = id->nodes;
        }
        if ((run->count == 0 || strcmp(records[run->count - 1]->id.node, id->node) != 0) &&
            namelist_add(&run->own, id->node)) {
            return -1;
        }
    }
    namelist_sort(&run->own);
    return 0;
}

/* @return 1: `lacking` is known; 0: no record shows it; -1: out of memory */
static int name_lacking(struct missing_run *run)
{
    const char *tried = "";
    int result = 0;

    for (size_t i = 0; i < run->count && result == 0; i++) {
        const char *list = run->records[i]->id.nodelist;

        if (strcmp(list, tried) != 0) {
            result = lacking_nodes(list, run->nodes, &run->own, &run->lacking);
            tried = list;
        }
    }
    return result;
}

/* @return a text to be freed; NULL: out of memory */
static char *list_lacking(const struct missing_run *run)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    return text_of_stream(out, &text,
                          out ? hostlist_put_names(out, &run->lacking, LIST_COLUMNS) : -1);
}

/* Records without room here are not missing, but then it is not known which are. */
static int report_run(const struct show *show, struct missing_run *run, show_gap_f visit,
                      void *context)
{
    const struct apapi_record *first = run->records[0];
    struct show_gap gap = {.step = first->id.step,
                           .restarts = first->id.restarts,
                           .nodes = run->nodes,
                           .lacking = run->nodes - run->own.count,
                           .nodelist = ""};
    int named = show->left_out > 0 ? 0 : name_lacking(run);
    char *list = named > 0 ? list_lacking(run) : NULL;

    if (named < 0 || (named > 0 && !list)) {
        return -1;
    }
    if (list) {
        gap.nodelist = list;
    }
    visit(&gap, context);
    free(list);
    return 0;
}

int show_find_gaps(const struct show *show, show_gap_f visit, void *context)
{
    const struct apapi_record **records = calloc(show->count + 1, sizeof(struct apapi_record *));
    int result = records ? 0 : -1;
    struct missing_run run;

    for (size_t i = 0; i < show->count && records; i++) {
        records[i] = &show->records[i];
    }
    if (records) {
        qsort(records, show->count, sizeof(struct apapi_record *), job_missing_compare_runs);
    }
    for (size_t i = 0; i < show->count && result == 0; i += run.count) {
        result = job_missing_take_run(records + i, show->count - i, &run);
        if (result == 0 && run.nodes > run.own.count) {
            result = report_run(show, &run, visit, context);
        }
        namelist_free(&run.own);
        namelist_free(&run.lacking);
    }
    free(records);
    return result;
}
