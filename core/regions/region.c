/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions that programs call, and the start and end of threads and of the process. */
#include "apapi/region.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "regions/stack.h"

#define JOIN_TOUCHED 4096 /* step in which memory is touched: no page of memory is smaller */

/* --- threads -------------------------------------------------------------------------------- */

static pthread_mutex_t join_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t join_once = PTHREAD_ONCE_INIT;
static pthread_key_t join_key;
static bool join_has_key;
static bool join_taken[PAGE_THREADS]; /* by slot */
/* Most programs have one thread; its stack is static: its first call must not set malloc up. */
static struct region_stack join_first;
static bool join_first_taken;

/* Take a free slot. @return its number; PAGE_THREADS: none is free. */
static uint32_t join_take_slot(void)
{
    uint32_t slot = 0;

    pthread_mutex_lock(&join_lock);
    while (slot < PAGE_THREADS && join_taken[slot]) {
        slot++;
    }
    if (slot < PAGE_THREADS) {
        join_taken[slot] = true;
    } else {
        program_count(&program.page->head.threads_lost);
    }
    pthread_mutex_unlock(&join_lock);
    return slot;
}

/* Touch all memory of a slot, then count the slot: the sampler reads only slots with memory. */
static void join_publish(uint32_t number)
{
    uint32_t *count = &program.page->head.thread_count;

    pthread_mutex_lock(&join_lock);
    if (number < PAGE_THREADS && number >= *count) {
        unsigned char *bytes = (unsigned char *)&program.page->slots[number];

        for (size_t i = 0; i < sizeof(struct page_slot); i += JOIN_TOUCHED) {
            __atomic_fetch_or(bytes + i, 0, __ATOMIC_RELAXED);
        }
        __atomic_fetch_or(bytes + sizeof(struct page_slot) - 1, 0, __ATOMIC_RELAXED);
        __atomic_store_n(count, number + 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&join_lock);
}

/* Give a slot and a stack back. @param stack  of the thread that had the slot; NULL: it got none */
static void join_give_back(struct region_stack *stack, uint32_t number)
{
    if (number < PAGE_THREADS) {
        pthread_mutex_lock(&join_lock);
        join_taken[number] = false;
        pthread_mutex_unlock(&join_lock);
    }
    if (stack == &join_first) {
        __atomic_store_n(&join_first_taken, false, __ATOMIC_RELEASE);
    } else {
        free(stack);
    }
}

/* Destructor of `join_key`. If a later destructor begins a region, the thread joins again. */
static void join_leave(void *argument)
{
    struct region_stack *stack = argument;

    stack_unwind(stack, MISUSE_LEFT);
    stack_switch(stack, PAGE_NO_NODE, ticks_now(program.clock));
    stack_self = NULL;
    join_give_back(stack, stack->number);
}

/* In the child of a fork: other threads' stacks are lost, and they may have held locks. */
static void join_after_fork(void)
{
    pthread_mutex_init(&join_lock, NULL);
    memset(join_taken, 0, sizeof join_taken);
    pthread_setspecific(join_key, NULL);
    stack_forget();
    program_forget();
}

static void join_prepare(void)
{
    join_has_key = pthread_key_create(&join_key, join_leave) == 0 &&
                   pthread_atfork(NULL, NULL, join_after_fork) == 0;
}

/* A thread without a slot in the page gets one behind its stack. @return NULL: no memory */
static struct region_stack *join_allocate(void)
{
    uint32_t number = join_take_slot();
    bool hidden = number == PAGE_THREADS;
    struct region_stack *stack = &join_first;

    if (hidden || __atomic_exchange_n(&join_first_taken, true, __ATOMIC_ACQUIRE)) {
        stack = calloc(1, sizeof *stack + (hidden ? sizeof(struct page_slot) : 0));
    } else {
        memset(stack, 0, sizeof *stack);
    }
    if (!stack || pthread_setspecific(join_key, stack)) {
        join_give_back(stack, number);
        return NULL;
    }
    stack->number = number;
    stack->frames[0].name = UINT32_MAX; /* no name has this number */
    stack->slot = hidden ? (struct page_slot *)(void *)(stack + 1) : &program.page->slots[number];
    return stack;
}

/* Handle a thread's first call. @return its stack; NULL: PROGRAM_OFF, or no memory */
static struct region_stack *join_thread(void)
{
    struct region_stack *stack;

    if (program_is_off() || !program_start() || pthread_once(&join_once, join_prepare) ||
        !join_has_key || !(stack = join_allocate())) {
        return NULL;
    }
    stack->slot->thread = (uint32_t)syscall(SYS_gettid);
    stack->sequence = stack->slot->sequence;
    stack->entered = ticks_now(program.clock);
    stack_switch(stack, 0, stack->entered);
    join_publish(stack->number);
    stack_self = stack;
    return stack;
}

/*
 * Runs after the functions of atexit(3), which may use regions. Other threads may still run. The
 * page is another process's in a child of _Fork() or clone(2).
 */
__attribute__((destructor)) static void join_exit(void)
{
    if (__atomic_load_n(&program.state, __ATOMIC_ACQUIRE) != PROGRAM_ON ||
        program.page->head.pid != (uint32_t)getpid()) {
        return;
    }
    for (uint32_t i = 0, count = page_thread_count(program.page); i < count; i++) {
        uint32_t node = __atomic_load_n(&program.page->slots[i].current, __ATOMIC_ACQUIRE);

        if (node > 0 && node < PAGE_NODES) {
            misuse_report(MISUSE_EXIT, intern_shown(tree_name(node)), NULL);
        }
    }
    if (stack_self) {
        stack_unwind(stack_self, MISUSES);
        stack_switch(stack_self, PAGE_NO_NODE, ticks_now(program.clock));
    }
    __atomic_store_n(&program.page->head.ended, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&program.state, PROGRAM_OFF, __ATOMIC_RELEASE);
    stack_self = NULL;
}

/* --- calls ---------------------------------------------------------------------------------- */

/* @return stack of the calling thread; NULL: there is nothing to do. */
static inline struct region_stack *region_stack_now(void)
{
    struct region_stack *stack = stack_self;

    if (__builtin_expect(stack != NULL, 1)) {
        return stack;
    }
    return program_is_off() ? NULL : join_thread();
}

static uint32_t region_look_up(struct stack_name *entry, const char *name)
{
    uint32_t number = intern_name(name);

    if (number == INTERN_OTHER) {
        program_count(&program.page->head.names_lost);
    } else {
        *entry = (struct stack_name){name, number};
    }
    return number;
}

/* Most calls have the same name at the same address as before. */
static inline uint32_t region_number(struct region_stack *stack, const char *name)
{
    struct stack_name *entry =
        &stack->cache[((uintptr_t)name ^ (uintptr_t)name >> 5) % STACK_CACHE];

    if (__builtin_expect(entry->address == name && intern_is(entry->number, name), 1)) {
        return entry->number;
    }
    return region_look_up(entry, name);
}

/* Inlined, with the functions that it calls: a region may be as short as a call. */
static inline __attribute__((always_inline)) int
region_call(const char *name, int (*call)(struct region_stack *stack, uint32_t name))
{
    struct region_stack *stack = region_stack_now();

    if (!stack) {
        return 0;
    }
    return name ? call(stack, region_number(stack, name)) : misuse_report(MISUSE_NULL, "", NULL);
}

/* Not inlined: so a call outside of a step saves no registers that only this code needs. */
static __attribute__((noinline)) int region_begin(struct region_stack *stack, uint32_t name)
{
    return stack_begin(stack, name);
}

static __attribute__((noinline)) int region_end(struct region_stack *stack, uint32_t name)
{
    return stack_end(stack, name);
}

int apapi_region_begin(const char *name)
{
    return region_call(name, region_begin);
}

int apapi_region_end(const char *name)
{
    return region_call(name, region_end);
}

int apapi_region_stop(void)
{
    struct region_stack *stack = region_stack_now();

    if (!stack) {
        return 0;
    }
    stack_unwind(stack, MISUSES);
    return 0;
}

apapi_region apapi_region_handle(const char *name)
{
    struct region_stack *stack = region_stack_now();

    return stack && name ? region_number(stack, name) : 0;
}

int apapi_region_enter(apapi_region region)
{
    struct region_stack *stack = region_stack_now();

    return stack ? stack_begin(stack, region % INTERN_NAMES) : 0;
}

int apapi_region_leave(apapi_region region)
{
    struct region_stack *stack = region_stack_now();

    return stack ? stack_end(stack, region % INTERN_NAMES) : 0;
}

int apapi_region_fom(const char *name, double value, const char *unit)
{
    if (!name || !*name || !isfinite(value)) {
        errno = EINVAL;
        return -1;
    }
    if (!region_stack_now()) {
        return 0;
    }
    return foms_set(name, value, unit ? unit : "");
}
