/* SPDX-License-Identifier: BSD-3-Clause */
/* Energy of other jobs with the same program. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/names.h"
#include "cli/records/input.h"
#include "cli/show/forms.h"

/* A job that has run the program. */
struct peer {
    uint32_t job, uid;
    char cluster[64], user[64];
    struct apapi_job *records;
    double energy_j, node_w;
};

struct peers {
    const struct brief *brief;
    uint64_t deadline_ns;
    struct peer *list;
    size_t count, room;
    size_t *slots; /* a hash table of indices + 1; 0: free */
    size_t slot_count;
};

static bool has_program(const struct brief_program *program, const struct apapi_identity *id)
{
    return strcmp(program->of_job ? id->job_name : id->name, program->name) == 0;
}

static bool is_job(const struct peer *peer, uint32_t job, const char *cluster)
{
    return peer->job == job && strcmp(peer->cluster, cluster) == 0;
}

static size_t slot_of(const struct peers *peers, uint32_t job, const char *cluster)
{
    size_t slot = (job * (size_t)2654435761U) & (peers->slot_count - 1);

    while (peers->slots[slot] && !is_job(&peers->list[peers->slots[slot] - 1], job, cluster)) {
        slot = (slot + 1) & (peers->slot_count - 1);
    }
    return slot;
}

static int grow_slots(struct peers *peers)
{
    size_t count = peers->slot_count ? 2 * peers->slot_count : 1024;
    size_t *slots = calloc(count, sizeof *slots);

    if (!slots) {
        return -1;
    }
    free(peers->slots);
    peers->slots = slots;
    peers->slot_count = count;
    for (size_t i = 0; i < peers->count; i++) {
        peers->slots[slot_of(peers, peers->list[i].job, peers->list[i].cluster)] = i + 1;
    }
    return 0;
}

/* @return the job of a record; NULL: no memory. */
static struct peer *peer_of(struct peers *peers, const struct apapi_identity *id)
{
    size_t slot;

    if (2 * peers->count >= peers->slot_count && grow_slots(peers)) {
        return NULL;
    }
    slot = slot_of(peers, id->job, id->cluster);
    if (!peers->slots[slot]) {
        struct apapi_job *records = NULL;

        if (array_add(&peers->list, peers->count, &peers->room, sizeof *peers->list) ||
            !(records = apapi_job_create())) {
            return NULL;
        }
        peers->list[peers->count] =
            (struct peer){.job = id->job, .uid = id->uid, .records = records};
        strcpy(peers->list[peers->count].cluster, id->cluster);
        strcpy(peers->list[peers->count].user, id->user);
        peers->slots[slot] = ++peers->count;
    }
    return &peers->list[peers->slots[slot] - 1];
}

static int take(const struct apapi_record *record, const char *line, size_t size, void *context)
{
    struct peers *peers = context;
    struct peer *peer;

    (void)line;
    (void)size;
    if (clock_monotonic_ns() > peers->deadline_ns) {
        errno = ETIMEDOUT;
        return -1;
    }
    if (!has_program(&peers->brief->program, &record->id) || record->id.job == APAPI_UNKNOWN) {
        return 0;
    }
    peer = peer_of(peers, &record->id);
    return peer ? apapi_job_add(peer->records, record) : -1;
}

static void work_out(struct peer *peer)
{
    struct apapi_job_total total;

    peer->energy_j = peer->node_w = NAN;
    if (apapi_job_total(peer->records, &total) == 0 && total.covered_ns > 0) {
        peer->energy_j = total.energy_j;
        peer->node_w = total.energy_j / (duration(total.covered_ns) / (double)NS_PER_S);
    }
}

static double median(double *numbers, size_t count)
{
    qsort(numbers, count, sizeof *numbers, compare_double);
    return (numbers[(count - 1) / 2] + numbers[count / 2]) / 2;
}

static bool is_same_user(const struct peer *a, const struct apapi_identity *b)
{
    return a->uid != APAPI_UNKNOWN && b->uid != APAPI_UNKNOWN
               ? a->uid == b->uid
               : *a->user && strcmp(a->user, b->user) == 0;
}

/* @param numbers  room for two of each job */
static struct brief_median median_of(const struct peers *peers, const struct apapi_identity *id,
                                     bool of_user, double *numbers)
{
    struct brief_median result = {0, NAN, NAN};
    double *powers = numbers + peers->count;

    for (size_t i = 0; i < peers->count; i++) {
        const struct peer *peer = &peers->list[i];

        if (isfinite(peer->energy_j) && !is_job(peer, id->job, id->cluster) &&
            (!of_user || is_same_user(peer, id))) {
            numbers[result.jobs] = peer->energy_j;
            powers[result.jobs++] = peer->node_w;
        }
    }
    if (result.jobs > 0) {
        result.energy_j = median(numbers, result.jobs);
        result.node_w = median(powers, result.jobs);
    }
    return result;
}

static void evaluate(struct peers *peers, struct brief *brief, bool site)
{
    double *numbers = calloc(2 * peers->count + 1, sizeof *numbers);

    for (size_t i = 0; i < peers->count; i++) {
        work_out(&peers->list[i]);
    }
    if (numbers) {
        brief->program.user = median_of(peers, brief->id, true, numbers);
        brief->program.site =
            site ? median_of(peers, brief->id, false, numbers) : (struct brief_median){0};
    }
    free(numbers);
}

/* The job's own part is known from its own records, whenever it ran. */
static void work_out_own(struct brief *brief)
{
    struct peer own = {.records = apapi_job_create()};
    int failed = own.records ? 0 : -1;

    for (size_t i = 0; i < brief->show.count && !failed; i++) {
        if (has_program(&brief->program, &brief->show.records[i].id)) {
            failed = apapi_job_add(own.records, &brief->show.records[i]);
        }
    }
    brief->program.energy_j = brief->program.node_w = NAN;
    if (!failed) {
        work_out(&own);
        brief->program.energy_j = own.energy_j;
        brief->program.node_w = own.node_w;
    }
    apapi_job_destroy(own.records);
}

void brief_compare(struct brief *brief, const struct report_input *input, uint64_t deadline_ns)
{
    struct peers peers = {.brief = brief, .deadline_ns = deadline_ns};
    size_t left_out;

    if (!*brief->program.name) {
        return;
    }
    work_out_own(brief);
    if (report_input_read(input, take, &peers, &left_out) == EXIT_SUCCESS) {
        evaluate(&peers, brief, !input->own);
    }
    for (size_t i = 0; i < peers.count; i++) {
        apapi_job_destroy(peers.list[i].records);
    }
    free(peers.list);
    free(peers.slots);
}
