/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions/stack.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* --- misuses -------------------------------------------------------------------------------- */

static const struct {
    int error;
    const char *text; /* follows the name of the region; %s: `other` of misuse_report() */
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

/* Standard error belongs to the program: a line is not written if that would make the program wait
 * or raise a signal. */
static void misuse_say(const char *line, size_t size)
{
    const struct timespec at_once = {0};
    struct pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT};
    sigset_t raised, before, pending;
    int cancel;

    sigemptyset(&raised);
    sigaddset(&raised, SIGPIPE);
    sigaddset(&raised, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &raised, &before);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    sigpending(&pending);
    if (!sigismember(&pending, SIGPIPE) && !sigismember(&pending, SIGXFSZ) &&
        poll(&room, 1, 0) == 1 && room.revents == POLLOUT && write(room.fd, line, size) < 0) {
        while (sigtimedwait(&raised, NULL, &at_once) < 0 && errno == EINTR) {
        }
    }
    pthread_setcancelstate(cancel, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

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
        misuse_say(line, (size_t)length);
    }
    errno = misuse_kinds[misuse].error;
    return -1;
}

/* --- regions -------------------------------------------------------------------------------- */

__thread struct region_stack *stack_self;
static const struct region_stack *stack_at_fork; /* of the thread that called fork */

int stack_begin_slowly(struct region_stack *stack, uint32_t name)
{
    struct stack_frame *top = &stack->frames[stack->depth];

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
    stack_push(stack, name, tree_node(stack->current, name));
    return 0;
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

/* Report the end of a region that is not open here. That another thread has it open is a hint. */
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
        stack_pop(stack);
    }
    stack_pop(stack);
    return result;
}

void stack_forget(void)
{
    stack_at_fork = stack_self ? stack_self : stack_at_fork;
    stack_self = NULL;
}

void stack_unwind(struct region_stack *stack, enum misuse misuse)
{
    if (stack->depth && misuse < MISUSES) {
        misuse_report(misuse, intern_shown(stack->frames[stack->depth].name), NULL);
    }
    stack->lost = 0;
    while (stack->depth) {
        stack_pop(stack);
    }
}
