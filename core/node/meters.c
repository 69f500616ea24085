/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/meters.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/shared_page.h"
#include "base/text.h"
#include "measure/counter.h"
#include "record/record.h"
#include "session/live.h"

#define METER_PATIENCE 5 /* intervals without a reading after which a meter counts as not read */

int node_folder_open(const char *live_dir, const char *node, struct apapi_error *err)
{
    char path[PATH_MAX];
    struct statfs status;
    int top, folder = -1;

    if (folder_check_name(node) ||
        snprintf(path, sizeof path, "%s/%s", live_dir, node) >= (int)sizeof path) {
        return apapi_fail(err, EINVAL, "\"%s\" cannot be the name of a node", node);
    }
    top = folder_open(live_dir, err);
    if (top < 0) {
        return -1;
    }
    if (access_let_in(top, live_dir, 0755, err) == 0) {
        if (fstatfs(top, &status)) {
            file_fail(live_dir, err);
        } else if (status.f_type != TMPFS_MAGIC) {
            /* On a disk, readings would sometimes wait, and totals would outlive the counters. */
            apapi_fail(err, EMEDIUMTYPE, "%s: not on a memory file system (tmpfs)", live_dir);
        } else {
            folder = folder_open_below(top, path, err);
        }
    }
    folder_close(top);
    if (folder >= 0 && access_let_in(folder, path, 0711, err)) {
        folder_close(folder);
        folder = -1;
    }
    return folder;
}

void *node_folder_map(int folder, const char *name, size_t size, int *file, struct apapi_error *err)
{
    struct stat status;
    int opened = folder_open_file(folder, name, O_CREAT | O_RDWR, &status, err);
    void *memory = opened < 0 ? NULL : shared_page_create(opened, size);

    if (opened >= 0 && !memory) {
        file_fail(name, err);
    }
    if (memory && file) {
        *file = opened;
    } else {
        folder_close(opened);
    }
    return memory;
}

/* --- totals that go on over restarts --------------------------------------------------------- */

/*
 * The state from which the next node sampler continues, whenever this one is killed: totals, and
 * the raw values of the counters at that moment. The file is in memory, so it ends with the boot,
 * like the counters. It has two copies; one of them is whole at any moment.
 */

#define NODE_COUNTERS 256                             /* most counters that go on over a restart */
#define NODE_STATE_MAGIC UINT64_C(0x31444e4950415041) /* "APAPIND1" */

struct node_counter {
    uint64_t name;    /* a hash of the event's name; 0: none */
    uint64_t raw;     /* the counter's raw value */
    uint64_t time_ns; /* when it was read, CLOCK_MONOTONIC [ns] */
};

struct node_totals {
    uint64_t sequence;             /* greater in the newer copy; 0: the copy is not whole */
    uint64_t time_ns;              /* of the latest reading, CLOCK_MONOTONIC; 0: none [ns] */
    double total_j[APAPI_DOMAINS]; /* [J]; the first one: as Slurm was told; NaN: not known */
    struct node_counter counters[NODE_COUNTERS];
};

struct node_state {
    struct node_state_file {
        uint64_t magic, size;
        struct node_totals copies[2];
    } * file; /* NULL: none */
    int descriptor;
    struct node_totals now; /* changed here first, then written to a copy */
};

/* Totals are NaN if no sampler ran in this boot. @return 0; -1, EWOULDBLOCK: another one runs */
static int state_open(struct node_state *state, int folder, struct apapi_error *err)
{
    struct node_state_file *file;
    const struct node_totals *newest;

    file = state->file = node_folder_map(folder, NODE_STATE, sizeof *file, &state->descriptor, err);
    if (!file) {
        return -1;
    }
    if (shared_page_lock(state->descriptor)) {
        return apapi_fail(err, errno == EACCES || errno == EAGAIN ? EWOULDBLOCK : errno,
                          "another node sampler runs");
    }
    newest = &file->copies[file->copies[1].sequence > file->copies[0].sequence];
    if (file->magic == NODE_STATE_MAGIC && file->size == sizeof *file && newest->sequence > 0) {
        state->now = *newest;
        return 0;
    }
    *file = (struct node_state_file){.magic = NODE_STATE_MAGIC, .size = sizeof *file};
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        state->now.total_j[d] = NAN;
    }
    return 0;
}

