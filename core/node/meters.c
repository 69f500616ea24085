/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/meters.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/folder.h"
#include "node/folder.h"
#include "node/gap.h"
#include "node/sum.h"
#include "session/live.h"

static bool node_meters_is_counter(const struct apapi_event *event)
{
    return event->kind == APAPI_KIND_ENERGY && event->accumulates && !event->estimated &&
           event->domain != APAPI_DOMAIN_NONE;
}

/* A slot that its writer was killed in has an odd sequence: readers would give up. */
static void node_meters_describe(struct apapi_live_page *page, const char *node)
{
    struct apapi_live_head *head = &page->head;

    if (memcmp(head->magic, APAPI_LIVE_MAGIC, sizeof head->magic) != 0) {
        live_page_init(page);
    }
    for (int d = 0; d < APAPI_LIVE_DOMAINS; d++) {
        page->domains[d].sequence += page->domains[d].sequence % 2;
    }
    head->writer = (uint32_t)getpid();
    head->event_count = 0;
    snprintf(head->step, sizeof head->step, "node");
    snprintf(head->node, sizeof head->node, "%.255s", node);
    if (head->start_ns == 0) {
        clock_pair(&head->start_unix_ns, &head->start_ns);
    }
    __atomic_store_n(&head->state, APAPI_LIVE_RUNNING, __ATOMIC_RELEASE);
}

/* Its mapping stays the same file for as long as the boot: who has mapped it sees all samplers. */
static int node_meters_map(struct node_meters *meters, int folder, const char *node,
                           struct apapi_error *err)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    meters->shown = node_folder_map(folder, NODE_PAGE, sizeof *meters->shown, &meters->file, err);
    if (!meters->shown) {
        return -1;
    }
    fcntl(meters->file, F_OFD_SETLK, &whole);
    node_meters_describe(meters->shown, node);
    return 0;
}

int node_meters_open(struct node_meters *meters, int folder, const char *node,
                     struct apapi_error *err)
{
    memset(meters, 0, sizeof *meters);
    pthread_mutex_init(&meters->mutex, NULL);
    meters->state = NODE_STATE_NONE;
    meters->file = -1;
    meters->news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    meters->live = calloc(1, sizeof *meters->live);
    if (meters->news < 0 || !meters->live) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    if (node_state_open(&meters->state, folder, err) ||
        node_meters_map(meters, folder, node, err)) {
        return -1;
    }
    meters->before_ns = meters->taken_ns = meters->state.now.time_ns;
    memcpy(meters->taken_j, meters->state.now.total_j, sizeof meters->taken_j);
    meters->gap = meters->before_ns > 0;
    return 0;
}

/* What a counter shows that went on while no sampler ran. @return [J] */
static double node_meters_go_on(struct node_meters *meters, const struct apapi_event *event,
                                const struct apapi_reading *reading, uint64_t now_ns)
{
    struct node_counter *counter = node_state_counter(&meters->state, event->name);
    double gap_j = 0;

    if (!counter || reading->error) {
        return 0;
    }
    if (counter->time_ns > 0 && counter->time_ns <= meters->before_ns) {
        gap_j = node_gap_j(event, counter, reading->raw, now_ns);
        meters->resets += isnan(gap_j);
    } else if (counter->time_ns > 0 && reading->raw < counter->raw && event->range_max == 0) {
        meters->resets++;
    }
    counter->raw = reading->raw;
    counter->time_ns = now_ns;
    return isnan(gap_j) ? 0 : gap_j;
}

/* @return what is new in a domain: all of it is counted once, and never taken back [J] */
static double node_meters_count(struct node_meters *meters, int domain,
                                const struct apapi_live_slot *slot)
{
    double total_j = isnan(slot->total) ? 0 : slot->total;
    double new_j = total_j - meters->seen_j[domain];

    if (new_j < 0) { /* other meters feed the domain now: its totals began again */
        new_j = total_j;
    }
    meters->seen_j[domain] = total_j;
    return new_j;
}

static void node_meters_add(struct node_meters *meters, int domain, double energy_j, bool known)
{
    double *total_j = &meters->state.now.total_j[domain];

    if (known || !isnan(*total_j)) {
        *total_j = (isnan(*total_j) ? 0 : *total_j) + energy_j;
    }
}

static void node_meters_show(struct node_meters *meters, int domain,
                             const struct apapi_live_slot *slot)
{
    const struct apapi_live_slot *before = &meters->shown->domains[domain];
    struct apapi_live_slot figures = *slot;

    figures.total = meters->state.now.total_j[domain];
    figures.rate = isnan(slot->rate) ? before->rate : slot->rate; /* of the sampler before */
    figures.readings = before->readings + 1;
    live_slot_write(&meters->shown->domains[domain], &figures);
}

static void node_meters_show_sum(struct node_meters *meters)
{
    struct apapi_live_slot *shown = &meters->shown->domains[APAPI_DOMAIN_NONE], sum;

    node_sum(meters->shown->domains, meters->node_meter, &sum);
    sum.readings = shown->readings + (sum.time_ns != shown->time_ns);
    if (!(sum.total < shown->total)) { /* what Slurm was told is never taken back */
        live_slot_write(shown, &sum);
    }
}

static bool node_meters_feed(const struct apapi_sample *sample, int domain)
{
    for (size_t i = 0; i < sample->event_count; i++) {
        if ((int)sample->events[i].domain == domain &&
            (sample->events[i].kind == APAPI_KIND_ENERGY ||
             sample->events[i].kind == APAPI_KIND_POWER)) {
            return true;
        }
    }
    return false;
}

static void node_meters_read_domain(struct node_meters *meters, const struct apapi_sample *sample,
                                    int domain)
{
    struct apapi_live_slot slot;
    double energy_j;

    if (!node_meters_feed(sample, domain) ||
        !apapi_live_read(&meters->live->domains[domain], &slot) ||
        !(slot.flags & APAPI_LIVE_MEASURED) || slot.time_ns == meters->seen_ns[domain]) {
        return;
    }
    meters->seen_ns[domain] = slot.time_ns;
    energy_j = node_meters_count(meters, domain, &slot);
    for (size_t i = 0; i < sample->event_count; i++) {
        if ((int)sample->events[i].domain == domain && node_meters_is_counter(&sample->events[i])) {
            energy_j +=
                node_meters_go_on(meters, &sample->events[i], &sample->readings[i], slot.time_ns);
        }
    }
    node_meters_add(meters, domain, energy_j, !isnan(slot.total));
    node_meters_show(meters, domain, &slot);
    if (slot.time_ns > meters->state.now.time_ns) {
        meters->state.now.time_ns = slot.time_ns;
    }
}

void node_meters_sample(const struct apapi_sample *sample, void *context)
{
    struct node_meters *meters = context;
    const uint64_t one = 1;

    pthread_mutex_lock(&meters->mutex);
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        node_meters_read_domain(meters, sample, d);
    }
    node_state_write(&meters->state);
    node_meters_show_sum(meters);
    pthread_mutex_unlock(&meters->mutex);
    if (write(meters->news, &one, sizeof one) < 0) {
        return; /* it has not been read for 2^64 readings */
    }
}

void node_meters_close(struct node_meters *meters)
{
    node_state_close(&meters->state);
    if (meters->shown) {
        munmap(meters->shown, sizeof *meters->shown);
    }
    free(meters->live);
    folder_close(meters->file);
    folder_close(meters->news);
    pthread_mutex_destroy(&meters->mutex);
}
