/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions/stack.h"

#include <errno.h>

#include "regions/misuse.h"

__thread struct region_stack *stack_self;
const struct region_observer *stack_observer;
static const struct region_stack *stack_at_fork; /* of the thread that was forked */

int region_observe(const struct region_observer *observer)
{
    const struct region_observer *none = NULL;

    if (!__atomic_compare_exchange_n(&stack_observer, &none, observer, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE)) {
        errno = EALREADY;
        return -1;
    }
    program_want();
    return 0;
}

static void stack_tell_begin(const struct region_stack *stack, uint32_t node)
{
    if (stack_observer && stack_observer->begin) {
        stack_observer->begin(stack->number, node);
    }
}

static void stack_tell_end(const struct region_stack *stack, uint32_t node)
{
    if (stack_observer && stack_observer->end) {
        stack_observer->end(stack->number, node);
    }
}

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
    node = tree_node(program.page, stack->current, name);
    stack_tell_begin(stack, node);
    stack_push(stack, name, node);
    return 0;
}

static void stack_close(struct region_stack *stack)
{
    uint32_t node = stack->frames[stack->depth].node;

    stack_pop(stack);
    stack_tell_end(stack, node);
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

/* Only a hint, if it is another thread. */
static bool stack_is_open_elsewhere(uint32_t name)
{
    uint32_t count = page_thread_count(program.page);

    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = __atomic_load_n(&program.page->slots[i].current, __ATOMIC_ACQUIRE);

        if (node < PAGE_NODES && tree_has(program.page, node, name)) {
            return true;
        }
    }
    return false;
}

static int stack_end_unknown(uint32_t name)
{
    enum misuse misuse = stack_at_fork && stack_has(stack_at_fork, name) ? MISUSE_FORKED
                         : stack_is_open_elsewhere(name)                 ? MISUSE_THREAD
                                                                         : MISUSE_CLOSED;

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
    if (stack_observer && stack_observer->read) {
        stack_observer->read(stack->number, frame->node);
    }
    return 0;
}

void stack_forget(void)
{
    stack_at_fork = stack_self ? stack_self : stack_at_fork;
    stack_self = NULL;
}

void stack_unwind(struct region_stack *stack, int misuse)
{
    if (stack->depth && misuse < MISUSES) {
        misuse_report(misuse, intern_shown(stack->frames[stack->depth].name), NULL);
    }
    stack->lost = 0;
    while (stack->depth) {
        stack_close(stack);
    }
}
