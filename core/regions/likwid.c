/* SPDX-License-Identifier: BSD-3-Clause */
#include "apapi/likwid_compat.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apapi/event.h"
#include "apapi/region.h"
#include "regions/link.h"
#include "regions/misuse.h"
#include "regions/overlap.h"
#include "regions/stack.h"

/* As LIKWID keeps it: what a thread's passes through a name have spent that have ended. */
struct likwid_region {
    enum { LIKWID_NEW, LIKWID_OPEN, LIKWID_STOPPED } state;
    int passes;
    uint64_t begun[PAGE_NODES]; /* own times when it was begun; of later nodes 0 [ticks] */
    uint64_t spent[PAGE_NODES]; /* of the name's nodes [ticks] */
};

struct likwid_thread {
    uint32_t thread; /* whose regions these are */
    struct likwid_region *regions[INTERN_NAMES];
};

/* Kept for the next thread of the slot. */
static struct likwid_thread *likwid_slots[PAGE_THREADS];

/* Such a program may ask for its times, in a measured step or not. */
void apapi_likwid_init(void)
{
    program_want();
}

void apapi_likwid_close(void)
{
    apapi_region_stop();
}

static int likwid_result(int result)
{
    return result ? -errno : 0;
}

/* @return the calling thread's, from its first call on; NULL: no memory. */
static struct likwid_thread *likwid_thread_of(const struct region_stack *stack)
{
    struct likwid_thread *thread = likwid_slots[stack->number];

    if (!thread) {
        thread = likwid_slots[stack->number] = calloc(1, sizeof *thread);
    }
    if (thread && thread->thread != stack->slot->thread) {
        for (uint32_t name = 0; name < INTERN_NAMES; name++) {
            free(thread->regions[name]);
            thread->regions[name] = NULL;
        }
        thread->thread = stack->slot->thread;
    }
    return thread;
}

/* A region of the calling thread. */
struct likwid_call {
    const struct region_stack *stack; /* NULL: nothing can be kept of it */
    uint32_t name;
    struct likwid_region *region; /* NULL: not known to this thread */
};

/* @param add  make the region known */
static struct likwid_call likwid_find(const char *tag, bool add)
{
    struct likwid_call call = {.name = tag ? apapi_region_handle(tag) : 0};
    struct likwid_thread *thread =
        call.name > 0 && call.name < INTERN_OTHER && stack_self && stack_self->number < PAGE_THREADS
            ? likwid_thread_of(stack_self)
            : NULL;

    if (!thread) {
        return call;
    }
    call.stack = stack_self;
    if (!thread->regions[call.name] && add) {
        thread->regions[call.name] = calloc(1, sizeof(struct likwid_region));
    }
    call.region = thread->regions[call.name];
    return call;
}

int apapi_likwid_register_region(const char *tag)
{
    likwid_find(tag, true);
    return 0;
}

/* A pass that is open is ended for the step's record, and forgotten here. */
int apapi_likwid_start_region(const char *tag)
{
    struct likwid_call call = likwid_find(tag, true);
    int result;

    if (call.region && call.region->state == LIKWID_OPEN && stack_has(call.stack, call.name)) {
        misuse_report(MISUSE_AGAIN, intern_shown(call.name), NULL);
        overlap_end(tag);
    }
    result = likwid_result(apapi_region_begin(tag));
    if (call.region) {
        memcpy(call.region->begun, call.stack->slot->own,
               page_node_count(program.page) * sizeof *call.region->begun);
        call.region->state = LIKWID_OPEN;
    }
    return result;
}

static void likwid_count(const struct likwid_call *call)
{
    uint32_t nodes = page_node_count(program.page);

    for (uint32_t node = 1; node < nodes; node++) {
        if (tree_has(program.page, node, call->name)) {
            call->region->spent[node] += call->stack->slot->own[node] - call->region->begun[node];
        }
    }
    call->region->passes++;
}

