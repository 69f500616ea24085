/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "regions/foms.h"
#include "regions/join.h"
#include "regions/misuse.h"
#include "regions/output.h"

/* How threads come and go, and the process with them. */

#define JOIN_TOUCHED 4096 /* no page of memory is smaller */

static pthread_mutex_t join_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t join_once = PTHREAD_ONCE_INIT;
static pthread_key_t join_key;
static bool join_has_key;
static bool join_taken[PAGE_THREADS]; /* slots */
/* Most programs have one thread; their first call is not to be the one that sets malloc up. */
static struct region_stack join_first;
static bool join_first_taken;

/* @return PAGE_THREADS: none is free. */
static uint32_t join_take_slot(void)
{
    struct page_head *head = &program.page->head;
    uint32_t slot = 0;

    pthread_mutex_lock(&join_lock);
    while (slot < PAGE_THREADS && join_taken[slot]) {
        slot++;
    }
    if (slot < PAGE_THREADS) {
        join_taken[slot] = true;
    }
    pthread_mutex_unlock(&join_lock);
    if (slot == PAGE_THREADS) {
        program_count(&head->threads_lost);
    }
    return slot;
}

static void join_give_slot(uint32_t slot)
{
    if (slot < PAGE_THREADS) {
        pthread_mutex_lock(&join_lock);
        join_taken[slot] = false;
        pthread_mutex_unlock(&join_lock);
    }
}

/* All of it gets memory: the sampler reads no other slot. */
static void join_touch(struct page_slot *slot)
{
    unsigned char *bytes = (unsigned char *)slot;

    for (size_t i = 0; i < sizeof *slot; i += JOIN_TOUCHED) {
        __atomic_fetch_or(bytes + i, 0, __ATOMIC_RELAXED);
    }
    __atomic_fetch_or(bytes + sizeof *slot - 1, 0, __ATOMIC_RELAXED);
}

/* The slot is complete before it is counted. */
static void join_publish(uint32_t slot)
{
    uint32_t *count = &program.page->head.thread_count;

    pthread_mutex_lock(&join_lock);
    if (slot < PAGE_THREADS && slot >= *count) {
        join_touch(&program.page->slots[slot]);
        __atomic_store_n(count, slot + 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&join_lock);
}

/* @return zeros; NULL: no memory. */
static struct region_stack *join_new_stack(size_t size)
{
    if (size > sizeof join_first ||
        __atomic_exchange_n(&join_first_taken, true, __ATOMIC_ACQUIRE)) {
        return calloc(1, size);
    }
    memset(&join_first, 0, sizeof join_first);
    return &join_first;
}

static void join_free_stack(struct region_stack *stack)
{
    if (stack == &join_first) {
        __atomic_store_n(&join_first_taken, false, __ATOMIC_RELEASE);
    } else {
        free(stack);
    }
}

/* Destructor of `join_key`. Others may begin regions after it: they join again. */
static void join_leave(void *argument)
{
    struct region_stack *stack = argument;

    stack_unwind(stack, MISUSE_LEFT);
    if (stack_observer && stack_observer->leave) {
        stack_observer->leave(stack->number);
    }
    stack_switch(stack, PAGE_NO_NODE, ticks_now(program.clock));
    join_give_slot(stack->number);
    stack_self = NULL;
    join_free_stack(stack);
}

/* In the child: other threads' stacks are lost, their locks may have been held. */
static void join_after_fork(void)
{
    pthread_mutex_init(&join_lock, NULL);
    memset(join_taken, 0, sizeof join_taken);
    stack_forget();
    meter_forget();
    foms_forget();
    pthread_setspecific(join_key, NULL);
    program_forget();
}

static void join_prepare(void)
{
    join_has_key = pthread_key_create(&join_key, join_leave) == 0 &&
                   pthread_atfork(NULL, NULL, join_after_fork) == 0;
}

/* A thread without a slot has one that nobody sees. */
static struct region_stack *join_allocate(void)
{
    uint32_t number = join_take_slot();
    bool hidden = number == PAGE_THREADS;
    struct region_stack *stack =
        join_new_stack(sizeof *stack + (hidden ? sizeof(struct page_slot) : 0));

    if (!stack || pthread_setspecific(join_key, stack)) {
        join_give_slot(number);
        join_free_stack(stack);
        return NULL;
    }
    stack->number = number;
    stack->frames[0].name = UINT32_MAX; /* no name is that */
    stack->slot = hidden ? (struct page_slot *)(void *)(stack + 1) : &program.page->slots[number];
    return stack;
}

struct region_stack *join_thread(void)
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
    stack->meter = output_is_wanted() ? meter_open(stack->number) : &meter_none;
    join_publish(stack->number);
    stack_self = stack;
    return stack;
}

static void join_warn_at_exit(void)
{
    uint32_t count = page_thread_count(program.page);

    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = __atomic_load_n(&program.page->slots[i].current, __ATOMIC_ACQUIRE);

        if (node > 0 && node < PAGE_NODES) {
            misuse_report(MISUSE_EXIT, intern_shown(tree_name(node)), NULL);
        }
    }
}

/* After the functions of atexit(3), which may use regions. Other threads may go on. */
__attribute__((destructor)) static void join_exit(void)
{
    if (__atomic_load_n(&program.state, __ATOMIC_ACQUIRE) != PROGRAM_ON) {
        return;
    }
    join_warn_at_exit();
    if (stack_self) {
        stack_unwind(stack_self, MISUSES);
        stack_switch(stack_self, PAGE_NO_NODE, ticks_now(program.clock));
    }
    foms_send();
    output_end();
    program_finish();
    __atomic_store_n(&program.state, PROGRAM_OFF, __ATOMIC_RELEASE);
    stack_self = NULL;
}
