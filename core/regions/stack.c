/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions/stack.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"

/* --- misuses -------------------------------------------------------------------------------- */

static const struct {
    int error;
    const char *text; /* after the name of the region; %s: the other one */
} misuse_kinds[MISUSES] = {
    [MISUSE_TWICE] = {EALREADY, "begun while it is the innermost region: counted as one"},
    [MISUSE_AGAIN] = {EALREADY, "begun while it is open: ended first"},
    [MISUSE_CLOSED] = {ENOENT, "ended, but it was not begun: ignored"},
    [MISUSE_FORKED] = {ENOENT, "ended in a process that was forked within it: it goes on in the "
                               "parent only"},
    [MISUSE_THREAD] = {EPERM, "ended in another thread than it was begun in: ignored"},
    [MISUSE_ORDER] = {EBUSY, "ended while \"%s\" in it was open: that is ended, too"},
    [MISUSE_DEPTH] = {E2BIG, "begun in too many others: its time is theirs"},
    [MISUSE_EXIT] = {0, "open at the end of the program: ended there"},
    [MISUSE_LEFT] = {0, "open at the end of its thread: ended there"},
    [MISUSE_NULL] = {EINVAL, "a region without a name: ignored"}};

int misuse_report(enum misuse misuse, const char *name, const char *other)
{
    static unsigned reported; /* bits, 1 << enum misuse */
    unsigned bit = 1u << misuse;
    char what[256], line[512];
    int length;

    program_count(&program.page->head.misuses);
    if (!(__atomic_fetch_or(&reported, bit, __ATOMIC_RELAXED) & bit)) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(what, sizeof what, misuse_kinds[misuse].text, other);
#pragma GCC diagnostic pop
        length =
            snprintf(line, sizeof line, "apapi: region \"%s\": %s (reported once)\n", name, what);
        write_all(2, line, (size_t)length);
    }
    errno = misuse_kinds[misuse].error;
    return -1;
}

/* --- meters --------------------------------------------------------------------------------- */

#define METER_SHARE 0.9 /* of its time that must have been measured for the rest to be like it */

static const uint64_t meter_no_news;
static struct meter meter_none = {&meter_no_news, 0, 0};

/* The figures of a reading, by domain. */
struct meter_look {
    struct apapi_live_slot domains[APAPI_DOMAINS];
};

/* A pass that has ended since the latest reading: what was taken for its end is corrected. */
struct meter_ended {
    uint32_t node;
    uint64_t end_ns;
    double taken_j[APAPI_DOMAINS];
};

struct meter_thread {
    struct meter meter; /* the first member */
    struct meter_look look;
    double begin_j[APAPI_REGION_DEPTH + 1][APAPI_DOMAINS];
    uint32_t ended_count;
    struct meter_ended ended[APAPI_REGION_DEPTH];
    double energy_j[PAGE_NODES][APAPI_DOMAINS];
    uint64_t ticks[PAGE_NODES]; /* time of the passes that were measured */
};

static struct meter_thread *meter_threads[PAGE_THREADS];

static void meter_look_now(struct meter_look *look)
{
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        const struct apapi_live_slot *slot = &program.live->domains[d];

        if (!apapi_live_read(slot, &look->domains[d]) || look->domains[d].readings == 0 ||
            !(look->domains[d].flags & APAPI_LIVE_MEASURED)) {
            look->domains[d] = (struct apapi_live_slot){.total = NAN, .rate = NAN};
        }
    }
}

/* @return the energy of a moment between two readings, or after them [J]. */
static double meter_between_j(const struct apapi_live_slot *old, const struct apapi_live_slot *now,
                              uint64_t time_ns)
{
    if (isnan(old->total) || old->time_ns >= now->time_ns || time_ns >= now->time_ns ||
        time_ns < old->time_ns) {
        double after_s = ((double)time_ns - (double)now->time_ns) / 1e9;

        return now->total + (after_s == 0 ? 0 : now->rate * after_s);
    }
    return old->total + (now->total - old->total) * (double)(time_ns - old->time_ns) /
                            (double)(now->time_ns - old->time_ns);
}

