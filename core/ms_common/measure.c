/* SPDX-License-Identifier: BSD-3-Clause */
#include "ms_common/measurement.h"

#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "apapi/catalog.h"
#include "apapi/events.h"
#include "apapi/live.h"
#include "apapi/session.h"
#include "ms_common/map.h"

/* --- the live page of the job step, for users who may not read the meters themselves --- */

#define EVENTS_MAX (APAPI_LIVE_EVENTS + APAPI_LIVE_DOMAINS)
#define BEGIN_TRIES 100 /* of 5 ms each, while the step is about to begin */

struct page {
    const struct apapi_live_page *live;
    size_t count;
    struct apapi_event events[EVENTS_MAX];
    const struct apapi_live_slot *slots[EVENTS_MAX];
    double begin_j[EVENTS_MAX];        /* energy at the start; NaN: not known yet */
    struct course courses[EVENTS_MAX]; /* of gauges */
    struct figure figures[EVENTS_MAX];
    uint64_t start_ns;
};

static bool page_is_energy(const struct apapi_event *event)
{
    return event->kind == APAPI_KIND_ENERGY || event->kind == APAPI_KIND_POWER;
}

/* @param except  an event whose component does not count; NULL: each component counts */
static bool page_has_domain(const struct page *page, enum apapi_domain domain, const char *except)
{
    for (size_t i = 0; i < page->count; i++) {
        const struct apapi_event *event = &page->events[i];

        if (page_is_energy(event) && event->domain == domain &&
            (!except || strncmp(event->name, except, strcspn(except, ":") + 1) != 0)) {
            return true;
        }
    }
    return false;
}

/* Take one component for each domain: two that measure the same domain must not be added up. */
static void page_add(struct page *page, const struct apapi_event *event,
                     const struct apapi_live_slot *slot)
{
    bool added_up = page_is_energy(event) && event->domain != APAPI_DOMAIN_NONE;
    struct apapi_live_slot copy;

    if (apapi_live_read(slot, &copy) && copy.flags & APAPI_LIVE_MEASURED &&
        !(copy.flags & APAPI_LIVE_ESTIMATED) &&
        !(added_up && page_has_domain(page, event->domain, event->name))) {
        page->events[page->count] = *event;
        page->slots[page->count++] = slot;
    }
}

static void page_add_events(struct page *page)
{
    uint32_t count = apapi_live_event_count(page->live);

    for (uint32_t i = 0; i < count; i++) {
        const struct apapi_live_event *named = &page->live->names[i];
        struct apapi_event event = {.kind = (enum apapi_kind)named->kind,
                                    .domain = (enum apapi_domain)named->domain,
                                    .accumulates = named->accumulates};

        snprintf(event.name, sizeof event.name, "%.*s", APAPI_NAME_SIZE - 1, named->name);
        page_add(page, &event, &page->live->events[i]);
    }
}

/* Add domains without events: a step's event list may hide events, but it hides no domain. */
static void page_add_domains(struct page *page)
{
    for (enum apapi_domain d = APAPI_DOMAIN_PACKAGE; d < APAPI_DOMAINS; d++) {
        struct apapi_event event = {.kind = APAPI_KIND_ENERGY, .domain = d, .accumulates = true};

        snprintf(event.name, sizeof event.name, "%s",
                 d == APAPI_DOMAIN_NODE ? "ipmi:::SYSTEM_POWER" : apapi_domain_name(d));
        if (!page_has_domain(page, d, NULL)) {
            page_add(page, &event, &page->live->domains[d]);
        }
    }
}

/* @return free it with page_close(). NULL: there is no page, or no memory */
static struct page *page_open(void)
{
    const struct apapi_live_page *live = apapi_live_open(NULL, NULL);
    struct page *page = live ? calloc(1, sizeof *page) : NULL;
    const struct timespec pause = {.tv_nsec = 5000000};

    if (!page) {
        apapi_live_close(live);
        return NULL;
    }
    page->live = live;
    for (int i = 0; i < BEGIN_TRIES && apapi_live_state(live) == APAPI_LIVE_STARTING; i++) {
        nanosleep(&pause, NULL);
    }
    page_add_events(page);
    page_add_domains(page);
    return page;
}

