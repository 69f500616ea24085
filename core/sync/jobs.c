/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/text.h"
#include "record/record.h"
#include "sync/jobs.h"

/* --- jobs of records ------------------------------------------------------------------------ */

#define JOBS_RANDOM 0xffff0000 /* `srun -Z` chooses a number from here on */

int found_add(struct found *found, const struct found_job *job)
{
    char key[sizeof job->cluster + 16];
    struct found_job *known;
    uint32_t number;

    if (job->job >= JOBS_RANDOM) {
        return 0;
    }
    snprintf(key, sizeof key, "%s/%u", job->cluster, job->job);
    number = pool_put_row(&found->keys, key, &found->jobs, &found->room, sizeof *found->jobs);
    if (number == POOL_NONE) {
        return -1;
    }
    known = &found->jobs[number];
    if (number == found->count) {
        found->count++;
        *known = *job;
    } else {
        known->records += job->records;
        known->since_s = job->since_s < known->since_s ? job->since_s : known->since_s;
    }
    return 0;
}

static int found_compare(const void *left, const void *right)
{
    const struct found_job *a = left, *b = right;
    int order = strcmp(a->cluster, b->cluster);

    return order ? order : COMPARE(a->job, b->job);
}

void found_sort(struct found *found)
{
    if (found->count > 0) {
        qsort(found->jobs, found->count, sizeof *found->jobs, found_compare);
    }
}

void found_free(struct found *found)
{
    pool_free(&found->keys);
    free(found->jobs);
    *found = (struct found){0};
}

/* --- runs of a job -------------------------------------------------------------------------- */

#define DAY_S 86400

int runs_add(struct runs *runs, const struct dbd_run *run)
{
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
    int order = COMPARE(a->job, b->job);

    return order ? order : COMPARE(a->submit_s, b->submit_s);
}

void runs_sort(struct runs *runs)
{
    if (runs->count > 0) {
        qsort(runs->runs, runs->count, sizeof *runs->runs, sync_runs_compare);
    }
}

struct runs_job runs_find(const struct runs *runs, uint32_t job)
{
    struct runs_job found = {NULL, 0};
    const struct dbd_run *later = NULL;

