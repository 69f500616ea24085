/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync/state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#include "base/clock.h"
#include "base/files.h"

#define VERSION 1

/* Unlike folder_open(), creates nothing. */
static int state_open_folder(const char *dir, struct apapi_error *err)
{
    int folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    return folder < 0 ? apapi_fail(err, errno, "%.160s: %s", dir, strerror(errno)) : folder;
}

/* @param text  result, to be freed; NULL: it is empty. @return 1; 0: no such file; -1 with errno */
static int state_read_file(const char *dir, const char *name, char **text, struct apapi_error *err)
{
    int folder = state_open_folder(dir, err), fd;
    char path[PATH_MAX];
    struct stat status;
    size_t room = 0;
    FILE *file;

    if (folder < 0) {
        return -1;
    }
    snprintf(path, sizeof path, "%s/%s", dir, name);
    fd = folder_open_file(folder, path, O_RDONLY, &status, err);
    folder_close(folder);
    if (fd < 0) {
        return errno == ENOENT ? 0 : -1;
    }
    file = fdopen(fd, "r");
    if (!file || getdelim(text, &room, '\0', file) < 0) {
        free(*text);
        *text = NULL;
    }
    if (file) {
        fclose(file);
    }
    return 1;
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
    char *text = NULL;
    int found = state_read_file(dir, name, &text, err);

    *state = (struct state){.since_ns = first_ns, .json = {.indent = 1}};
    json_begin_object(&state->json, NULL);
    json_put_integer(&state->json, "apapi_sync", VERSION);
    json_begin_object(&state->json, "files");
    state->damaged =
        found > 0 &&
        !(text && tree_parse(&state->tree, text, strlen(text), &problem) == 0 && understand(state));
    free(text);
    return found < 0 ? -1 : 0;
}

void state_free(struct state *state)
{
    tree_free(&state->tree);
    free(state->json.text);
    *state = (struct state){0};
}

/* Files are asked for in the order in which they were noted: the next one is usually found first.
 */
uint64_t state_offset(struct state *state, const char *file)
{
    const struct tree_node *files = state->files;
    const struct tree_node *end = files ? files + files->span : NULL, *at = state->next_file;

    for (uint32_t i = 0; files && i < files->size; i++, at = tree_next(at + 1)) {
        at = at && at < end ? at : tree_first(files);
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
    int folder = state_open_folder(dir, err), fd;
    char path[PATH_MAX];
    struct stat status;

    if (folder < 0) {
        return -1;
    }
    snprintf(path, sizeof path, "%s/sync.lock", dir);
    fd = folder_open_file(folder, path, O_RDWR | O_CREAT, &status, err);
    folder_close(folder);
    if (fd >= 0 && flock(fd, LOCK_EX)) {
        apapi_fail(err, errno, "%.160s: %s", path, strerror(errno));
        folder_close(fd);
        return -1;
    }
    return fd;
}
