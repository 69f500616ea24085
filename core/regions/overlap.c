/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions/overlap.h"

#include <stdbool.h>
#include <stddef.h>

#include "regions/stack.h"

/* @return whether `name` is open, with others in it that can be begun again. */
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

int overlap_end(const char *name)
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
