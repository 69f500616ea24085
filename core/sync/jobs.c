/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "record/record.h"
#include "record/tree.h"
#include "sync/jobs.h"

/* --- jobs of records ------------------------------------------------------------------------ */

static int found_compare(const void *left, const void *right)
{
    const struct found_job *a = left, *b = right;
    int order = strcmp(a->cluster, b->cluster);

    return order ? order : (a->job > b->job) - (a->job < b->job);
}

static void found_join(struct found_job *job, const struct found_job *again)
{
    job->records += again->records;
    if (again->since_s < job->since_s) {
        job->since_s = again->since_s;
    }
}

void found_tidy(struct found *found)
{
    size_t kept = 0;

    if (!found->jobs || found->count == 0) {
        return;
    }
    qsort(found->jobs, found->count, sizeof *found->jobs, found_compare);
    for (size_t i = 1; i < found->count; i++) {
        if (found_compare(&found->jobs[kept], &found->jobs[i]) == 0) {
            found_join(&found->jobs[kept], &found->jobs[i]);
        } else {
            found->jobs[++kept] = found->jobs[i];
        }
    }
    found->count = kept + 1;
}

static int found_make_room(struct found *found)
{
    found_tidy(found);
    return found->jobs && found->count < found->room / 2
               ? 0
               : array_add(&found->jobs, found->room, &found->room, sizeof *found->jobs);
}

int found_add(struct found *found, const struct found_job *job)
{
    struct found_job *last = found->count ? &found->jobs[found->count - 1] : NULL;

    if (last && found_compare(last, job) == 0) {
        found_join(last, job);
        return 0;
    }
    if ((!found->jobs || found->count == found->room) && found_make_room(found)) {
        return -1;
    }
    found->jobs[found->count++] = *job;
    return 0;
}

void found_free(struct found *found)
{
    free(found->jobs);
    *found = (struct found){0};
}

/* --- runs of a job -------------------------------------------------------------------------- */

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

/* --- AdminComment --------------------------------------------------------------------------- */

#define KEY "apapi"
#define OWN_BEGIN                                                                                  \
    "\"" KEY "\":{" /* start of what comment_own() makes; it ends at the first closing brace */

static void comment_add_number(char *own, const char *key, double value, int figures)
{
    size_t used = strlen(own);

    if (isfinite(value)) {
        snprintf(own + used, COMMENT_OWN_SIZE - used, ",\"%s\":%.*g", key, figures, value);
    }
}

static void comment_add_missing(char *own, uint32_t domains)
{
    size_t used = strlen(own);
    char names[DOMAIN_LIST_SIZE];

    domain_list_text(domains, ",", names);
    if (*names) {
        snprintf(own + used, COMMENT_OWN_SIZE - used, ",\"missing_domains\":\"%s\"", names);
    }
}

void comment_own(char own[COMMENT_OWN_SIZE], const struct apapi_job_total *total)
{
    snprintf(own, COMMENT_OWN_SIZE, OWN_BEGIN "\"v\":1");
    comment_add_number(own, "energy_j", total->energy_j, 9);
    comment_add_number(own, "uncertainty_j", total->uncertainty_j, 3);
    comment_add_missing(own, total->missing_domains);
    comment_add_number(own, "mean_w", total->mean_w, 6);
    comment_add_number(own, "nodes", (double)total->nodes, 9);
    comment_add_number(own, "measured_pct", 100 * apapi_job_measured(total, 0), 4);
    comment_add_number(own, "elapsed_s",
                       total->elapsed_ns ? (double)total->elapsed_ns / NS_PER_S : NAN, 6);
    comment_add_number(own, "runs", total->runs > 1 ? (double)total->runs : NAN, 9);
    comment_add_number(own, "incomplete", total->incomplete ? (double)total->incomplete : NAN, 9);
    strcat(own, "}");
}

static char *comment_join(const char *first, size_t size, const char *own, const char *last)
{
    char *text;

    return asprintf(&text, "%.*s%s%s", (int)size, first, own, last) < 0 ? NULL : text;
}

static json_t *object_of(const char *text)
{
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

    if (root && !json_is_object(root)) {
        json_decref(root);
        return NULL;
    }
    return root;
}

/* Check that `text` is the object `root`, except for the key, which has the value in `own`. */
static bool is_put_well(const char *text, json_t *root, const char *own)
{
    char *alone = comment_join("{", 1, own, "}");
    json_t *put = object_of(text), *wanted = json_copy(root);
    json_t *own_root = alone ? object_of(alone) : NULL;
    bool same = put && wanted && own_root &&
                json_object_set(wanted, KEY, json_object_get(own_root, KEY)) == 0 &&
                json_equal(put, wanted);

    json_decref(put);
    json_decref(wanted);
    json_decref(own_root);
    free(alone);
    return same;
}

/* Replaces what an earlier run has written. */
static char *replace_member(const char *there, const char *own)
{
    const char *begin = strstr(there, OWN_BEGIN);
    const char *end = begin ? strchr(begin, '}') : NULL;

    return end ? comment_join(there, (size_t)(begin - there), own, end + 1) : NULL;
}

/* Insert before the last brace. */
static char *add_member(const char *there, json_t *root, const char *own)
{
    const char *brace = strrchr(there, '}');
    char *member =
        json_object_size(root) > 0 ? comment_join(",", 1, own, "") : comment_join("", 0, own, "");
    char *text =
        member && brace ? comment_join(there, (size_t)(brace - there), member, brace) : NULL;

    free(member);
    return text;
}

/* The key was written by another program in another format: write the whole object again. */
static char *rewrite_object(json_t *root, const char *own)
{
    char *alone = comment_join("{", 1, own, "}"), *text = NULL;
    json_t *own_root = alone ? object_of(alone) : NULL, *put = json_copy(root);

    if (own_root && put && json_object_set(put, KEY, json_object_get(own_root, KEY)) == 0) {
        text = json_dumps(put, JSON_COMPACT);
    }
    json_decref(own_root);
    json_decref(put);
    free(alone);
    return text;
}

static char *put_into_object(const char *there, json_t *root, const char *own)
{
    char *text =
        json_object_get(root, KEY) ? replace_member(there, own) : add_member(there, root, own);

    if (text && is_put_well(text, root, own)) {
        return text;
    }
    free(text);
    return rewrite_object(root, own);
}

/* Find the start of our object at the end of a text. @return NULL: none */
static const char *own_tail(const char *there)
{
    const char *tail = NULL;
    json_t *root;
    bool ours;

    for (const char *at = there; (at = strstr(at, "{" OWN_BEGIN)); at++) {
        tail = at;
    }
    root = tail ? object_of(tail) : NULL;
    ours = root && json_object_size(root) == 1;
    json_decref(root);
    return ours ? tail : NULL;
}

static char *put_behind_text(const char *there, const char *own)
{
    const char *tail = own_tail(there);
    size_t size = tail ? (size_t)(tail - there) : strlen(there);
    char *object =
        comment_join(tail || size == 0 ? "{" : " {", tail || size == 0 ? 1 : 2, own, "}");
    char *text = object ? comment_join(there, size, object, "") : NULL;

    free(object);
    return text;
}

int comment_put(const char *there, const char *own, char **result)
{
    const char *text = there ? there : "";
    json_t *root = object_of(text);
    char *put = root ? put_into_object(text, root, own) : put_behind_text(text, own);

    json_decref(root);
    if (!put) {
        errno = ENOMEM;
        return -1;
    }
    if (strlen(put) > COMMENT_MAX) {
        free(put);
        errno = EMSGSIZE;
        return -1;
    }
    *result = put;
    return 0;
}
