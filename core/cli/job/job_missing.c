/* SPDX-License-Identifier: BSD-3-Clause */
/* Which nodes of a job's steps have no record. */
#include <stdlib.h>

#include "base/hostlist.h"
#include "base/text.h"
#include "cli/job/job_view.h"
#include "sum/sum.h"

#define LIST_COLUMNS 300

struct gap_visitor {
    show_gap_f visit;
    void *context;
};

/* @return a text to be freed; NULL: out of memory */
static char *list_lacking(const struct sum_gap *gap)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    return text_of_stream(out, &text,
                          out ? hostlist_put_names(out, &gap->missing, LIST_COLUMNS) : -1);
}

static int visit_gap(const struct sum_gap *gap, void *context)
{
    const struct gap_visitor *visitor = context;
    struct show_gap shown = {.step = gap->step,
                             .restarts = gap->restarts,
                             .nodes = gap->nodes,
                             .lacking = gap->count,
                             .nodelist = ""};
    char *list = gap->named ? list_lacking(gap) : NULL;

    if (gap->named && !list) {
        return -1;
    }
    shown.nodelist = list ? list : "";
    visitor->visit(&shown, visitor->context);
    free(list);
    return 0;
}

/* Records without room here are not missing, but then it is not known which are. */
int show_find_gaps(const struct show *show, show_gap_f visit, void *context)
{
    const struct namelist all = {0};
    struct sum_store store = {.lists = true, .curveless = true};
    struct sum_entries entries = {NULL, 0};
    struct sum sum = SUM_EMPTY;
    int result = 0;

    for (size_t i = 0; i < show->count && result == 0; i++) {
        result = sum_add(&store, &sum, &show->records[i], NULL);
    }
    if (result == 0 && sum_gather(&store, &sum, &entries) == 0) {
        result = sum_each_gap(&store, &entries, &all, show->left_out == 0, visit_gap,
                              &(struct gap_visitor){visit, context});
    } else {
        result = -1;
    }
    free(entries.list);
    sum_free(&store);
    return result;
}