/* @return the page's events; a domain that no event shows is an event of its own. */
static struct event_table page_events(const struct page *page)
{
    return (struct event_table){page->events, sizeof *page->events, page->count};
}

/* @return whether the page has figures of a resource. @param page  NULL: no page */
static bool page_has(const struct page *page, enum resource resource)
{
    const struct event_table events = page ? page_events(page) : (struct event_table){NULL, 0, 0};
    struct map map;
    bool has = map_build(&map, resource, &events) == 0 && map.count > 0;

    map_clear(&map);
    return has;
}

/* Count from now on. @param now_ns  CLOCK_MONOTONIC [ns] */
static void page_start(struct page *page, uint64_t now_ns)
{
    page->start_ns = now_ns;
    for (size_t i = 0; i < page->count; i++) {
        struct apapi_live_slot copy;

        page->begin_j[i] = apapi_live_read(page->slots[i], &copy)
                               ? apapi_live_energy_at_j(&copy, now_ns)
                               : (double)NAN;
        page->courses[i] = (struct course){0};
        page->figures[i] = course_figure(&page->courses[i]);
    }
}

/* If the start was before the first known total, the energy at the start follows from the power. */
static struct figure page_energy(struct page *page, size_t index,
                                 const struct apapi_live_slot *slot, uint64_t now_ns)
{
    double seconds = (double)(now_ns - page->start_ns) / 1e9, energy_j;

    if (isnan(page->begin_j[index])) {
        double since_s = ((double)slot->time_ns - (double)page->start_ns) / 1e9;

        energy_j = slot->total - slot->rate * since_s;
        page->begin_j[index] = energy_j < 0 ? 0 : energy_j;
    }
    energy_j = apapi_live_energy_at_j(slot, now_ns) - page->begin_j[index];
    energy_j = energy_j < 0 ? 0 : energy_j;
    return (struct figure){.total = energy_j,
                           .mean = seconds > 0 ? energy_j / seconds : NAN,
                           .max = NAN,
                           .sum = NAN,
                           .now = slot->rate};
}

/* Read all figures since the start. @return one for each event, valid until the next call */
static const struct figure *page_read(struct page *page, uint64_t now_ns)
{
    for (size_t i = 0; i < page->count; i++) {
        struct apapi_live_slot copy;

        if (!apapi_live_read(page->slots[i], &copy)) {
            continue; /* the figure stays */
        }
        if (page_is_energy(&page->events[i])) {
            page->figures[i] = page_energy(page, i, &copy, now_ns);
            continue;
        }
        if (isfinite(copy.rate)) {
            course_add(&page->courses[i], copy.rate, now_ns);
        }
        page->figures[i] = course_figure(&page->courses[i]);
    }
    return page->figures;
}

static void page_close(struct page *page)
{
    if (page) {
        apapi_live_close(page->live);
        free(page);
    }
}

/* --- what can be measured --- */

/* How a resource is measured. */
enum way { WAY_NONE, WAY_METER, WAY_PAGE };

/* The way to measure a resource, and the component for it. */
struct choice {
    enum way way;
    const char *component; /* of WAY_METER; static storage */
};

/* The session that reads the meters of all resources with WAY_METER. */
struct meters {
    const char *order; /* APAPI_SOURCES */
    struct apapi_environment environment;
    struct apapi_event_rules rules; /* without lists: each event that has a field is measured */
    bool old_events;                /* the user has a list: look for the original's events, too */
    struct apapi_session *session;  /* NULL: there is nothing to measure */
    char components[RESOURCES * APAPI_COMPONENT_SIZE];
    struct apapi_intervals intervals;
};

#define AMD_GPUS "rocm_smi"

/* The requested components, and why one cannot be measured. */
struct asked {
    bool wanted[RESOURCES];
    const char *order; /* APAPI_SOURCES; NULL: each component's own order */
    struct apapi_error reasons[RESOURCES];
};

static int choice_want(struct asked *asked, const char *word, size_t length)
{
    char names[128];
    size_t used = 0;

    for (int r = 0; r < RESOURCES && used < sizeof names; r++) {
        const char *component = resource_rows[r].component;

        if (strlen(component) == length && strncmp(component, word, length) == 0) {
            asked->wanted[r] = true;
            return 0;
        }
        used +=
            (size_t)snprintf(names + used, sizeof names - used, "%s%s", r ? ", " : "", component);
    }
    say("APAPI_CMPLIST: %s'%.*s': valid are %s", length ? "unknown component " : "an empty entry, ",
        (int)length, word, names);
    return -1;
}

