/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/state.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>

#include "base/folder.h"
#include "node/folder.h"

#define NODE_STATE_MAGIC UINT64_C(0x31444e4950415041) /* "APAPIND1" */

struct node_state_file {
    uint64_t magic, size;
    struct node_totals copies[2];
};

static int node_state_lock(int file)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    return fcntl(file, F_OFD_SETLK, &whole);
}

static void node_state_read(struct node_state *state)
{
    const struct node_totals *copies = state->file->copies;
    const struct node_totals *newest = &copies[copies[1].sequence > copies[0].sequence];

    if (state->file->magic == NODE_STATE_MAGIC && state->file->size == sizeof *state->file &&
        newest->sequence > 0) {
        state->now = *newest;
        return;
    }
    memset(state->file, 0, sizeof *state->file);
    state->file->magic = NODE_STATE_MAGIC;
    state->file->size = sizeof *state->file;
    memset(&state->now, 0, sizeof state->now);
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        state->now.total_j[d] = NAN;
    }
}

int node_state_open(struct node_state *state, int folder, struct apapi_error *err)
{
    state->file = node_folder_map(folder, NODE_STATE, sizeof *state->file, &state->descriptor, err);
    if (!state->file) {
        return -1;
    }
    if (node_state_lock(state->descriptor)) {
        int error = errno == EACCES || errno == EAGAIN ? EWOULDBLOCK : errno;

        node_state_close(state);
        return apapi_fail(err, error, "another node sampler runs");
    }
    node_state_read(state);
    return 0;
}

/* A process that is killed in here leaves the other copy. */
void node_state_write(struct node_state *state)
{
    struct node_totals *copy = &state->file->copies[state->now.sequence % 2];

    state->now.sequence++;
    __atomic_store_n(&copy->sequence, 0, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_RELEASE); /* of this process: nobody else reads while it runs */
    copy->time_ns = state->now.time_ns;
    memcpy(copy->total_j, state->now.total_j, sizeof copy->total_j);
    memcpy(copy->counters, state->now.counters, sizeof copy->counters);
    __atomic_store_n(&copy->sequence, state->now.sequence, __ATOMIC_RELEASE);
}

/* FNV-1a */
static uint64_t node_state_hash(const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; *name; name++) {
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    }
    return hash ? hash : 1;
}

struct node_counter *node_state_counter(struct node_state *state, const char *name)
{
    uint64_t hash = node_state_hash(name);

    for (size_t i = 0; i < NODE_COUNTERS; i++) {
        struct node_counter *counter = &state->now.counters[i];

        if (counter->name == hash) {
            return counter;
        }
        if (counter->name == 0) {
            counter->name = hash;
            return counter;
        }
    }
    return NULL;
}

void node_state_close(struct node_state *state)
{
    if (state->file) {
        munmap(state->file, sizeof *state->file);
    }
    folder_close(state->descriptor);
    *state = NODE_STATE_NONE;
}