/* Write one copy. A process that is killed in this function leaves the other copy whole. */
static void state_write(struct node_state *state)
{
    struct node_totals *copy = &state->file->copies[state->now.sequence % 2];

    state->now.sequence++;
    __atomic_store_n(&copy->sequence, 0, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_RELEASE); /* no other process reads while this one runs */
    copy->time_ns = state->now.time_ns;
    memcpy(copy->total_j, state->now.total_j, sizeof copy->total_j);
    memcpy(copy->counters, state->now.counters, sizeof copy->counters);
    __atomic_store_n(&copy->sequence, state->now.sequence, __ATOMIC_RELEASE);
}

/* @return the counter of an event; time_ns 0: it is new; NULL: no room */
static struct node_counter *state_counter(struct node_state *state, const char *name)
{
    uint64_t hash = text_hash(name);

    hash = hash ? hash : 1;
    for (size_t i = 0; i < NODE_COUNTERS; i++) {
        struct node_counter *counter = &state->now.counters[i];

        if (counter->name == hash || counter->name == 0) {
            counter->name = hash;
            return counter;
        }
    }
    return NULL;
}

static bool sum_counts(const struct apapi_live_slot *slot, int domain, bool node_meter)
{
    bool wanted =
        node_meter ? domain == APAPI_DOMAIN_NODE : apapi_domain_adds_up((enum apapi_domain)domain);

    return wanted && slot->flags & APAPI_LIVE_MEASURED && isfinite(slot->total);
}

/*
 * Sum package, dram and gpu, or take the node's own meter, at the time of the latest reading. NaN:
 * unknown. A meter that is not read any more adds no power.
 */
static void sum_domains(const struct apapi_live_slot domains[APAPI_LIVE_DOMAINS], bool node_meter,
                        struct apapi_live_slot *sum)
{
    *sum = (struct apapi_live_slot){.total = NAN, .rate = NAN, .uncertainty_j = NAN};
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        sum->time_ns = greater_count(
            sum->time_ns, sum_counts(&domains[d], d, node_meter) ? domains[d].time_ns : 0);
    }
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        struct apapi_live_slot slot = domains[d];

        if (!sum_counts(&slot, d, node_meter)) {
            continue;
        }
        slot.rate = isfinite(slot.rate) ? slot.rate : 0;
        sum->total = known_plus(sum->total, apapi_live_energy_at_j(&slot, sum->time_ns));
        if (sum->time_ns - slot.time_ns <= METER_PATIENCE * slot.interval_ns) {
            sum->rate = known_plus(sum->rate, slot.rate);
            sum->interval_ns = greater_count(sum->interval_ns, slot.interval_ns);
            sum->flags |= slot.flags;
        }
    }
}

/* --- the meters ------------------------------------------------------------------------------ */

/*
 * The page or the state may be new: totals continue from the other one. The energy that Slurm is
 * told grows by what the meters that count now count from here on, whichever meters counted before.
 */
static void meters_go_on(struct node_meters *meters)
{
    struct apapi_live_slot *shown = meters->shown->domains, sum;
    struct node_totals *now = &meters->state->now;

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        shown[d].sequence += shown[d].sequence % 2; /* odd: its writer was killed while writing */
        if (isnan(now->total_j[d]) || (d == APAPI_DOMAIN_NONE && !isnan(shown[d].total))) {
            now->total_j[d] = shown[d].total;
        } else if (d != APAPI_DOMAIN_NONE) {
            shown[d].total = now->total_j[d];
            shown[d].flags |= APAPI_LIVE_MEASURED;
        }
    }
    sum_domains(shown, meters->node_meter, &sum);
    meters->sum_j = known_plus(sum.total, 0);
    meters->before_ns = meters->last_ns = now->time_ns;
    memcpy(meters->last_j, now->total_j, sizeof meters->last_j);
    meters->unseen = meters->before_ns > 0;
}