/* @return a moment on CLOCK_MONOTONIC [ns]. */
static uint64_t meter_time_ns(uint64_t ticks)
{
    struct ticks_moment now = ticks_moment_now(program.clock);
    double before = (double)now.ticks - (double)ticks;

    return now.ns - (uint64_t)(before * ticks_length_ns(program.clock, program.start, now));
}

static void meter_add(double *sum, double value)
{
    double total = *sum + value;

    __atomic_store(sum, &total, __ATOMIC_RELAXED);
}

void meter_take(struct meter *meter, const struct stack_frame *frames, uint32_t depth)
{
    struct meter_thread *thread = (struct meter_thread *)meter;
    struct meter_look old = thread->look;

    meter->seen = __atomic_load_n(meter->news, __ATOMIC_ACQUIRE);
    meter_look_now(&thread->look);
    for (uint32_t i = 0; i < thread->ended_count; i++) {
        const struct meter_ended *ended = &thread->ended[i];

        for (int d = 0; d < APAPI_DOMAINS; d++) {
            meter_add(&thread->energy_j[ended->node][d],
                      meter_between_j(&old.domains[d], &thread->look.domains[d], ended->end_ns) -
                          ended->taken_j[d]);
        }
    }
    thread->ended_count = 0;
    for (uint32_t i = meter->measured + 1; i <= depth; i++) {
        uint64_t start_ns = meter_time_ns(frames[i].start);

        for (int d = 0; d < APAPI_DOMAINS; d++) {
            thread->begin_j[i][d] =
                meter_between_j(&old.domains[d], &thread->look.domains[d], start_ns);
        }
    }
    meter->measured = depth;
}

void meter_end(struct meter *meter, const struct stack_frame *frame, uint64_t now)
{
    struct meter_thread *thread = (struct meter_thread *)meter;
    const double *begin_j = thread->begin_j[meter->measured--];
    struct meter_ended ended = {.node = frame->node, .end_ns = meter_time_ns(now)};

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        const struct apapi_live_slot *slot = &thread->look.domains[d];

        ended.taken_j[d] = meter_between_j(slot, slot, ended.end_ns);
        meter_add(&thread->energy_j[frame->node][d], ended.taken_j[d] - begin_j[d]);
    }
    __atomic_store_n(&thread->ticks[frame->node], thread->ticks[frame->node] + (now - frame->start),
                     __ATOMIC_RELAXED);
    if (thread->ended_count < APAPI_REGION_DEPTH) {
        thread->ended[thread->ended_count++] = ended;
    }
}

/* @return what changes with each reading; NULL: nothing is measured. */
static const uint64_t *meter_news(void)
{
    for (int d = 0; program.live && d < APAPI_DOMAINS; d++) {
        struct apapi_live_slot copy;

        if (apapi_live_read(&program.live->domains[d], &copy) &&
            (copy.flags & APAPI_LIVE_MEASURED)) {
            return &program.live->domains[d].sequence;
        }
    }
    return NULL;
}

/* The counts of the slot's threads before stay. */
struct meter *meter_open(uint32_t slot, bool wanted)
{
    const uint64_t *news = wanted && slot < PAGE_THREADS ? meter_news() : NULL;
    struct meter_thread *thread = NULL;

    if (news) {
        thread = __atomic_load_n(&meter_threads[slot], __ATOMIC_ACQUIRE);
        thread = thread ? thread : calloc(1, sizeof *thread);
        __atomic_store_n(&meter_threads[slot], thread, __ATOMIC_RELEASE);
    }
    if (!thread) {
        return &meter_none;
    }
    thread->meter = (struct meter){news, __atomic_load_n(news, __ATOMIC_ACQUIRE), 0};
    thread->ended_count = 0;
    meter_look_now(&thread->look);
    return &thread->meter;
}

