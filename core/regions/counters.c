/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions/counters.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/error.h"
#include "apapi/region.h"
#include "base/array.h"
#include "base/shared_library.h"
#include "regions/program.h"

/* --- PAPI ----------------------------------------------------------------------------------- */

/*
 * PAPI's header is not needed, so that each version of the library will do: no structure of PAPI
 * is used, and its version is found by asking. What get_component_info() returns begins with the
 * component's name.
 */
#define PAPI_FUNCTIONS(FUNCTION)                                                                   \
    FUNCTION(int, is_initialized, (void))                                                          \
    FUNCTION(int, library_init, (int version))                                                     \
    FUNCTION(int, thread_init, (unsigned long (*self)(void)))                                      \
    FUNCTION(int, register_thread, (void))                                                         \
    FUNCTION(int, num_components, (void))                                                          \
    FUNCTION(const char *, get_component_info, (int component))                                    \
    FUNCTION(int, disable_component, (int component))                                              \
    FUNCTION(int, event_name_to_code, (const char *name, int *code))                               \
    FUNCTION(int, get_event_component, (int code))                                                 \
    FUNCTION(int, multiplex_init, (void))                                                          \
    FUNCTION(int, assign_eventset_component, (int set, int component))                             \
    FUNCTION(int, set_multiplex, (int set))                                                        \
    FUNCTION(int, create_eventset, (int *set))                                                     \
    FUNCTION(int, add_event, (int set, int code))                                                  \
    FUNCTION(int, start, (int set))                                                                \
    FUNCTION(int, read, (int set, long long *values))                                              \
    FUNCTION(int, stop, (int set, long long *values))                                              \
    FUNCTION(int, cleanup_eventset, (int set))                                                     \
    FUNCTION(int, destroy_eventset, (int *set))                                                    \
    FUNCTION(char *, strerror, (int code))

struct papi_calls {
    PAPI_FUNCTIONS(LIBRARY_MEMBER)
};

static const struct library_symbol papi_symbols[] = {
#define FUNCTION(type, name, parameters) LIBRARY_SYMBOL("PAPI_" #name, struct papi_calls, name),
    PAPI_FUNCTIONS(FUNCTION)
#undef FUNCTION
        {NULL, 0}};

#define PAPI_CALL_OK 0
#define NO_SET (-1)
#define CPU_COMPONENT 0 /* PAPI's perf_event */

#ifndef APAPI_PAPI_LIBRARY /* built without PAPI: only the program's own, or one that is named */
#define APAPI_PAPI_LIBRARY ""
#endif

/* Not a PAPI that the program gets later. Sanitizers cannot do that. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LOAD_FLAGS (RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)
#else
#define LOAD_FLAGS (RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | RTLD_DEEPBIND)
#endif

static struct papi_calls papi;
static bool papi_multiplex;                /* it counts events of the CPU in turns */
static bool counters_verbose;              /* say on standard output what is left out, and why */
static struct counter_events counters_now; /* that are counted */

static void counters_say(const char *text, const char *what)
{
    if (counters_verbose) {
        printf("apapi: %s%s\n", text, what);
    }
}

/*
 * The one that the program has, or else the one of the environment variable APAPI_PAPI_LIBRARY, or
 * of this build.
 */
static int papi_load(bool *own, struct apapi_error *err)
{
    const char *name = secure_getenv("APAPI_PAPI_LIBRARY");
    void *handle;

    *own = !dlsym(RTLD_DEFAULT, "PAPI_library_init");
    if (!*own) {
        return shared_library_resolve(RTLD_DEFAULT, "the program's libpapi", papi_symbols, &papi,
                                      err);
    }
    name = name && *name ? name : APAPI_PAPI_LIBRARY;
    if (*name == '\0') {
        return apapi_fail(err, ENOSYS, "built without PAPI");
    }
    handle = dlopen(name, LOAD_FLAGS);
    return handle ? shared_library_resolve(handle, name, papi_symbols, &papi, err)
                  : apapi_fail(err, ENOSYS, "%s", dlerror());
}

