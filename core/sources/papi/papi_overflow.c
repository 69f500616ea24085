/* SPDX-License-Identifier: BSD-3-Clause */
/* PAPI_overflow(): one event set for each thread, built again for each change. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sources/papi/papi_library.h"
#include "sources/sources.h"

#define CPU_COMPONENT "perf_event" /* the component of an event that names none */

/** The events of one thread. Its counters lie in the order in which PAPI has them. */
struct overflow_set {
    int set; /* PAPI_NULL: nothing is counted */
    bool software;
    size_t count;
    struct source_overflow_counter *counters[SOURCE_OVERFLOW_MAX];
    struct overflow_set *next;
};

static pthread_mutex_t sets_lock = PTHREAD_MUTEX_INITIALIZER; /* protects the list of sets */
static struct overflow_set *sets;
static _Thread_local struct overflow_set *mine; /* this thread's set; the signal uses it */
static const struct papi_library *papi;

/* --- the signal ------------------------------------------------------------------------------- */

static void interrupt(int set, void *address, long long vector, void *context)
{
    struct overflow_set *of = mine;
    struct source_overflow_counter *passed[SOURCE_OVERFLOW_MAX];
    int indices[SOURCE_OVERFLOW_MAX], count = SOURCE_OVERFLOW_MAX;
    size_t found = 0;

    if (!of || of->set != set ||
        papi->get_overflow_event_index(set, vector, indices, &count) != PAPI_OK) {
        return;
    }
    for (int i = 0; i < count; i++) {
        if (indices[i] >= 0 && (size_t)indices[i] < of->count) {
            passed[found++] = of->counters[indices[i]];
        }
    }
    if (found > 0) {
        passed[0]->handler(passed, found, address, context);
    }
}

/* --- an event set ----------------------------------------------------------------------------- */

static int overflow_errno(int code)
{
    return code == PAPI_ENOEVNT || code == PAPI_ENOTPRESET ? ENOENT
           : code == PAPI_EISRUN || code == PAPI_ECNFLCT   ? EBUSY
           : code == PAPI_ENOMEM                           ? ENOMEM
           : code == PAPI_EINVAL                           ? EINVAL
           : code == PAPI_ENOSUPP || code == PAPI_ECMP     ? ENOTSUP
                                                           : EIO;
}

static int drop_set(void *context)
{
    struct overflow_set *of = context;
    int set = of->set;

    of->set = PAPI_NULL;
    if (set != PAPI_NULL) {
        papi->stop(set, NULL);
        for (size_t i = 0; i < of->count; i++) {
            papi->overflow(set, of->counters[i]->code, 0, 0, interrupt);
        }
        papi->cleanup_eventset(set);
        papi->destroy_eventset(&set);
    }
    return PAPI_OK;
}

static int add_counter(int set, struct source_overflow_counter *counter)
{
    int flags = counter->software ? PAPI_OVERFLOW_FORCE_SW : PAPI_OVERFLOW_HARDWARE;
    int code = papi->add_named_event(set, counter->event);

    if (code == PAPI_OK) {
        code = papi->event_name_to_code(counter->event, &counter->code);
    }
    return code == PAPI_OK
               ? papi->overflow(set, counter->code, counter->threshold, flags, interrupt)
               : code;
}

/* @return PAPI's code. */
static int build_set(void *context)
{
    struct overflow_set *of = context;
    int set = PAPI_NULL, code;

    papi->register_thread();
    code = papi->create_eventset(&set);
    for (size_t i = 0; code == PAPI_OK && i < of->count; i++) {
        code = add_counter(set, of->counters[i]);
    }
    of->set = set;
    if (code == PAPI_OK) {
        code = papi->start(set);
    }
    if (code != PAPI_OK) {
        drop_set(of);
    }
    return code;
}

/* Build the event set again. Programs that are started later do not inherit what PAPI opens. */
static int rebuild_set(struct overflow_set *of)
{
    struct open_files before;
    int code;

    papi_exit_guard(drop_set, of);
    if (of->count == 0) {
        return PAPI_OK;
    }
    open_files_note(&before);
    code = papi_exit_guard(build_set, of);
    open_files_close_new_on_exec(&before);
    return code;
}

