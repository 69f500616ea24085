/* SPDX-License-Identifier: BSD-3-Clause */
#include "apapi/likwid_compat.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "apapi/event.h"
#include "apapi/region.h"
#include "regions/link.h"
#include "regions/overlap.h"
#include "regions/stack.h"

/* What a thread has spent in a name, by whichever path. */
struct likwid_sums {
    uint64_t ticks;
    uint64_t passes;
};

/*
 * What does not count for a thread, by name: what threads before it have left in its slot, and what
 * was before a reset. Kept for the next thread of the slot.
 */
struct likwid_bases {
    uint32_t thread; /* whose these are */
    struct likwid_sums names[INTERN_NAMES];
};

static struct likwid_bases *likwid_slots[PAGE_THREADS];

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

int apapi_likwid_register_region(const char *tag)
{
    apapi_region_handle(tag);
    return 0;
}

int apapi_likwid_stop_region(const char *tag)
{
    return likwid_result(overlap_end(tag));
}

static struct likwid_sums likwid_sum_up(const struct region_stack *stack, uint32_t name)
{
    const struct page_slot *slot = stack->slot;
    struct likwid_sums sums = {0, 0};
    uint32_t nodes = page_node_count(program.page);

    for (uint32_t node = 1; node < nodes; node++) {
        if (tree_has(program.page, node, name)) {
            sums.ticks += slot->own[node];
        }
        if (tree_name(node) == name) {
            sums.passes += slot->counts[node];
        }
    }
    if (tree_has(program.page, stack->current, name)) {
        sums.ticks += ticks_now(program.clock) - stack->entered;
    }
    return sums;
}

static bool likwid_is_used(const struct page_slot *slot)
{
    for (uint32_t node = 1; node < PAGE_NODES; node++) {
        if (slot->counts[node]) {
            return true;
        }
    }
    return false;
}

static void likwid_begin_thread(const struct region_stack *stack, struct likwid_bases *bases)
{
    bool used = likwid_is_used(stack->slot);

    for (uint32_t name = 1; name < INTERN_NAMES; name++) {
        bases->names[name] = used ? likwid_sum_up(stack, name) : (struct likwid_sums){0, 0};
    }
    bases->thread = stack->slot->thread;
}

/* @return the calling thread's, from its first call on; NULL: it has none. */
static struct likwid_bases *likwid_bases_of(const struct region_stack *stack)
{
    struct likwid_bases *bases;

    if (!stack || stack->number >= PAGE_THREADS) {
        return NULL;
    }
    bases = likwid_slots[stack->number];
    if (!bases) {
        bases = likwid_slots[stack->number] = calloc(1, sizeof *bases);
    }
    if (bases && bases->thread != stack->slot->thread) {
        likwid_begin_thread(stack, bases);
    }
    return bases;
}

/* @return the calling thread's stack and the number of a name in it; NULL: there is none. */
static struct region_stack *likwid_stack(const char *tag, uint32_t *number)
{
    *number = tag ? apapi_region_handle(tag) : 0;
    return *number ? stack_self : NULL;
}

int apapi_likwid_start_region(const char *tag)
{
    uint32_t number;
    const struct region_stack *stack = likwid_stack(tag, &number);

    likwid_bases_of(stack);
    return likwid_result(apapi_region_begin(tag));
}

int apapi_likwid_reset_region(const char *tag)
{
    uint32_t number;
    const struct region_stack *stack = likwid_stack(tag, &number);
    struct likwid_bases *bases = likwid_bases_of(stack);

    if (bases) {
        bases->names[number] = likwid_sum_up(stack, number);
    }
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

static double likwid_energy_j(const struct region_stack *stack, uint32_t name,
                              enum apapi_likwid_value value)
{
    const struct page_results *results = link_results();
    uint32_t nodes = page_node_count(program.page);
    double energy_j = results ? 0 : NAN;
    struct page_result row;

    for (uint32_t node = 1; results && node < nodes; node++) {
        uint64_t ticks = stack->slot->own[node];

        if (ticks > 0 && tree_has(program.page, node, name)) {
            energy_j += page_result_read(&results->nodes[node], &row)
                            ? likwid_power_w(&row, value) * likwid_seconds(ticks)
                            : NAN;
        }
    }
    return energy_j;
}

/* @param share  of the slot's time in the name that is the thread's since the reset */
static void likwid_set_values(const struct region_stack *stack, uint32_t name, double share,
                              int *count, double *values)
{
    int room = *count < 0 ? 0 : *count;

    *count = room < APAPI_LIKWID_VALUES ? room : APAPI_LIKWID_VALUES;
    for (int i = 0; i < *count; i++) {
        values[i] = stack ? share * likwid_energy_j(stack, name, (enum apapi_likwid_value)i) : NAN;
    }
}

void apapi_likwid_get_region(const char *tag, int *count, double *values, double *time, int *passes)
{
    uint32_t number;
    const struct region_stack *stack = likwid_stack(tag, &number);
    const struct likwid_bases *bases = likwid_bases_of(stack);
    struct likwid_sums sums = {0, 0}, base = {0, 0};

    if (stack) {
        sums = likwid_sum_up(stack, number);
    }
    if (bases) {
        base = bases->names[number];
    }
    if (count && values) {
        double share = sums.ticks ? 1 - (double)base.ticks / (double)sums.ticks : 0;

        likwid_set_values(stack, number, share, count, values);
    }
    if (time) {
        *time = stack ? likwid_seconds(sums.ticks - base.ticks) : 0;
    }
    if (passes) {
        *passes = (int)(sums.passes - base.passes);
    }
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