int node_meters_open(struct node_meters *meters, int folder, const char *node, bool node_meter,
                     struct apapi_error *err)
{
    struct apapi_live_page *page;

    *meters = (struct node_meters){.file = -1, .node_meter = node_meter};
    pthread_mutex_init(&meters->mutex, NULL);
    meters->news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    meters->live = calloc(1, sizeof *meters->live);
    meters->state = calloc(1, sizeof *meters->state);
    if (meters->news < 0 || !meters->live || !meters->state) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    if (state_open(meters->state, folder, err)) {
        return -1;
    }
    /* The page stays the same file until the next boot: who has mapped it sees all samplers. */
    page = meters->shown = node_folder_map(folder, NODE_PAGE, sizeof *page, &meters->file, err);
    if (!page) {
        return -1;
    }
    shared_page_lock(meters->file);
    if (memcmp(page->head.magic, APAPI_LIVE_MAGIC, sizeof page->head.magic) != 0 ||
        page->head.version != APAPI_LIVE_VERSION || page->head.size != sizeof *page) {
        memset(page, 0, sizeof *page);
        live_page_init(page);
        meters->state->now.total_j[APAPI_DOMAIN_NONE] = NAN; /* begins with the page */
    }
    page->head.writer = (uint32_t)getpid();
    page->head.event_count = 0;
    snprintf(page->head.step, sizeof page->head.step, "node");
    snprintf(page->head.node, sizeof page->head.node, "%.255s", node);
    if (page->head.start_ns == 0) {
        clock_pair(&page->head.start_unix_ns, &page->head.start_ns);
    }
    meters_go_on(meters);
    __atomic_store_n(&page->head.state, APAPI_LIVE_RUNNING, __ATOMIC_RELEASE);
    return 0;
}

int node_meters_copy(struct node_meters *meters, int folder, struct apapi_error *err)
{
    const size_t state_size = sizeof *meters->state->file, page_size = sizeof *meters->shown;
    void *state = node_folder_map(folder, NODE_STATE, state_size, NULL, err);
    struct apapi_live_page *page =
        state ? node_folder_map(folder, NODE_PAGE, page_size, NULL, err) : NULL;

    if (page) {
        pthread_mutex_lock(&meters->mutex);
        memcpy(state, meters->state->file, state_size);
        for (int d = 0; d < APAPI_LIVE_DOMAINS; d++) {
            live_slot_write(&page->domains[d], &meters->shown->domains[d]);
        }
        /* the first word last: a reader knows by it that the page is whole */
        shared_words_store((shared_word *)page + 1, (const shared_word *)meters->shown + 1,
                           sizeof page->head / sizeof(shared_word) - 1);
        shared_words_store(page, meters->shown, 1);
        pthread_mutex_unlock(&meters->mutex);
    }
    shared_page_unmap(state, state_size);
    shared_page_unmap(page, page_size);
    return page ? 0 : -1;
}

/*
 * @return energy that a counter has counted while no sampler ran [J]. 0: this sampler has read the
 * counter before; or the counter began again, may have wrapped, or the last sampler did not read it
 */