/* @return whether PAPI needs a component for the events that are asked for. */
static bool papi_needs(const char *component)
{
    size_t length = strlen(component);

    if (strcmp(component, "perf_event") == 0) {
        return true;
    }
    for (size_t i = 0; i < counters_now.count; i++) {
        const char *name = counters_now.events[i].name;
        const char *end = strstr(name, ":::");

        if (end ? (size_t)(end - name) == length && strncmp(name, component, length) == 0
                : strstr(name, "unc_") && strcmp(component, "perf_event_uncore") == 0) {
            return true;
        }
    }
    return false;
}

/* The program's own PAPI is started as the program would, another one with what is needed only. */
static int papi_start(struct apapi_error *err)
{
    static const int majors[] = {7, 6, 5, 8};
    int result = -1;
    bool own, ready;

    if (papi_load(&own, err)) {
        return -1;
    }
    ready = papi.is_initialized();
    for (int i = 0; own && !ready && i < papi.num_components(); i++) {
        const char *name = papi.get_component_info(i);

        if (name && !papi_needs(name)) {
            papi.disable_component(i);
        }
    }
    /* it starts for a program that was compiled for the same major and minor version only */
    for (size_t i = 0; !ready && i < 10 * COUNT_OF(majors); i++) {
        int version = majors[i / 10] << 24 | (int)(i % 10) << 16;

        result = papi.library_init(version);
        ready = result == version;
    }
    if (!ready) {
        return apapi_fail(err, ENOSYS, "PAPI does not start: %s", papi.strerror(result));
    }
    papi.thread_init(pthread_self); /* the program's own choice stays */
    return 0;
}

/* --- events --------------------------------------------------------------------------------- */

size_t counters_parse(struct counter_events *list, const char *text)
{
    size_t refused = 0;

    list->count = 0;
    for (const char *word = text; *word; word += strspn(word, ",")) {
        struct counter_event event = {.component = -1};
        size_t length = strcspn(word, ","), used = 0;
        char *type;

        for (size_t i = 0; i < length && used < sizeof event.name; i++) {
            if (word[i] != ' ' && word[i] != '\t') {
                event.name[used++] = word[i];
            }
        }
        word += length;
        if (used == 0) {
            continue;
        }
        if (used == sizeof event.name || list->count == COUNTER_EVENTS_MAX) {
            refused++;
            continue;
        }
        type = strrchr(event.name, '=');
        event.instant = !strstr(event.name, "total_energy_consumption") &&
                        (strstr(event.name, "nvml") || strstr(event.name, "power") ||
                         strstr(event.name, "temperature"));
        if (type && (strcmp(type, "=instant") == 0 || strcmp(type, "=delta") == 0)) {
            *type = '\0';
            event.instant = type[1] == 'i';
        }
        list->events[list->count++] = event;
    }
    return refused;
}

void counter_component(const struct counter_event *event, char name[COUNTER_NAME_SIZE])
{
    const char *end = strstr(event->name, ":::");

    snprintf(name, COUNTER_NAME_SIZE, "%.*s", end ? (int)(end - event->name) : COUNTER_NAME_SIZE,
             end                                 ? event->name
             : event->component == CPU_COMPONENT ? "perf_event"
                                                 : "perf_event_uncore");
}

static void counters_drop_set(int set)
{
    papi.cleanup_eventset(set);
    papi.destroy_eventset(&set);
}

/* @return a set of some events of a component; NO_SET if not all can be counted together. */
static int counters_new_set(const struct counter_event *events, size_t count, bool multiplex)
{
    int component = events->component, set = NO_SET;

    if (papi.create_eventset(&set) != PAPI_CALL_OK) {
        return NO_SET;
    }
    if (multiplex && component == CPU_COMPONENT &&
        papi.assign_eventset_component(set, component) == PAPI_CALL_OK) {
        papi.set_multiplex(set);
    }
    for (size_t i = 0; i < count; i++) {
        if (papi.add_event(set, events[i].code) != PAPI_CALL_OK) {
            counters_drop_set(set);
            return NO_SET;
        }
    }
    return set;
}