/* @param list  APAPI_CMPLIST; NULL: all that can be measured */
static int choice_read_list(struct asked *asked, const char *list)
{
    for (int r = 0; r < RESOURCES; r++) {
        asked->wanted[r] = list == NULL;
    }
    while (list) {
        size_t length = strcspn(list, ":");

        if (choice_want(asked, list, length)) {
            return -1;
        }
        list = list[length] ? list + length + 1 : NULL;
    }
    return 0;
}

/* @return whether a component can be measured; the reason of a resource's first one is kept. */
static bool choice_try(struct asked *asked, enum resource resource, const char *component)
{
    struct apapi_error reason = {""};
    struct apapi_reader *reader = apapi_catalog_open(component, asked->order, &reason);

    if (!reader && !asked->reasons[resource].text[0]) {
        asked->reasons[resource] = reason;
    }
    apapi_catalog_close(reader);
    return reader != NULL;
}

static struct choice choice_find(struct asked *asked, enum resource resource,
                                 const struct page *page)
{
    const char *component = resource_rows[resource].component;

    if (choice_try(asked, resource, component)) {
        return (struct choice){WAY_METER, component};
    }
    if (resource == RESOURCE_GPU && choice_try(asked, resource, AMD_GPUS)) {
        return (struct choice){WAY_METER, AMD_GPUS};
    }
    return (struct choice){page_has(page, resource) ? WAY_PAGE : WAY_NONE, NULL};
}

/*
 * Find out what can be measured. Opens devices; prints problems.
 * @param page  the live page of this process's step; NULL: none
 * @return 0; -1: a variable is wrong, or nothing can be measured
 */
static int choice_make(struct choice choices[RESOURCES], const struct meters *meters,
                       const struct page *page)
{
    const char *list = meters->environment.components;
    struct asked asked = {.order = meters->order};
    struct apapi_error err;
    int found = 0;

    if (asked.order && apapi_catalog_check_order(asked.order, &err)) {
        say("APAPI_SOURCES: %s", err.text);
        return -1;
    }
    if (choice_read_list(&asked, list)) {
        return -1;
    }
    for (int r = 0; r < RESOURCES; r++) {
        if (asked.wanted[r]) {
            apapi_catalog_want(resource_rows[r].component);
        }
    }
    if (asked.wanted[RESOURCE_GPU]) {
        apapi_catalog_want(AMD_GPUS);
    }
    if (meters->old_events) {
        map_want_old_events();
    }
    for (int r = 0; r < RESOURCES; r++) {
        choices[r] =
            asked.wanted[r] ? choice_find(&asked, r, page) : (struct choice){WAY_NONE, NULL};
        found += choices[r].way != WAY_NONE;
    }
    if (found == 0) {
        say("nothing can be measured here");
    }
    for (int r = 0; r < RESOURCES && (found == 0 || list); r++) {
        if (asked.wanted[r] && choices[r].way == WAY_NONE) {
            say("%s is not measured: %s", resource_rows[r].component, asked.reasons[r].text);
        }
    }
    return found ? 0 : -1;
}

/* --- the session --- */

#define PATIENCE_NS UINT64_C(5000000000) /* for GPUs and a BMC, which have been opened before */

static void meters_say_problem(const struct apapi_problem *problem, void *context)
{
    (void)context;
    say("%s", problem->text);
}

static int meters_init(struct meters *meters)
{
    const struct apapi_problem_sink sink = {meters_say_problem, NULL};
    struct apapi_error err;

    meters->order = secure_getenv("APAPI_SOURCES");
    apapi_environment_read(&meters->environment);
    if (apapi_event_rules_load(&meters->rules, &meters->environment, NULL, &sink, &err)) {
        say("%s", err.text);
        return -1;
    }
    meters->old_events = meters->rules.user_list != NULL;
    apapi_eventlist_destroy(meters->rules.user_list);
    meters->rules.user_list = NULL;
    return 0;
}