static double meters_count_unseen(struct node_meters *meters, const struct apapi_event *event,
                                  const struct apapi_reading *reading,
                                  const struct apapi_live_slot *slot)
{
    struct node_counter *counter = state_counter(meters->state, event->name), before;
    uint64_t guard_ns = apapi_event_guard_ns(event); /* a quarter of the time to a wrap */
    uint64_t since_ns, now_ns = slot->time_ns;
    double unseen_j;

    if (!counter || reading->error) {
        return 0;
    }
    before = *counter;
    counter->raw = reading->raw;
    counter->time_ns = now_ns;
    if (before.time_ns == 0 || before.time_ns > meters->before_ns) {
        meters->resets += before.time_ns > 0 && reading->raw < before.raw && event->range_max == 0;
        return 0;
    }
    since_ns = now_ns - before.time_ns;
    unseen_j = apapi_event_value(event, reading->raw) - apapi_event_value(event, before.raw);
    if (unseen_j < 0 && event->range_max > 0) {
        unseen_j = (double)(reading->raw + (event->range_max - before.raw) + 1) * event->scale;
    }
    if (now_ns >= before.time_ns &&
        meters->before_ns - before.time_ns <= METER_PATIENCE * slot->interval_ns &&
        (guard_ns >= UINT64_MAX / 4 || since_ns < guard_ns * 4) && unseen_j >= 0 &&
        unseen_j <= apapi_domain_max_w(event->domain) * (double)since_ns / 1e9) {
        return unseen_j;
    }
    meters->resets++;
    return 0;
}

/* Count each joule of a domain that the sample feeds once, and never take it back. */
static void meters_count(struct node_meters *meters, const struct apapi_sample *sample, int domain)
{
    struct apapi_live_slot *shown = &meters->shown->domains[domain], slot;
    double *total_j = &meters->state->now.total_j[domain], now_j, new_j;

    if (!apapi_live_read(&meters->live->domains[domain], &slot) ||
        !(slot.flags & APAPI_LIVE_MEASURED) || slot.time_ns == meters->seen_ns[domain]) {
        return;
    }
    meters->seen_ns[domain] = slot.time_ns;
    now_j = isnan(slot.total) ? 0 : slot.total;
    new_j = now_j - meters->seen_j[domain];
    new_j = new_j < 0 ? now_j : new_j; /* other meters feed the domain now, and begin at 0 */
    meters->seen_j[domain] = now_j;
    for (size_t i = 0; i < sample->event_count; i++) {
        const struct apapi_event *event = &sample->events[i];

        if ((int)event->domain == domain && event->kind == APAPI_KIND_ENERGY &&
            event->accumulates && !event->estimated) {
            new_j += meters_count_unseen(meters, event, &sample->readings[i], &slot);
        }
    }
    if (!isnan(slot.total) || !isnan(*total_j)) {
        *total_j = (isnan(*total_j) ? 0 : *total_j) + new_j;
    }
    slot.total = *total_j;
    slot.uncertainty_j = NAN;                               /* the total spans restarts */
    slot.rate = isnan(slot.rate) ? shown->rate : slot.rate; /* of the last sampler */
    slot.readings = shown->readings + 1;
    live_slot_write(shown, &slot);
    meters->state->now.time_ns = greater_count(meters->state->now.time_ns, slot.time_ns);
}

/* Write the total for Slurm, which never falls. NaN: the meters that count are not read yet. */
static void meters_tell(struct node_meters *meters)
{
    struct apapi_live_slot *shown = &meters->shown->domains[APAPI_DOMAIN_NONE], sum;
    double *told_j = &meters->state->now.total_j[APAPI_DOMAIN_NONE];

    sum_domains(meters->shown->domains, meters->node_meter, &sum);
    sum.readings = shown->readings + (sum.time_ns != shown->time_ns);
    if (!isnan(sum.total)) {
        *told_j = known_plus(*told_j, fmax(sum.total - meters->sum_j, 0));
        meters->sum_j = fmax(sum.total, meters->sum_j);
        sum.total = *told_j;
    }
    live_slot_write(shown, &sum);
}

void node_meters_sample(const struct apapi_sample *sample, void *context)
{
    struct node_meters *meters = context;
    const uint64_t one = 1;

    pthread_mutex_lock(&meters->mutex);
    for (size_t i = 0; i < sample->event_count; i++) {
        const struct apapi_event *event = &sample->events[i];

        if (event->domain != APAPI_DOMAIN_NONE &&
            (event->kind == APAPI_KIND_ENERGY || event->kind == APAPI_KIND_POWER)) {
            meters_count(meters, sample, (int)event->domain);
        }
    }
    meters_tell(meters);
    state_write(meters->state);
    pthread_mutex_unlock(&meters->mutex);
    if (write(meters->news, &one, sizeof one) < 0) {
        return; /* the eventfd has not been read for 2^64 readings */
    }
}

