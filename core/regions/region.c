/* SPDX-License-Identifier: BSD-3-Clause */
#include "apapi/region.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "regions/foms.h"
#include "regions/join.h"
#include "regions/link.h"
#include "regions/misuse.h"
#include "regions/output.h"
#include "regions/tally.h"

/* The first call of a thread. */
static struct region_stack *region_join(void)
{
    output_want_if_asked();
    tally_want_if_asked();
    return join_thread();
}

/* @return the calling thread's; NULL: there is nothing to do. */
static inline struct region_stack *region_stack_now(void)
{
    struct region_stack *stack = stack_self;

    if (__builtin_expect(stack != NULL, 1)) {
        return stack;
    }
    return program_is_off() ? NULL : region_join();
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

/* Inlined with what it calls: regions may be as short as a call. */
static inline __attribute__((always_inline)) int
region_call(const char *name, int (*call)(struct region_stack *stack, uint32_t name))
{
    struct region_stack *stack = region_stack_now();

    if (!stack) {
        return 0;
    }
    return name ? call(stack, region_number(stack, name)) : misuse_report(MISUSE_NULL, "", NULL);
}

int apapi_region_begin(const char *name)
{
    return region_call(name, stack_begin);
}

int apapi_region_end(const char *name)
{
    return region_call(name, stack_end);
}

int apapi_region_read(const char *name)
{
    return region_call(name, stack_read);
}

int apapi_region_stop(void)
{
    struct region_stack *stack = region_stack_now();

    if (!stack) {
        return 0;
    }
    stack_unwind(stack, MISUSES);
    return output_write();
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
    if (foms_set(name, value, unit ? unit : "")) {
        return -1;
    }
    /* a sampler that does not take it now gets it with the next one, or at the end */
    return foms_send() == 0 || errno == EAGAIN || output_is_wanted() ? 0 : -1;
}
