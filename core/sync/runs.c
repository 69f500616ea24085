/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync/runs.h"

#include <stdlib.h>

#include "base/array.h"

#define DAY_S 86400

int runs_add(const struct dbd_run *run, void *context)
{
    struct runs *runs = context;

    if (array_add(&runs->runs, runs->count, &runs->room, sizeof *runs->runs) ||
        namelist_add(&runs->comments, run->comment)) {
        return -1;
    }
    runs->runs[runs->count] = *run;
    runs->runs[runs->count].comment = runs->comments.names[runs->count];
    runs->count++;
    return 0;
}

static int sync_runs_compare(const void *left, const void *right)
{
    const struct dbd_run *a = left, *b = right;

    if (a->job != b->job) {
        return a->job < b->job ? -1 : 1;
    }
    return (a->submit_s > b->submit_s) - (a->submit_s < b->submit_s);
}

void runs_sort(struct runs *runs)
{
    if (runs->count > 0) {
        qsort(runs->runs, runs->count, sizeof *runs->runs, sync_runs_compare);
    }
}

static bool is_restart(const struct dbd_run *earlier, const struct dbd_run *later)
{
    return earlier->job == later->job && earlier->uid == later->uid &&
           later->submit_s - earlier->end_s < DAY_S;
}

/* Index after the last run of the job. */
static size_t sync_runs_find_end(const struct runs *runs, uint32_t job)
{
    size_t begin = 0, end = runs->count;

    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;

        if (runs->runs[middle].job <= job) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin;
}

struct runs_job runs_find(const struct runs *runs, uint32_t job)
{
    struct runs_job found = {NULL, 0};
    const struct dbd_run *later = NULL;

    for (size_t i = sync_runs_find_end(runs, job); i > 0 && runs->runs[i - 1].job == job; i--) {
        const struct dbd_run *run = &runs->runs[i - 1];

        if (later && !is_restart(run, later)) {
            break;
        }
        found.latest = later ? found.latest : run;
        if (run->start_s > 0) { /* cancelled before its start: no time */
            found.start_s = run->start_s;
        }
        later = run;
    }
    return found;
}

void runs_free(struct runs *runs)
{
    namelist_free(&runs->comments);
    free(runs->runs);
    *runs = (struct runs){0};
}
