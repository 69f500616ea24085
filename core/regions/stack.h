/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REGIONS_STACK_H
#define REGIONS_STACK_H
#include "apapi/event.h"
#include "apapi/region.h"
#include "regions/program.h"

/*
 * The regions that are open in a thread. A stack belongs to its thread alone; others see the
 * thread's slot of the program page.
 */

#define STACK_CACHE 32 /* a power of 2 */

/** A region that is open. */
struct stack_frame {
    uint32_t node;
    uint32_t name;
    uint32_t repeats; /* further begins of its name while this region is the innermost */
};

/** The address at which a name was seen last; another name may be there by now. */
struct stack_name {
    const char *address;
    uint32_t number;
};

struct region_stack {
    struct page_slot *slot;
    uint32_t number; /* of the slot; PAGE_THREADS: the slot is not in the page */
    uint32_t depth;
    uint32_t lost;    /* open regions beyond the greatest depth */
    uint32_t current; /* node */
    uint64_t entered; /* since when `current` is the innermost region [ticks] */
    uint64_t sequence;
    struct stack_frame frames[APAPI_REGION_DEPTH + 1]; /* [0]: outside of all regions */
    struct stack_name cache[STACK_CACHE];
};

/** Stack of the calling thread; NULL: none so far, or PROGRAM_OFF. */
extern __thread struct region_stack *stack_self
    __attribute__((visibility("hidden"), tls_model("initial-exec")));

/** Misuses: begins and ends of regions that make no sense. */
enum misuse {
    MISUSE_TWICE,  /* begun while it is the innermost region */
    MISUSE_AGAIN,  /* begun while it is open, by LIKWID's functions */
    MISUSE_CLOSED, /* ended without a begin */
    MISUSE_FORKED, /* ended in the child of a fork within it */
    MISUSE_THREAD, /* ended in another thread */
    MISUSE_ORDER,  /* ended while a region within it is open */
    MISUSE_DEPTH,  /* too many regions within each other */
    MISUSE_EXIT,   /* open at the end of the program */
    MISUSE_LEFT,   /* open at the end of a thread */
    MISUSE_NULL,   /* without a name */
    MISUSES
};

/**
 * Count a misuse. The first one of its kind is reported on standard error.
 * @param name   the region, as it is shown
 * @param other  for MISUSE_ORDER: the open region within it; else NULL
 * @return -1, with the errno of this kind
 */
int misuse_report(enum misuse misuse, const char *name, const char *other);

/** End all regions of the calling thread. @param misuse  to report if there are any; MISUSES: none
 */
void stack_unwind(struct region_stack *stack, enum misuse misuse);

/** @return whether a name is open in a thread. Only a hint if `stack` is another thread's. */
bool stack_has(const struct region_stack *stack, uint32_t name);

/** Forget the open regions in the child of a fork: they are the parent's. */
void stack_forget(void);

/** stack_begin() and stack_end() in the cases that need more than noting the time. */
int stack_begin_slowly(struct region_stack *stack, uint32_t name);
int stack_end_slowly(struct region_stack *stack, uint32_t name);

#define stack_put(word, value, order) __atomic_store_n(&(word), (value), (order))

/* The order of the writes makes a reader who sees a new word see the odd sequence, too. */
static inline void stack_switch(struct region_stack *stack, uint32_t node, uint64_t now)
{
    struct page_slot *slot = stack->slot;
    uint64_t *own = &slot->own[stack->current];
    uint64_t past = now > stack->entered ? now - stack->entered : 0;

    stack_put(slot->sequence, stack->sequence + 1, __ATOMIC_RELAXED);
    stack_put(*own, *own + past, __ATOMIC_RELEASE);
    stack_put(slot->entered, now, __ATOMIC_RELEASE);
    stack_put(slot->current, node, __ATOMIC_RELEASE);
    stack->sequence += 2;
    stack_put(slot->sequence, stack->sequence, __ATOMIC_RELEASE);
    stack->current = node;
    stack->entered = now;
}

static inline void stack_push(struct region_stack *stack, uint32_t name, uint32_t node)
{
    uint64_t now = ticks_now(program.clock);

    stack->frames[++stack->depth] = (struct stack_frame){node, name, 0};
    stack_put(stack->slot->counts[node], stack->slot->counts[node] + 1, __ATOMIC_RELAXED);
    stack_switch(stack, node, now);
}

static inline void stack_pop(struct region_stack *stack)
{
    stack->depth--;
    stack_switch(stack, stack->frames[stack->depth].node, ticks_now(program.clock));
}

/** Begin a region in the calling thread. 0; -1 with errno after misuse_report(). */
static inline int stack_begin(struct region_stack *stack, uint32_t name)
{
    uint32_t node = __atomic_load_n(&tree_children[stack->current][name], __ATOMIC_ACQUIRE);

    if (__builtin_expect(node == 0 || stack->depth == APAPI_REGION_DEPTH ||
                             stack->frames[stack->depth].name == name,
                         0)) {
        return stack_begin_slowly(stack, name);
    }
    stack_push(stack, name, node);
    return 0;
}

/** End a region of the calling thread. 0; -1 with errno after misuse_report(). */
static inline int stack_end(struct region_stack *stack, uint32_t name)
{
    const struct stack_frame *frame = &stack->frames[stack->depth];

    if (__builtin_expect(frame->name != name || frame->repeats || stack->lost, 0)) {
        return stack_end_slowly(stack, name);
    }
    stack_pop(stack);
    return 0;
}

#endif