/* @return the number of events from `first` on that have the same component. */
static size_t counters_same(const struct counter_events *list, size_t first)
{
    size_t count = 0;

    while (first + count < list->count &&
           list->events[first + count].component == list->events[first].component) {
        count++;
    }
    return count;
}

/* @return whether the event exists and can be counted; its code and component are set then. */
static bool counters_look_up(struct counter_event *event)
{
    int set;

    if (papi.event_name_to_code(event->name, &event->code) != PAPI_CALL_OK) {
        return false;
    }
    event->component = papi.get_event_component(event->code);
    set = counters_new_set(event, 1, false);
    if (set == NO_SET) {
        return false;
    }
    counters_drop_set(set);
    return true;
}

/* Behind the events of the same component. @return NULL, or why it cannot be counted with them. */
static const char *counters_join(struct counter_events *kept, struct counter_event *event)
{
    struct counter_events more = *kept;
    size_t first = 0, place;
    int set;

    for (size_t i = 0; i < kept->count; i++) {
        if (strcmp(kept->events[i].name, event->name) == 0) {
            return "is named twice";
        }
    }
    if (!counters_look_up(event)) {
        return "does not exist or is not supported on this machine";
    }
    while (first < more.count && more.events[first].component != event->component) {
        first++;
    }
    place = first + counters_same(&more, first);
    memmove(&more.events[place + 1], &more.events[place],
            (more.count - place) * sizeof *more.events);
    more.events[place] = *event;
    more.count++;
    set = counters_new_set(&more.events[first], place + 1 - first, papi_multiplex);
    if (set == NO_SET) {
        return "cannot be counted together with those before it; PAPI_MULTIPLEX=1 may help";
    }
    counters_drop_set(set);
    *kept = more;
    return NULL;
}

/* Keep the events that exist and can be counted together, and group them by component. */
static void counters_check(void)
{
    struct counter_events kept = {.count = 0};

    for (size_t i = 0; i < counters_now.count; i++) {
        struct counter_event *event = &counters_now.events[i];
        const char *why = counters_join(&kept, event);

        if (why && counters_verbose) {
            printf("apapi: PAPI event %s %s\n", event->name, why);
        }
    }
    counters_now = kept;
}

/* PAPI's default events and, for those that do not exist, their substitutes. */
static void counters_default(void)
{
    static const char *const defaults[][3] = {{"perf::TASK-CLOCK"},
                                              {"PAPI_TOT_INS"},
                                              {"PAPI_TOT_CYC"},
                                              {"PAPI_FP_INS", "PAPI_VEC_SP", "PAPI_VEC_DP"},
                                              {"PAPI_FP_OPS", "PAPI_SP_OPS", "PAPI_DP_OPS"}};

    for (size_t i = 0; i < COUNT_OF(defaults); i++) {
        struct counter_event event = {.component = -1};
        bool found = false;

        for (size_t k = 0; k < COUNT_OF(defaults[i]) && defaults[i][k] && !found; k++) {
            snprintf(event.name, sizeof event.name, "%s", defaults[i][k]);
            found = counters_look_up(&event);
        }
        if (found) {
            counters_now.events[counters_now.count++] = event;
        }
    }
}

static char *asked_for; /* NULL: none */

static void counters_open(void)
{
    struct apapi_error err;
    size_t asked;

    counters_verbose = secure_getenv("PAPI_HL_VERBOSE") != NULL;
    papi_multiplex = secure_getenv("PAPI_MULTIPLEX") != NULL;
    if (counters_parse(&counters_now, asked_for ? asked_for : "") > 0) {
        counters_say("PAPI events beyond the 32nd, and those with long names, are left out", "");
    }
    if (papi_start(&err)) {
        counters_now.count = 0;
        counters_say("regions have no CPU counters: ", err.text);
        return;
    }
    if (papi_multiplex && papi.multiplex_init() != PAPI_CALL_OK) {
        counters_say("PAPI cannot count events in turns here", "");
        papi_multiplex = false;
    }
    asked = counters_now.count;
    counters_check();
    if (counters_now.count == 0) {
        counters_say("PAPI's default events are counted", asked > 0 ? ", as no other exists" : "");
        counters_default();
        counters_check();
    }
    for (size_t i = 0; i < counters_now.count; i++) {
        counters_say("regions count PAPI event ", counters_now.events[i].name);
    }
}

