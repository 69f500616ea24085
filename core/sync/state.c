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

static int begin_first_run(struct state *state, int64_t first_ns, struct apapi_error *err)
{
    state_free(state);
    *state = (struct state){.since_ns = first_ns,
                            .files = json_object(),
                            .next = json_object(),
                            .waiting = json_array()};
    return state->files && state->next && state->waiting ? 0 : apapi_fail(err, ENOMEM, "no memory");
}

/* Unlike folder_open(), creates nothing. */
static int state_open_folder(const char *dir, struct apapi_error *err)
{
    int folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    return folder < 0 ? apapi_fail(err, errno, "%.160s: %s", dir, strerror(errno)) : folder;
}

/* @return 1; 0: no such file; -1 with errno */
static int state_read_file(const char *dir, const char *name, json_t **root,
                           struct apapi_error *err)
{
    int folder = state_open_folder(dir, err), fd;
    char path[PATH_MAX];
    struct stat status;

    if (folder < 0) {
        return -1;
    }
    snprintf(path, sizeof path, "%s/%s", dir, name);
    fd = folder_open_file(folder, path, O_RDONLY, &status, err);
    folder_close(folder);
    if (fd < 0) {
        return errno == ENOENT ? 0 : -1;
    }
    *root = json_loadfd(fd, JSON_REJECT_DUPLICATES, NULL);
    folder_close(fd);
    return 1;
}

/* Check that a time in seconds since 1970 can be expressed in nanoseconds. */
static bool is_time(json_int_t time_s)
{
    return time_s >= 0 && time_s <= INT64_MAX / NS_PER_S;
}

static bool understand(struct state *state, json_t *root)
{
    json_int_t version, since_s, read_s;
    json_t *files, *waiting;
    int64_t reach_ns;

    if (json_unpack(root, "{s:I, s:I, s:I, s:o, s:o}", "apapi_sync", &version, "since", &since_s,
                    "read", &read_s, "files", &files, "waiting", &waiting) ||
        version != VERSION || !json_is_object(files) || !json_is_array(waiting) ||
        !is_time(since_s) || !is_time(read_s)) {
        return false;
    }
    reach_ns = read_s * NS_PER_S - STATE_REACH_NS;
    state->since_ns = since_s * NS_PER_S > reach_ns ? since_s * NS_PER_S : reach_ns;
    json_decref(state->files);
    json_decref(state->waiting);
    state->files = json_incref(files);
    state->waiting = json_incref(waiting);
    return true;
}

int state_load(struct state *state, const char *dir, const char *name, int64_t first_ns,
               struct apapi_error *err)
{
    json_t *root = NULL;
    int found, result;

    *state = (struct state){0};
    result = begin_first_run(state, first_ns, err);
    found = result ? -1 : state_read_file(dir, name, &root, err);
    if (found > 0 && !(root && understand(state, root))) {
        result = begin_first_run(state, first_ns, err);
        state->damaged = true;
    }
    json_decref(root);
    return found < 0 ? -1 : result;
}

void state_free(struct state *state)
{
    json_decref(state->files);
    json_decref(state->next);
    json_decref(state->waiting);
    *state = (struct state){0};
}

uint64_t state_offset(const struct state *state, const char *file)
{
    json_int_t offset = json_integer_value(json_object_get(state->files, file));

    return offset > 0 ? (uint64_t)offset : 0;
}

int state_note(struct state *state, const char *file, uint64_t offset)
{
    return json_object_set_new(state->next, file, json_integer((json_int_t)offset));
}

int state_wait(struct state *state, const char *cluster, uint32_t job, int64_t since_s)
{
    return json_array_append_new(state->waiting,
                                 json_pack("{s:s, s:I, s:I}", "cluster", cluster, "job",
                                           (json_int_t)job, "since", (json_int_t)since_s));
}

int state_save(const struct state *state, const char *dir, const char *name, int64_t now_ns,
               struct apapi_error *err)
{
    json_t *root =
        json_pack("{s:i, s:I, s:I, s:O, s:O}", "apapi_sync", VERSION, "since",
                  (json_int_t)(state->since_ns / NS_PER_S), "read", (json_int_t)(now_ns / NS_PER_S),
                  "files", state->next, "waiting", state->waiting);
    char *text = json_dumps(root, JSON_INDENT(1)), path[PATH_MAX];
    int result = -1;

    json_decref(root);
    if (!text) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path) {
        apapi_fail(err, ENAMETOOLONG, "the path of the state is too long");
    } else {
        result = replace_file(path, 0600, text, strlen(text), err);
    }
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