static void meters_want(struct meters *wanted, const struct choice choices[RESOURCES],
                        const struct target targets[RESOURCES])
{
    size_t used = 0;

    memset(wanted, 0, sizeof *wanted);
    wanted->intervals.default_ns = APAPI_INTERVAL_DEFAULT_NS;
    for (int r = 0; r < RESOURCES; r++) {
        if (targets[r].measurement && choices[r].way == WAY_METER) {
            struct apapi_named_interval *named =
                &wanted->intervals.named[wanted->intervals.count++];

            used += (size_t)snprintf(wanted->components + used, sizeof wanted->components - used,
                                     "%s%s", used ? ":" : "", choices[r].component);
            snprintf(named->component, sizeof named->component, "%s", choices[r].component);
            named->interval_ns = targets[r].interval_ns;
        }
    }
}

static bool meters_are_same(const struct meters *a, const struct meters *b)
{
    for (size_t i = 0; i < a->intervals.count && a->intervals.count == b->intervals.count; i++) {
        if (a->intervals.named[i].interval_ns != b->intervals.named[i].interval_ns) {
            return false;
        }
    }
    return strcmp(a->components, b->components) == 0;
}

static int meters_open(struct meters *meters, const struct choice choices[RESOURCES],
                       const struct target targets[RESOURCES], apapi_sample_f on_sample,
                       void *context)
{
    const struct apapi_session_config config = {.components = meters->components,
                                                .all_results = true,
                                                .sources = meters->order,
                                                .intervals = &meters->intervals,
                                                .rules = &meters->rules,
                                                .softfail = true, /* for old event definitions */
                                                .patience_ns = PATIENCE_NS,
                                                .on_sample = on_sample,
                                                .context = context};
    struct apapi_error err;
    struct meters wanted;

    meters_want(&wanted, choices, targets);
    if (meters->session && meters_are_same(meters, &wanted)) {
        return 0;
    }
    apapi_session_destroy(meters->session);
    meters->session = NULL;
    memcpy(meters->components, wanted.components, sizeof meters->components);
    meters->intervals = wanted.intervals;
    if (!*meters->components) {
        return 0;
    }
    meters->session = apapi_session_create(&config, &err);
    if (!meters->session) {
        say("%s", err.text);
        return -1;
    }
    return 0;
}

/* --- a thread that calls a function at an interval; it receives no signals --- */

typedef void (*ticker_f)(void *context);

#define NS_PER_S UINT64_C(1000000000)

struct ticker {
    uint64_t interval_ns;
    ticker_f call; /* NULL: there is no thread */
    void *context;
    pthread_t thread;
    sem_t end;
};

static uint64_t ticker_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Missed calls are left out. */
static void *ticker_run(void *argument)
{
    struct ticker *ticker = argument;
    uint64_t next_ns = ticker_now_ns() + ticker->interval_ns;

    for (;;) {
        const struct timespec until = {(time_t)(next_ns / NS_PER_S), (long)(next_ns % NS_PER_S)};
        uint64_t now_ns;

        if (sem_clockwait(&ticker->end, CLOCK_MONOTONIC, &until) == 0) {
            return NULL;
        }
        now_ns = ticker_now_ns();
        if (now_ns >= next_ns) {
            ticker->call(ticker->context);
            next_ns += ((now_ns - next_ns) / ticker->interval_ns + 1) * ticker->interval_ns;
        }
    }
}

static void ticker_stop(struct ticker *ticker)
{
    if (ticker->call) {
        sem_post(&ticker->end);
        pthread_join(ticker->thread, NULL);
        sem_destroy(&ticker->end);
        ticker->call = NULL;
    }
}

/* @return 0; -1: no thread */
static int ticker_start(struct ticker *ticker, uint64_t interval_ns, ticker_f call, void *context)
{
    sigset_t all, before;
    int error;

    *ticker = (struct ticker){.interval_ns = interval_ns, .call = call, .context = context};
    sem_init(&ticker->end, 0, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&ticker->thread, NULL, ticker_run, ticker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error) {
        ticker->call = NULL;
        return -1;
    }
    return 0;
}

/* --- measuring --- */

struct measure {
    pthread_mutex_t control; /* one call of the program at a time */
    pthread_mutex_t lock; /* of `targets` and `machine`; not held while waiting for the session */
    struct choice choices[RESOURCES];
    struct target targets[RESOURCES];
    struct meters meters;
    struct page *page; /* NULL: there is none */
    struct ticker ticker;
    struct machine *machine;
    bool prepared, running, session_running;
    uint64_t page_start_ns;
};