/* --- PAPI's start and end --------------------------------------------------------------------- */

struct overflow_entry {
    char component[64];
    struct apapi_error *err;
};

static int overflow_enter(void *context)
{
    const struct overflow_entry *entry = context;

    return papi_library_enter(entry->component, entry->err);
}

static int overflow_leave(void *unused)
{
    (void)unused;
    papi_library_leave(PAPI_NULL);
    return 0;
}

static int overflow_load(const char *event, struct apapi_error *err)
{
    const char *end = strstr(event, ":::");
    struct overflow_entry entry = {.component = CPU_COMPONENT, .err = err};

    papi = papi_library_load(err);
    if (!papi) {
        return -1;
    }
    if (end) {
        snprintf(entry.component, sizeof entry.component, "%.*s", (int)(end - event), event);
    }
    return papi_thread_call(overflow_enter, &entry, err) ? -1 : 0;
}

/* --- counters --------------------------------------------------------------------------------- */

/* With the lock. @return this thread's set; NULL: no memory. */
static struct overflow_set *own_set(bool software)
{
    if (!mine) {
        mine = calloc(1, sizeof *mine);
        if (mine) {
            mine->set = PAPI_NULL;
            mine->next = sets;
            sets = mine;
        }
    }
    if (mine && mine->count == 0) {
        mine->software = software;
    }
    return mine;
}

static void take_out(struct overflow_set *of, const struct source_overflow_counter *counter)
{
    size_t kept = 0;

    for (size_t i = 0; i < of->count; i++) {
        if (of->counters[i] != counter) {
            of->counters[kept++] = of->counters[i];
        }
    }
    of->count = kept;
}

/* With the lock. */
static int insert_counter(struct source_overflow_counter *counter, struct apapi_error *err)
{
    struct overflow_set *of = own_set(counter->software);
    int code;

    if (!of) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    if (of->software != counter->software) {
        return apapi_fail(err, EBUSY, "%.100s: this thread has counters of the other kind",
                          counter->event);
    }
    if (of->count == SOURCE_OVERFLOW_MAX) {
        return apapi_fail(err, ENOSPC, "a thread has at most %d counters", SOURCE_OVERFLOW_MAX);
    }
    papi_exit_guard(drop_set, of); /* no signal sees the change */
    of->counters[of->count++] = counter;
    code = rebuild_set(of);
    if (code == PAPI_OK) {
        counter->set = of;
        return 0;
    }
    take_out(of, counter);
    rebuild_set(of);
    return apapi_fail(err, overflow_errno(code), "%.100s: %s", counter->event,
                      code == PAPI_EXITED ? "PAPI would have ended the process"
                                          : papi->strerror(code));
}

static int overflow_begin(struct source_overflow_counter *counter, struct apapi_error *err)
{
    int result, saved;

    if (overflow_load(counter->event, err)) {
        return -1;
    }
    pthread_mutex_lock(&sets_lock);
    result = insert_counter(counter, err);
    pthread_mutex_unlock(&sets_lock);
    if (result) {
        saved = errno;
        papi_thread_call(overflow_leave, NULL, NULL);
        errno = saved;
    }
    return result;
}

static bool overflow_is_mine(const struct source_overflow_counter *counter)
{
    return counter->set && counter->set == mine;
}

/* A set without counters stays: its thread may count again, and a signal may still look at it. */
static void overflow_end(struct source_overflow_counter *counter)
{
    struct overflow_set *of = counter->set;
    int saved = errno;

    if (!of) {
        return;
    }
    pthread_mutex_lock(&sets_lock);
    papi_exit_guard(drop_set, of);
    take_out(of, counter);
    if (of == mine) {
        rebuild_set(of);
    }
    pthread_mutex_unlock(&sets_lock);
    counter->set = NULL;
    papi_thread_call(overflow_leave, NULL, NULL);
    errno = saved;
}

const struct source_overflow apapi_overflow_papi = {
    .begin = overflow_begin, .is_mine = overflow_is_mine, .end = overflow_end};
