/* SPDX-License-Identifier: BSD-3-Clause */
#include "ms_common/measure.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ms_common/field.h"
#include "ms_common/machine.h"
#include "ms_common/meters.h"
#include "ms_common/page.h"
#include "ms_common/say.h"
#include "ms_common/ticker.h"

#define PARTS_ALL (PART_TEMPERATURE | PART_FREQUENCY | PART_TIME | PART_MEMORY)

struct measure {
    pthread_mutex_t control; /* one order at a time */
    pthread_mutex_t lock; /* `targets` and `machine`; never held while the session is waited for */
    struct choice choices[RESOURCES];
    struct target targets[RESOURCES];
    struct meters meters;
    struct page *page; /* NULL: there is none */
    struct ticker *ticker;
    struct machine *machine;
    bool running, session_running;
    uint64_t page_start_ns;
};

static int measure_choose(struct measure *measure)
{
    const struct meters *meters = &measure->meters;
    const struct question question = {meters->order, meters->environment.components,
                                      meters->old_events};

    return choice_make(measure->choices, &question, measure->page);
}

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
    if (meters_init(&measure->meters) || measure_choose(measure)) {
        measure_destroy(measure);
        return NULL;
    }
    return measure;
}

bool measure_has(const struct measure *measure, enum resource resource)
{
    return measure->choices[resource].way != WAY_NONE;
}

/* The other way round than stored: what is read of the machine because the events do not have it.
 */
static unsigned measure_parts(const struct measure *measure)
{
    return PARTS_ALL & ~measure->targets[RESOURCE_CPU].map.parts;
}

static void measure_read_machine(struct measure *measure)
{
    struct target *cpu = &measure->targets[RESOURCE_CPU];

    if (measure->machine && cpu->measurement) {
        machine_read(measure->machine, measure_parts(measure), ticker_now_ns(), cpu->measurement);
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

/* All that a resource shows is stored in one go. */
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

/* The lock is not held: a session that is closed may be in a call of measure_take_sample(). */
static void measure_open_meters(struct measure *measure)
{
    if (meters_open(&measure->meters, measure->choices, measure->targets, measure_take_sample,
                    measure) == 0) {
        return;
    }
    for (int r = 0; r < RESOURCES; r++) {
        if (measure->choices[r].way == WAY_METER) {
            measure->targets[r].measurement = NULL;
        }
    }
}

static void measure_aim(struct measure *measure, enum resource resource, void *measurement)
{
    struct target *target = &measure->targets[resource];

    target_clear(target);
    if (measurement && measure_has(measure, resource)) {
        target->interval_ns = target_interval_ns(resource, measurement);
        target->measurement = measurement;
    }
}

void measure_prepare(struct measure *measure, const struct ms_list *list, int flags)
{
    pthread_mutex_lock(&measure->control);
    if (measure->running) {
        say("ms_init_measurement: a measurement is running");
        pthread_mutex_unlock(&measure->control);
        return;
    }
    pthread_mutex_lock(&measure->lock);
    for (int r = 0; r < RESOURCES; r++) {
        measure_aim(measure, r, flags & resource_flag(r) ? list_find(list, r) : NULL);
    }
    pthread_mutex_unlock(&measure->lock);
    measure_open_meters(measure);
    if (measure->targets[RESOURCE_CPU].measurement && !measure->machine) {
        measure->machine = machine_open();
    }
    pthread_mutex_unlock(&measure->control);
}

static void measure_clear_targets(struct measure *measure)
{
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
    measure->ticker = ticker_start(interval_ns, measure_tick, measure);
    if (!measure->ticker) {
        say("no thread: only the beginning and the end are read");
    }
}

static void measure_start_session(struct measure *measure)
{
    struct apapi_error err;

    if (!measure->meters.session) {
        return;
    }
    measure->session_running = apapi_session_start(measure->meters.session, 0, &err) == 0;
    if (!measure->session_running) {
        say("not measured: %s", err.text);
    }
}

void measure_start(struct measure *measure)
{
    pthread_mutex_lock(&measure->control);
    if (measure->running) {
        say("ms_start_measurement: the measurement is running");
    } else {
        measure_clear_targets(measure);
        measure_start_page(measure);
        measure_start_session(measure);
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

static void measure_finish_session(struct measure *measure, struct apapi_measurement *m)
{
    struct apapi_error err;

    apapi_session_stop(measure->meters.session, NULL);
    if (apapi_session_measurement(measure->meters.session, m, &err)) {
        say("no figures: %s", err.text);
    }
}

/* All readings have been made before anything is stored. */
static void measure_finish(struct measure *measure)
{
    struct apapi_measurement m = {0};
    uint64_t now_ns;

    ticker_stop(measure->ticker);
    measure->ticker = NULL;
    now_ns = ticker_now_ns();
    if (measure->session_running) {
        measure_finish_session(measure, &m);
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

void measure_stop(struct measure *measure)
{
    pthread_mutex_lock(&measure->control);
    if (measure->running) {
        measure_finish(measure);
    }
    pthread_mutex_unlock(&measure->control);
}

bool measure_is_running(struct measure *measure)
{
    bool running;

    pthread_mutex_lock(&measure->control);
    running = measure->running;
    pthread_mutex_unlock(&measure->control);
    return running;
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
    ticker_stop(measure->ticker);
    meters_clear(&measure->meters);
    for (int r = 0; r < RESOURCES; r++) {
        target_clear(&measure->targets[r]);
    }
    machine_close(measure->machine);
    page_close(measure->page);
    pthread_mutex_destroy(&measure->lock);
    pthread_mutex_destroy(&measure->control);
    free(measure);
}
