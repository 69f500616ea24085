/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions by the names of PAPI's high-level interface and of LIKWID's markers. */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apapi/likwid_compat.h"
#include "apapi/papi_hl_compat.h"
#include "regions/stack.h"

/* @return whether `name` is open, with regions within it that can be begun again. */
static bool overlap_has_inner(const struct region_stack *stack, uint32_t name)
{
    uint32_t depth = stack->depth;

    while (depth > 0 && stack->frames[depth].name != name) {
        if (stack->frames[depth].repeats) {
            return false;
        }
        depth--;
    }
    return depth > 0 && depth < stack->depth && !stack->lost;
}

/*
 * apapi_region_end() for interfaces whose regions may overlap: regions that were begun within this
 * one go on, within the region around it, and are counted once more.
 */
static int overlap_end(const char *name)
{
    struct region_stack *stack = stack_self;
    uint32_t number = stack && name ? intern_name(name) : 0;
    uint32_t inner[APAPI_REGION_DEPTH];
    size_t count = 0;
    int result;

    if (number == 0 || !overlap_has_inner(stack, number)) {
        return apapi_region_end(name);
    }
    while (stack->frames[stack->depth].name != number) {
        inner[count] = stack->frames[stack->depth].name;
        stack_end(stack, inner[count++]);
    }
    result = stack_end(stack, number);
    while (count > 0) {
        stack_begin(stack, inner[--count]);
    }
    return result;
}

/* --- PAPI ----------------------------------------------------------------------------------- */

/* Misuses that PAPI accepts are no errors. */
static int papi_hl_result(int result)
{
    return result == 0 || errno == EALREADY || errno == EBUSY || errno == E2BIG ? PAPI_OK
                                                                                : PAPI_EINVAL;
}

int apapi_hl_init(void)
{
    return PAPI_OK;
}

int apapi_hl_set_events(const char *events)
{
    (void)events;
    return PAPI_OK;
}

int apapi_hl_region_begin(const char *region)
{
    return papi_hl_result(apapi_region_begin(region));
}

int apapi_hl_read(const char *region)
{
    apapi_region name = region ? apapi_region_handle(region) : 0;

    return region && (name == 0 || stack_has(stack_self, name)) ? PAPI_OK : PAPI_EINVAL;
}

int apapi_hl_region_end(const char *region)
{
    return papi_hl_result(overlap_end(region));
}

int apapi_hl_stop(void)
{
    apapi_region_stop();
    return PAPI_OK;
}

int apapi_hl_cleanup_thread(void)
{
    return apapi_hl_stop();
}

void apapi_hl_print_output(void)
{
    apapi_region_stop();
}

int apapi_hl_finalize(void)
{
    return apapi_hl_stop();
}

/* --- LIKWID --------------------------------------------------------------------------------- */

/* A region as LIKWID keeps it: the time of those passes of a thread that have ended. */
struct likwid_region {
    enum { LIKWID_NEW, LIKWID_OPEN, LIKWID_STOPPED } state;
    int passes;
    uint64_t begun[PAGE_NODES]; /* own times when the pass began [ticks]; later nodes: 0 */
    uint64_t spent[PAGE_NODES]; /* time in the nodes of this name [ticks] */
};

struct likwid_thread {
    uint32_t thread; /* id of the thread that has these regions */
    struct likwid_region *regions[INTERN_NAMES];
};

/* By slot. An entry is kept for the next thread of the slot. */
static struct likwid_thread *likwid_slots[PAGE_THREADS];

/* A program with LIKWID's markers may ask for its times even outside of a measured step. */
void apapi_likwid_init(void)
{
    program_want();
}

void apapi_likwid_close(void)
{
    apapi_region_stop();
}

/* @return the calling thread's regions, none at its first call; NULL: no memory. */
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
    const struct region_stack *stack; /* NULL: nothing can be kept of the region */
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

/* A pass that is still open is ended for the step's record; LIKWID's figures leave it out. */
int apapi_likwid_start_region(const char *tag)
{
    struct likwid_call call = likwid_find(tag, true);
    int result;

    if (call.region && call.region->state == LIKWID_OPEN && stack_has(call.stack, call.name)) {
        misuse_report(MISUSE_AGAIN, intern_shown(call.name), NULL);
        overlap_end(tag);
    }
    result = apapi_region_begin(tag) ? -errno : 0;
    if (call.region) {
        memcpy(call.region->begun, call.stack->slot->own,
               page_node_count(program.page) * sizeof *call.region->begun);
        call.region->state = LIKWID_OPEN;
    }
    return result;
}

int apapi_likwid_stop_region(const char *tag)
{
    int result = overlap_end(tag) ? -errno : 0;
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
    for (uint32_t node = 1, nodes = page_node_count(program.page); node < nodes; node++) {
        if (tree_has(node, call.name)) {
            call.region->spent[node] += call.stack->slot->own[node] - call.region->begun[node];
        }
    }
    call.region->passes++;
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

/* Compute the energies of a region, with the powers that the sampler knows so far. */
static void likwid_energies_j(const struct likwid_region *region,
                              double values[APAPI_LIKWID_VALUES])
{
    static const enum apapi_domain domains[APAPI_LIKWID_VALUES] = {
        [APAPI_LIKWID_PACKAGE_J] = APAPI_DOMAIN_PACKAGE,
        [APAPI_LIKWID_DRAM_J] = APAPI_DOMAIN_DRAM,
        [APAPI_LIKWID_GPU_J] = APAPI_DOMAIN_GPU,
    };
    const struct page_results *results = region ? program_results() : NULL;

    for (int i = 0; i < APAPI_LIKWID_VALUES; i++) {
        values[i] = results ? 0 : NAN;
    }
    for (uint32_t node = 1; results && node < PAGE_REST; node++) {
        struct page_result row;
        double total_w = NAN;

        if (region->spent[node] == 0) {
            continue;
        }
        for (int i = APAPI_LIKWID_PACKAGE_J; i < APAPI_LIKWID_VALUES; i++) {
            bool known = page_result_read(&results->nodes[node], &row);
            double power_w = known ? row.power_w[domains[i]] : NAN;

            values[i] += power_w * likwid_seconds(region->spent[node]);
            total_w = isnan(total_w) ? power_w : isnan(power_w) ? total_w : total_w + power_w;
        }
        values[APAPI_LIKWID_TOTAL_J] += total_w * likwid_seconds(region->spent[node]);
    }
}

void apapi_likwid_get_region(const char *tag, int *count, double *values, double *time, int *passes)
{
    const struct likwid_region *region = likwid_find(tag, false).region;

    if (count && values) {
        double all_j[APAPI_LIKWID_VALUES];

        likwid_energies_j(region, all_j);
        *count = *count < 0 ? 0 : *count < APAPI_LIKWID_VALUES ? *count : APAPI_LIKWID_VALUES;
        memcpy(values, all_j, (size_t)*count * sizeof *values);
    }
    if (time) {
        uint64_t ticks = 0;

        for (uint32_t node = 1; region && node < PAGE_REST; node++) {
            ticks += region->spent[node];
        }
        *time = likwid_seconds(ticks);
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