/* --- threads -------------------------------------------------------------------------------- */

#define SETS_MAX 8

/* A pass that has begun. */
struct tally_pass {
    uint32_t node;
    uint32_t reads;
    bool valid; /* its begin could be read */
    long long begin[COUNTER_EVENTS_MAX];
};

/* A thread, and those that had its slot before it. */
struct tally_thread {
    bool tried; /* to start its counters */
    bool counts;
    size_t set_count;
    int sets[SETS_MAX];
    uint32_t depth;
    struct tally_pass passes[APAPI_REGION_DEPTH];
    struct tally_sums *nodes[PAGE_NODES]; /* NULL: none */
};

bool tally_on;
static struct tally_thread *threads[PAGE_THREADS];
static bool started; /* PAPI was */
static bool forked;  /* the counters are the parent's */

#define tally_put(word, value) __atomic_store_n(&(word), (value), __ATOMIC_RELAXED)
#define tally_get(word) __atomic_load_n(&(word), __ATOMIC_RELAXED)

static void counters_stop(struct tally_thread *thread)
{
    int saved = errno;

    for (size_t i = 0; i < thread->set_count; i++) {
        papi.stop(thread->sets[i], NULL);
        counters_drop_set(thread->sets[i]);
    }
    thread->set_count = 0;
    thread->counts = false;
    errno = saved;
}

static void counters_start(struct tally_thread *thread)
{
    size_t count;

    papi.register_thread();
    thread->counts = true;
    for (size_t first = 0; first < counters_now.count && thread->counts; first += count) {
        int set = NO_SET;

        count = counters_same(&counters_now, first);
        if (thread->set_count < SETS_MAX) {
            set = counters_new_set(&counters_now.events[first], count, papi_multiplex);
        }
        if (set != NO_SET) {
            thread->sets[thread->set_count++] = set;
        }
        thread->counts = set != NO_SET && papi.start(set) == PAPI_CALL_OK;
    }
    if (!thread->counts) {
        counters_say("PAPI cannot count for this thread", "");
        counters_stop(thread);
    }
}

static bool counters_read(const struct tally_thread *thread, long long *values)
{
    size_t first = 0;

    for (size_t i = 0; thread->counts && i < thread->set_count; i++) {
        if (papi.read(thread->sets[i], values + first) != PAPI_CALL_OK) {
            return false;
        }
        first += counters_same(&counters_now, first);
    }
    return thread->counts;
}

static struct tally_thread *tally_thread_of(uint32_t slot)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct tally_thread *thread;

    if (slot >= PAGE_THREADS || tally_get(forked)) {
        return NULL;
    }
    thread = __atomic_load_n(&threads[slot], __ATOMIC_ACQUIRE);
    if (!thread) {
        pthread_once(&once, counters_open);
        if (counters_now.count > 0) {
            tally_put(started, true);
            thread = calloc(1, sizeof *thread);
            __atomic_store_n(&threads[slot], thread, __ATOMIC_RELEASE);
        }
    }
    if (thread && !thread->tried) {
        thread->tried = true;
        thread->depth = 0;
        counters_start(thread);
    }
    return thread;
}

void tally_begin(uint32_t slot, uint32_t node)
{
    int saved = errno;
    struct tally_thread *thread = tally_thread_of(slot);

    if (thread && thread->depth < APAPI_REGION_DEPTH) {
        struct tally_pass *pass = &thread->passes[thread->depth];

        if (thread->counts && !thread->nodes[node]) {
            __atomic_store_n(&thread->nodes[node], calloc(1, sizeof *thread->nodes[node]),
                             __ATOMIC_RELEASE);
        }
        pass->node = node;
        pass->reads = 0;
        pass->valid = thread->nodes[node] && counters_read(thread, pass->begin);
    }
    if (thread) {
        thread->depth++;
    }
    errno = saved;
}