struct measure *measure_create(void)
{
    struct measure *measure = calloc(1, sizeof *measure);

    if (!measure) {
        say("no memory");
        return NULL;
    }
    pthread_mutex_init(&measure->control, NULL);
    pthread_mutex_init(&measure->lock, NULL);
    for (int r = 0; r < RESOURCES; r++) {
        measure->targets[r].resource = r;
    }
    measure->page = page_open();
    if (meters_init(&measure->meters) ||
        choice_make(measure->choices, &measure->meters, measure->page)) {
        measure_destroy(measure);
        return NULL;
    }
    return measure;
}

bool measure_has(const struct measure *measure, enum resource resource)
{
    return measure->choices[resource].way != WAY_NONE;
}

/* Read figures that the events do not have. */
static void measure_read_machine(struct measure *measure)
{
    struct target *cpu = &measure->targets[RESOURCE_CPU];

    if (measure->machine && cpu->measurement) {
        machine_read(measure->machine, PART_ALL & ~cpu->map.parts, ticker_now_ns(),
                     cpu->measurement);
    }
}

static struct target *measure_find(struct measure *measure, const char *component)
{
    for (int r = 0; r < RESOURCES; r++) {
        const struct choice *choice = &measure->choices[r];

        if (choice->way == WAY_METER && strcmp(choice->component, component) == 0) {
            return &measure->targets[r];
        }
    }
    return NULL;
}

/* Store all figures of a resource at once. */
static void measure_take_sample(const struct apapi_sample *sample, void *context)
{
    struct measure *measure = context;
    struct target *target;

    pthread_mutex_lock(&measure->lock);
    target = measure_find(measure, sample->component);
    if (target && target->measurement) {
        target_take_sample(target, sample);
        if (target->resource == RESOURCE_CPU) {
            measure_read_machine(measure);
        }
    }
    pthread_mutex_unlock(&measure->lock);
}

static bool measure_uses_page(const struct measure *measure, enum resource resource)
{
    return measure->choices[resource].way == WAY_PAGE && measure->targets[resource].measurement;
}

static void measure_take_page(struct measure *measure, uint64_t now_ns)
{
    const struct event_table events = page_events(measure->page);
    const struct figure *figures = page_read(measure->page, now_ns);

    for (int r = 0; r < RESOURCES; r++) {
        if (measure_uses_page(measure, r)) {
            target_take_figures(&measure->targets[r], &events, figures,
                                now_ns - measure->page_start_ns);
        }
    }
    if (measure_uses_page(measure, RESOURCE_CPU)) {
        measure_read_machine(measure);
    }
}

static void measure_tick(void *context)
{
    struct measure *measure = context;

    pthread_mutex_lock(&measure->lock);
    measure_take_page(measure, ticker_now_ns());
    pthread_mutex_unlock(&measure->lock);
}

void measure_prepare(struct measure *measure, const struct ms_list *list, int flags)
{
    pthread_mutex_lock(&measure->control);
    if (measure->running) {
        say("ms_init_measurement: a measurement is running");
        pthread_mutex_unlock(&measure->control);
        return;
    }
    measure->prepared = true;
    pthread_mutex_lock(&measure->lock);
    for (int r = 0; r < RESOURCES; r++) {
        struct target *target = &measure->targets[r];
        void *measurement = flags & resource_rows[r].flag ? list_find(list, r) : NULL;

        target_clear(target);
        if (measurement && measure_has(measure, r)) {
            target->interval_ns = target_interval_ns(r, measurement);
            target->measurement = measurement;
        }
    }
    pthread_mutex_unlock(&measure->lock);
    /* the lock is not held: a session that is closed may be in a call of measure_take_sample() */
    if (meters_open(&measure->meters, measure->choices, measure->targets, measure_take_sample,
                    measure)) {
        for (int r = 0; r < RESOURCES; r++) {
            if (measure->choices[r].way == WAY_METER) {
                measure->targets[r].measurement = NULL;
            }
        }
    }
    if (measure->targets[RESOURCE_CPU].measurement && !measure->machine) {
        measure->machine = machine_open();
    }
    pthread_mutex_unlock(&measure->control);
}