void meter_copy(uint32_t slot, uint32_t node, uint64_t ticks, double energy_j[APAPI_DOMAINS])
{
    const struct meter_thread *thread = __atomic_load_n(&meter_threads[slot], __ATOMIC_ACQUIRE);
    double measured = thread ? (double)__atomic_load_n(&thread->ticks[node], __ATOMIC_RELAXED) : 0;
    bool enough = measured > 0 && measured >= METER_SHARE * (double)ticks;

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        double measured_j = NAN;

        if (enough) {
            __atomic_load(&thread->energy_j[node][d], &measured_j, __ATOMIC_RELAXED);
            measured_j *= (double)ticks / measured;
        }
        energy_j[d] = measured_j;
    }
}

/* --- regions -------------------------------------------------------------------------------- */

__thread struct region_stack *stack_self;
static const struct region_stack *stack_at_fork; /* of the thread that was forked */

int stack_begin_slowly(struct region_stack *stack, uint32_t name)
{
    struct stack_frame *top = &stack->frames[stack->depth];
    uint32_t node;

    if (!intern_knows(name)) {
        return 0;
    }
    if (stack->depth == APAPI_REGION_DEPTH) {
        stack->lost++;
        return misuse_report(MISUSE_DEPTH, intern_shown(name), NULL);
    }
    if (top->name == name && name != INTERN_OTHER) {
        top->repeats++;
        return misuse_report(MISUSE_TWICE, intern_shown(name), NULL);
    }
    node = tree_node(stack->current, name);
    if (tally_on) {
        tally_begin(stack->number, node);
    }
    stack_push(stack, name, node);
    return 0;
}

static void stack_close(struct region_stack *stack)
{
    uint32_t node = stack->frames[stack->depth].node;

    stack_pop(stack);
    if (tally_on) {
        tally_end(stack->number, node);
    }
}

bool stack_has(const struct region_stack *stack, uint32_t name)
{
    for (uint32_t i = stack->depth; i > 0; i--) {
        if (stack->frames[i].name == name) {
            return true;
        }
    }
    return false;
}

/* It may be open in another thread, which is only a hint. */
static int stack_end_unknown(uint32_t name)
{
    enum misuse misuse = MISUSE_CLOSED;

    for (uint32_t i = 0, count = page_thread_count(program.page); i < count; i++) {
        uint32_t node = __atomic_load_n(&program.page->slots[i].current, __ATOMIC_ACQUIRE);

        if (node < PAGE_NODES && tree_has(node, name)) {
            misuse = MISUSE_THREAD;
        }
    }
    if (stack_at_fork && stack_has(stack_at_fork, name)) {
        misuse = MISUSE_FORKED;
    }
    return misuse_report(misuse, intern_shown(name), NULL);
}

int stack_end_slowly(struct region_stack *stack, uint32_t name)
{
    struct stack_frame *top = &stack->frames[stack->depth];
    int result = 0;

    if (!intern_knows(name)) {
        return 0;
    }
    if (stack->lost) {
        stack->lost--;
        return 0;
    }
    if (!stack_has(stack, name)) {
        return stack_end_unknown(name);
    }
    if (top->name == name && top->repeats) {
        top->repeats--;
        return 0;
    }
    if (top->name != name) {
        result = misuse_report(MISUSE_ORDER, intern_shown(name), intern_shown(top->name));
    }
    while (stack->frames[stack->depth].name != name) {
        stack_close(stack);
    }
    stack_close(stack);
    return result;
}

int stack_read(struct region_stack *stack, uint32_t name)
{
    const struct stack_frame *frame = &stack->frames[stack->depth];

    if (!intern_knows(name) || stack->lost) {
        return 0;
    }
    if (!stack_has(stack, name)) {
        return stack_end_unknown(name);
    }
    while (frame->name != name) {
        frame--;
    }
    if (tally_on) {
        tally_read(stack->number, frame->node);
    }
    return 0;
}

void stack_forget(void)
{
    stack_at_fork = stack_self ? stack_self : stack_at_fork;
    stack_self = NULL;
    memset(meter_threads, 0, sizeof meter_threads);
}

void stack_unwind(struct region_stack *stack, enum misuse misuse)
{
    if (stack->depth && misuse < MISUSES) {
        misuse_report(misuse, intern_shown(stack->frames[stack->depth].name), NULL);
    }
    stack->lost = 0;
    while (stack->depth) {
        stack_close(stack);
    }
}