static void tally_add_values(long long *sums, const struct tally_pass *pass,
                             const long long *values)
{
    for (size_t i = 0; i < counters_now.count; i++) {
        long long more = values[i] - (counters_now.events[i].instant ? 0 : pass->begin[i]);

        tally_put(sums[i], sums[i] + more);
    }
}

/* Of the innermost pass through the node, if it can be read. */
void tally_read(uint32_t slot, uint32_t node)
{
    int saved = errno;
    struct tally_thread *thread = tally_thread_of(slot);
    uint32_t depth = thread ? thread->depth : 0;
    long long values[COUNTER_EVENTS_MAX] = {0};

    depth = depth < APAPI_REGION_DEPTH ? depth : APAPI_REGION_DEPTH;
    while (depth > 0 && thread->passes[depth - 1].node != node) {
        depth--;
    }
    if (depth > 0 && thread->passes[depth - 1].valid &&
        thread->passes[depth - 1].reads < TALLY_READS && counters_read(thread, values)) {
        struct tally_pass *pass = &thread->passes[depth - 1];
        struct tally_sums *sums = thread->nodes[node];

        tally_add_values(sums->read_totals[pass->reads], pass, values);
        tally_put(sums->reads[pass->reads], sums->reads[pass->reads] + 1);
        pass->reads++;
    }
    errno = saved;
}

void tally_end(uint32_t slot, uint32_t node)
{
    int saved = errno;
    struct tally_thread *thread = tally_thread_of(slot);
    long long values[COUNTER_EVENTS_MAX] = {0};

    if (!thread || thread->depth == 0) { /* the region began before the counting */
        return;
    }
    if (--thread->depth < APAPI_REGION_DEPTH) {
        const struct tally_pass *pass = &thread->passes[thread->depth];

        if (pass->valid && pass->node == node && counters_read(thread, values)) {
            tally_add_values(thread->nodes[node]->totals, pass, values);
            tally_put(thread->nodes[node]->passes, thread->nodes[node]->passes + 1);
        }
    }
    errno = saved;
}

void tally_leave(uint32_t slot)
{
    struct tally_thread *thread = slot < PAGE_THREADS ? threads[slot] : NULL;

    if (thread && !tally_get(forked)) {
        counters_stop(thread);
        thread->tried = false;
    }
}

void tally_forget(void)
{
    forked = started;
}

int tally_want(const char *events)
{
    static bool wanted;
    const char *list = events ? events : secure_getenv("PAPI_EVENTS");

    if (__atomic_exchange_n(&wanted, true, __ATOMIC_ACQ_REL)) {
        errno = EALREADY;
        return -1;
    }
    asked_for = list ? strdup(list) : NULL; /* kept, as threads may look at any time */
    __atomic_store_n(&tally_on, true, __ATOMIC_RELEASE);
    program_want();
    return 0;
}

void tally_want_if_asked(void)
{
    if (!tally_get(tally_on) && secure_getenv("PAPI_EVENTS")) {
        tally_want(NULL);
    }
}

const struct counter_events *tally_events(void)
{
    return &counters_now;
}

bool tally_copy(uint32_t slot, uint32_t node, struct tally_sums *copy)
{
    const struct tally_thread *thread =
        slot < PAGE_THREADS ? __atomic_load_n(&threads[slot], __ATOMIC_ACQUIRE) : NULL;
    const struct tally_sums *sums = thread && node < PAGE_NODES
                                        ? __atomic_load_n(&thread->nodes[node], __ATOMIC_ACQUIRE)
                                        : NULL;

    if (!sums || tally_get(forked)) {
        return false;
    }
    copy->passes = tally_get(sums->passes);
    for (size_t i = 0; i < counters_now.count; i++) {
        copy->totals[i] = tally_get(sums->totals[i]);
    }
    for (size_t k = 0; k < TALLY_READS; k++) {
        copy->reads[k] = tally_get(sums->reads[k]);
        for (size_t i = 0; i < counters_now.count; i++) {
            copy->read_totals[k][i] = tally_get(sums->read_totals[k][i]);
        }
    }
    return true;
}