/* @return the shortest interval; 0: no resource needs the page [ns] */
static uint64_t measure_page_interval_ns(const struct measure *measure)
{
    uint64_t shortest_ns = 0;

    for (int r = 0; r < RESOURCES; r++) {
        uint64_t interval_ns = measure->targets[r].interval_ns;

        if (measure_uses_page(measure, r) && (shortest_ns == 0 || interval_ns < shortest_ns)) {
            shortest_ns = interval_ns;
        }
    }
    return shortest_ns;
}

static void measure_start_page(struct measure *measure)
{
    uint64_t interval_ns = measure_page_interval_ns(measure);

    if (interval_ns == 0) {
        return;
    }
    measure->page_start_ns = ticker_now_ns();
    page_start(measure->page, measure->page_start_ns);
    measure_tick(measure);
    if (ticker_start(&measure->ticker, interval_ns, measure_tick, measure)) {
        say("no thread: only the beginning and the end are read");
    }
}

void measure_start(struct measure *measure)
{
    struct meters *meters = &measure->meters;
    struct apapi_error err;

    pthread_mutex_lock(&measure->control);
    if (measure->running) {
        say("ms_start_measurement: the measurement is running");
    } else if (!measure->prepared) {
        say("ms_start_measurement: there was no ms_init_measurement()");
    } else {
        pthread_mutex_lock(&measure->lock);
        for (int r = 0; r < RESOURCES; r++) {
            if (measure->targets[r].measurement) {
                target_start(&measure->targets[r]);
            }
        }
        if (measure->machine) {
            machine_start(measure->machine);
        }
        pthread_mutex_unlock(&measure->lock);
        measure_start_page(measure);
        measure->session_running =
            meters->session && apapi_session_start(meters->session, 0, &err) == 0;
        if (meters->session && !measure->session_running) {
            say("not measured: %s", err.text);
        }
        measure->running = true;
    }
    pthread_mutex_unlock(&measure->control);
}

static void measure_take_result(struct measure *measure, const struct apapi_measurement *m)
{
    for (size_t i = 0; i < m->component_count; i++) {
        const struct apapi_component_result *result = &m->components[i];
        struct target *target = measure_find(measure, result->name);

        if (*result->reason) {
            say("%s: %s", result->name, result->reason);
        }
        if (target && target->measurement) {
            target_take_result(target, result, m->elapsed_ns);
        }
    }
}

/* Make all readings before anything is stored. */
static void measure_finish(struct measure *measure)
{
    struct apapi_measurement m = {0};
    struct apapi_error err;
    uint64_t now_ns;

    ticker_stop(&measure->ticker);
    now_ns = ticker_now_ns();
    if (measure->session_running) {
        apapi_session_stop(measure->meters.session, NULL);
        if (apapi_session_measurement(measure->meters.session, &m, &err)) {
            say("no figures: %s", err.text);
        }
    }
    pthread_mutex_lock(&measure->lock);
    measure_take_result(measure, &m);
    if (measure_page_interval_ns(measure) > 0) {
        measure_take_page(measure, now_ns);
    }
    measure_read_machine(measure);
    pthread_mutex_unlock(&measure->lock);
    apapi_measurement_clear(&m);
    measure->running = measure->session_running = false;
}

void measure_stop(struct measure *measure, const char *late)
{
    pthread_mutex_lock(&measure->control);
    if (measure->running) {
        if (late) {
            say("%s", late);
        }
        measure_finish(measure);
    }
    pthread_mutex_unlock(&measure->control);
}

void measure_forget(struct measure *measure, const void *measurement)
{
    pthread_mutex_lock(&measure->lock);
    for (int r = 0; r < RESOURCES; r++) {
        if (measure->targets[r].measurement == measurement) {
            target_clear(&measure->targets[r]);
        }
    }
    pthread_mutex_unlock(&measure->lock);
}

void measure_destroy(struct measure *measure)
{
    ticker_stop(&measure->ticker);
    apapi_session_destroy(measure->meters.session);
    apapi_event_rules_clear(&measure->meters.rules);
    for (int r = 0; r < RESOURCES; r++) {
        target_clear(&measure->targets[r]);
    }
    machine_close(measure->machine);
    page_close(measure->page);
    pthread_mutex_destroy(&measure->lock);
    pthread_mutex_destroy(&measure->control);
    free(measure);
}