    for (size_t i = runs->count; i-- > 0;) {
        const struct dbd_run *run = &runs->runs[i];

        if (run->job != job) {
            continue;
        }
        if (later && (run->uid != later->uid || later->submit_s - run->end_s >= DAY_S)) {
            break; /* not a restart, but a job with the same number */
        }
        found.latest = later ? found.latest : run;
        if (run->start_s > 0) { /* 0: cancelled before its start */
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
    if (isfinite(value)) {
        text_append(own, COMMENT_OWN_SIZE, ",", "\"%s\":%.*g", key, figures, value);
    }
}

void comment_own(char own[COMMENT_OWN_SIZE], const struct apapi_job_total *total)
{
    char names[DOMAIN_LIST_SIZE];

    snprintf(own, COMMENT_OWN_SIZE, OWN_BEGIN "\"v\":1");
    comment_add_number(own, "energy_j", total->energy_j, 9);
    comment_add_number(own, "uncertainty_j", total->uncertainty_j, 3);
    domain_list_text(total->missing_domains, ",", names);
    if (*names) {
        text_append(own, COMMENT_OWN_SIZE, ",", "\"missing_domains\":\"%s\"", names);
    }
    comment_add_number(own, "mean_w", total->mean_w, 6);
    comment_add_number(own, "nodes", (double)total->nodes, 9);
    comment_add_number(own, "measured_pct", 100 * apapi_job_measured(total, 0), 4);
    comment_add_number(own, "elapsed_s",
                       total->elapsed_ns ? (double)total->elapsed_ns / NS_PER_S : NAN, 6);
    comment_add_number(own, "runs", total->runs > 1 ? (double)total->runs : NAN, 9);
    comment_add_number(own, "incomplete", total->incomplete ? (double)total->incomplete : NAN, 9);
    strcat(own, "}");
}

/* @return whether the text is a JSON object */
static bool object_parse(struct tree *tree, const char *text)
{
    struct tree_problem problem;

    return tree_parse(tree, text, strlen(text), &problem) == 0 && tree_is(tree->nodes, TREE_OBJECT);
}

static const char *behind_text(const char *quote)
{
    for (quote++; *quote != '"'; quote += *quote == '\\' ? 2 : 1) {
    }
    return quote + 1;
}

/* @return the end of a member of a valid object: the member's comma, or the object's brace. */
static const char *member_end(const char *at)
{
    for (int depth = 0; depth > 0 || !strchr(",}", *at);) {
        depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
        at = *at == '"' ? behind_text(at) : at + 1;
    }
    return at;
}

/* Keep an object byte for byte, but replace the member of our key, or add it before the last brace.
 * @return the new object; NULL: out of memory. */
static char *put_into_object(const char *there, bool empty, const char *own)
{
    const char *begin = strchr(there, '{'), *end;
    bool found = false;
    char *text;

    while (!empty && !found && *begin != '}') {
        begin = strchr(begin, '"');
        end = member_end(begin);
        found = strncmp(begin, "\"" KEY "\"", sizeof KEY + 1) == 0;
        begin = found ? begin : end;
    }
    if (!found) {
        begin = end = strrchr(there, '}');
    }
    while (found && strchr(" \t\r\n", end[-1])) {
        end--;
    }
    return asprintf(&text, "%.*s%s%s%s", (int)(begin - there), there, found || empty ? "" : ",",
                    own, end) < 0
               ? NULL
               : text;
}

/* Find the start of our object at the end of a text. @return NULL: none */
static const char *own_tail(const char *there)
{
    const char *tail = NULL;
    struct tree tree = {0};
    bool ours;

    for (const char *at = there; (at = strstr(at, "{" OWN_BEGIN)); at++) {
        tail = at;
    }
    ours = tail && object_parse(&tree, tail) && tree.nodes->size == 1;
    tree_free(&tree);
    return ours ? tail : NULL;
}

static char *put_behind_text(const char *there, const char *own)
{
    const char *tail = own_tail(there);
    size_t size = tail ? (size_t)(tail - there) : strlen(there);
    bool alone = tail || size == 0;
    char *text;

    return asprintf(&text, "%.*s%s{%s}", (int)size, there, alone ? "" : " ", own) < 0 ? NULL : text;
}

int comment_put(const char *there, const char *own, char **result)
{
    const char *text = there ? there : "";
    struct tree tree = {0};
    char *put = object_parse(&tree, text) ? put_into_object(text, tree.nodes->size == 0, own)
                                          : put_behind_text(text, own);

    tree_free(&tree);
    if (!put || strlen(put) > COMMENT_MAX) {
        int code = put ? EMSGSIZE : ENOMEM;

        free(put);
        errno = code;
        return -1;
    }
    *result = put;
    return 0;
}

/* --- state between two runs ----------------------------------------------------------------- */

#define VERSION 1

/* Open a file of the folder. @return -1: `absent` tells that only the file is missing */
static int state_open(const char *dir, const char *name, int flags, bool *absent,
                      struct apapi_error *err)
{
    int folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;
    char path[PATH_MAX];
    struct stat status;

    *absent = false;
    if (folder < 0) {
        return apapi_fail(err, errno, "%.160s: %s", dir, strerror(errno));
    }
    snprintf(path, sizeof path, "%s/%s", dir, name);
    fd = folder_open_file(folder, path, flags, &status, err);
    *absent = fd < 0 && errno == ENOENT;
    folder_close(folder);
    return fd;
}

/* @return [s since 1970]; -1: not a time that can be expressed in nanoseconds */
static int64_t time_of(const struct tree_node *root, const char *key)
{
    const struct tree_node *time_s = tree_get(root, key);

    return tree_is(time_s, TREE_INTEGER) && time_s->integer <= INT64_MAX / NS_PER_S
               ? time_s->integer
               : -1;
}

static bool understand(struct state *state)
{
    const struct tree_node *root = state->tree.nodes, *version = tree_get(root, "apapi_sync");
    int64_t since_s = time_of(root, "since"), read_s = time_of(root, "read"), reach_ns;

    state->files = tree_get(root, "files");
    state->waiting = tree_get(root, "waiting");
    if (!tree_is(version, TREE_INTEGER) || version->integer != VERSION || since_s < 0 ||
        read_s < 0 || !tree_is(state->files, TREE_OBJECT) || !tree_is(state->waiting, TREE_ARRAY)) {
        state->files = state->waiting = NULL;
        return false;
    }
    reach_ns = read_s * NS_PER_S - STATE_REACH_NS;
    state->since_ns = since_s * NS_PER_S > reach_ns ? since_s * NS_PER_S : reach_ns;
    return true;
}

int state_load(struct state *state, const char *dir, const char *name, int64_t first_ns,
               struct apapi_error *err)
{
    struct tree_problem problem;
    size_t room = 0;
    char *text = NULL;
    bool absent;
    int fd = state_open(dir, name, O_RDONLY, &absent, err);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

    *state = (struct state){.since_ns = first_ns};
    json_begin_object(&state->json, NULL);
    json_put_integer(&state->json, "apapi_sync", VERSION);
    json_begin_object(&state->json, "files");
    state->damaged = fd >= 0 && !(file && getdelim(&text, &room, '\0', file) >= 0 &&
                                  tree_parse(&state->tree, text, strlen(text), &problem) == 0 &&
                                  understand(state));
    free(text);
    if (file) {
        fclose(file);
    }
    return fd >= 0 || absent ? 0 : -1;
}

void state_free(struct state *state)
{
    tree_free(&state->tree);
    free(state->json.text);
    *state = (struct state){0};
}

/* Files are asked for in the order in which they were noted, so the next entry is mostly right. */
uint64_t state_offset(struct state *state, const char *file)
{
    const struct tree_node *files = state->files;
    const struct tree_node *end = files ? files + files->span : NULL, *at = state->next_file;

    for (uint32_t i = 0; files && i < files->size; i++, at = tree_next(at + 1)) {
        at = at && at < end ? at : files + 1;
        if (tree_is_key(at, file)) {
            state->next_file = tree_next(at + 1);
            return tree_is(at + 1, TREE_INTEGER) && at[1].integer > 0 ? (uint64_t)at[1].integer : 0;
        }
    }
    return 0;
}

void state_note(struct state *state, const char *file, uint64_t offset)
{
    json_put_integer(&state->json, file, (int64_t)offset);
}

static void begin_waiting(struct state *state)
{
    if (!state->waits) {
        json_end(&state->json);
        json_begin_array(&state->json, "waiting");
        state->waits = true;
    }
}

void state_wait(struct state *state, const char *cluster, uint32_t job, int64_t since_s)
{
    begin_waiting(state);
    json_begin_object(&state->json, NULL);
    json_put_text(&state->json, "cluster", cluster);
    json_put_integer(&state->json, "job", job);
    json_put_integer(&state->json, "since", since_s);
    json_end(&state->json);
}

int state_save(struct state *state, const char *dir, const char *name, int64_t now_ns,
               struct apapi_error *err)
{
    char *text, path[PATH_MAX];
    int result;

    begin_waiting(state);
    json_end(&state->json);
    json_put_integer(&state->json, "since", state->since_ns / NS_PER_S);
    json_put_integer(&state->json, "read", now_ns / NS_PER_S);
    json_end(&state->json);
    text = json_take(&state->json);
    if (!text) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    result = snprintf(path, sizeof path, "%s/%s", dir, name) < (int)sizeof path
                 ? replace_file(path, 0600, text, strlen(text), err)
                 : apapi_fail(err, ENAMETOOLONG, "the path of the state is too long");
    free(text);
    return result;
}

int state_lock(const char *dir, struct apapi_error *err)
{
    bool absent;
    int fd = state_open(dir, "sync.lock", O_RDWR | O_CREAT, &absent, err);

    if (fd >= 0 && flock(fd, LOCK_EX)) {
        apapi_fail(err, errno, "%.160s/sync.lock: %s", dir, strerror(errno));
        folder_close(fd);
        return -1;
    }
    return fd;
}