int apapi_likwid_stop_region(const char *tag)
{
    int result = likwid_result(overlap_end(tag));
    struct likwid_call call = likwid_find(tag, false);
    bool open = call.region && call.region->state == LIKWID_OPEN;

    if (!call.stack) {
        return result;
    }
    if (open) {
        call.region->state = LIKWID_STOPPED;
    }
    if (!open || result) {
        return call.region ? -EFAULT : -EEXIST;
    }
    likwid_count(&call);
    return 0;
}

int apapi_likwid_reset_region(const char *tag)
{
    struct likwid_call call = likwid_find(tag, false);

    if (!call.region) {
        return call.stack ? -EEXIST : 0;
    }
    if (call.region->state != LIKWID_STOPPED) {
        return -EFAULT;
    }
    memset(call.region->spent, 0, sizeof call.region->spent);
    call.region->passes = 0;
    return 0;
}

static double likwid_seconds(uint64_t ticks)
{
    struct ticks_moment now = ticks_moment_now(program.clock);

    return (double)ticks * ticks_length_ns(program.clock, program.start, now) * 1e-9;
}

/* The power of a node's row, as the sampler knows it so far. */
static double likwid_power_w(const struct page_result *row, enum apapi_likwid_value value)
{
    static const enum apapi_domain domains[APAPI_LIKWID_VALUES] = {
        [APAPI_LIKWID_PACKAGE_J] = APAPI_DOMAIN_PACKAGE,
        [APAPI_LIKWID_DRAM_J] = APAPI_DOMAIN_DRAM,
        [APAPI_LIKWID_GPU_J] = APAPI_DOMAIN_GPU,
    };
    double total_w = NAN;

    if (value != APAPI_LIKWID_TOTAL_J) {
        return row->power_w[domains[value]];
    }
    for (int i = APAPI_LIKWID_PACKAGE_J; i < APAPI_LIKWID_VALUES; i++) {
        double power_w = row->power_w[domains[i]];

        if (!isnan(power_w)) {
            total_w = isnan(total_w) ? power_w : total_w + power_w;
        }
    }
    return total_w;
}

static double likwid_energy_j(const struct likwid_region *region, enum apapi_likwid_value value)
{
    const struct page_results *results = link_results();
    double energy_j = results ? 0 : NAN;
    struct page_result row;

    for (uint32_t node = 1; results && node < PAGE_REST; node++) {
        if (region->spent[node] > 0) {
            energy_j += page_result_read(&results->nodes[node], &row)
                            ? likwid_power_w(&row, value) * likwid_seconds(region->spent[node])
                            : NAN;
        }
    }
    return energy_j;
}

static double likwid_time_s(const struct likwid_region *region)
{
    uint64_t ticks = 0;

    for (uint32_t node = 1; node < PAGE_REST; node++) {
        ticks += region->spent[node];
    }
    return likwid_seconds(ticks);
}

void apapi_likwid_get_region(const char *tag, int *count, double *values, double *time, int *passes)
{
    const struct likwid_region *region = likwid_find(tag, false).region;

    if (count && values) {
        int room = *count < 0 ? 0 : *count;

        *count = room < APAPI_LIKWID_VALUES ? room : APAPI_LIKWID_VALUES;
        for (int i = 0; i < *count; i++) {
            values[i] = region ? likwid_energy_j(region, (enum apapi_likwid_value)i) : NAN;
        }
    }
    if (time) {
        *time = region ? likwid_time_s(region) : 0;
    }
    if (passes) {
        *passes = region ? region->passes : 0;
    }
}

int apapi_likwid_get_groups(void)
{
    return 1;
}

int apapi_likwid_write_file(const char *path)
{
    (void)path;
    return 0;
}

static int likwid_pin(pid_t thread, int processor)
{
    cpu_set_t set;

    if (processor < 0 || processor >= CPU_SETSIZE) {
        return 0;
    }
    CPU_ZERO(&set);
    CPU_SET((unsigned)processor, &set);
    return sched_setaffinity(thread, sizeof set, &set) == 0;
}

int apapi_likwid_pin_process(int processor)
{
    return likwid_pin(getpid(), processor);
}

int apapi_likwid_pin_thread(int processor)
{
    return likwid_pin(0, processor);
}

int apapi_likwid_get_processor(void)
{
    return sched_getcpu();
}