bool node_meters_are_newer(struct node_meters *meters, uint64_t since_ns)
{
    bool newer = true;

    pthread_mutex_lock(&meters->mutex);
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        newer &= meters->seen_ns[d] == 0 || meters->seen_ns[d] >= since_ns;
    }
    pthread_mutex_unlock(&meters->mutex);
    return newer;
}

static bool meters_is_gpu(const struct apapi_live_event *event, enum apapi_kind kind)
{
    return event->domain == APAPI_DOMAIN_GPU && event->kind == (uint32_t)kind &&
           event->accumulates == (kind == APAPI_KIND_ENERGY);
}

static void meters_next_gpus(struct node_meters *meters, struct node_reading *reading)
{
    const struct apapi_live_page *live = meters->live;
    enum apapi_kind kind = APAPI_KIND_POWER; /* counts only if no GPU has a counter of energy */
    struct apapi_live_slot slot;

    for (int i = 0; i < NODE_GPUS; i++) {
        reading->gpu_energy_j[i] = NAN;
    }
    for (uint32_t i = 0; i < apapi_live_event_count(live); i++) {
        kind = meters_is_gpu(&live->names[i], APAPI_KIND_ENERGY) ? APAPI_KIND_ENERGY : kind;
    }
    for (uint32_t i = 0; i < apapi_live_event_count(live); i++) {
        int index = meters_is_gpu(&live->names[i], kind) ? node_gpu_index(live->names[i].name) : -1;

        if (index >= 0 && apapi_live_read(&live->events[i], &slot) && !isnan(slot.total)) {
            double last_j = meters->last_gpu_j[index];

            reading->gpu_energy_j[index] = slot.total - (slot.total < last_j ? 0 : last_j);
            meters->last_gpu_j[index] = slot.total;
            reading->gpus = (unsigned)index >= reading->gpus ? (unsigned)index + 1 : reading->gpus;
        }
    }
}

bool node_meters_next(struct node_meters *meters, struct node_reading *reading)
{
    const double *total_j = meters->state->now.total_j;
    uint64_t now_ns = 0;

    memset(reading, 0, sizeof *reading);
    pthread_mutex_lock(&meters->mutex);
    reading->begin_ns = meters->last_ns;
    reading->end_ns = meters->last_ns = meters->state->now.time_ns;
    reading->resets = meters->resets;
    reading->unseen = meters->unseen;
    if (reading->end_ns > reading->begin_ns) {
        reading->energy_j[APAPI_DOMAIN_NONE] = NAN;
        for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
            reading->energy_j[d] = total_j[d] - (isnan(meters->last_j[d]) ? 0 : meters->last_j[d]);
            meters->last_j[d] = total_j[d];
        }
        meters_next_gpus(meters, reading);
        meters->resets = 0;
        meters->unseen = false;
    }
    pthread_mutex_unlock(&meters->mutex);
    clock_pair(&reading->end_unix_ns, &now_ns);
    reading->end_unix_ns -= (int64_t)(now_ns - reading->end_ns);
    return reading->begin_ns > 0 && reading->end_ns > reading->begin_ns;
}

void node_meters_close(struct node_meters *meters)
{
    if (!meters->state) {
        return;
    }
    if (meters->state->file) {
        shared_page_unmap(meters->state->file, sizeof *meters->state->file);
        folder_close(meters->state->descriptor);
    }
    shared_page_unmap(meters->shown, sizeof *meters->shown);
    free(meters->state);
    free(meters->live);
    folder_close(meters->file);
    folder_close(meters->news);
    pthread_mutex_destroy(&meters->mutex);
    memset(meters, 0, sizeof *meters);
}
