/* SPDX-License-Identifier: BSD-3-Clause */
#include "ms_common/target.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#define NS_PER_S UINT64_C(1000000000)

/* The interval was divided by the number of checks: whole microseconds stay the same. */
static uint64_t target_asked_ns(const struct timespec *wait, uint32_t checks)
{
    uint64_t part_ns = (uint64_t)wait->tv_sec * NS_PER_S + (uint64_t)wait->tv_nsec;
    uint64_t whole_ns;

    if (wait->tv_sec > (time_t)(APAPI_INTERVAL_MAX_NS / NS_PER_S) ||
        __builtin_mul_overflow(part_ns, checks ? checks : 1, &whole_ns)) {
        return UINT64_MAX;
    }
    return checks > 1 && whole_ns < UINT64_MAX - 1000 ? (whole_ns + 999) / 1000 * 1000 : whole_ns;
}

uint64_t target_interval_ns(enum resource resource, void *measurement)
{
    const struct timespec *wait = resource_wait(resource, measurement);
    uint64_t asked_ns;

    if (wait->tv_sec < 0 || wait->tv_nsec < 0) {
        return APAPI_INTERVAL_DEFAULT_NS;
    }
    asked_ns = target_asked_ns(wait, *resource_checks(resource, measurement));
    if (asked_ns < APAPI_INTERVAL_MIN_NS) {
        say("%s: an interval of 1 ms instead of a shorter one", resource_rows[resource].name);
        return APAPI_INTERVAL_MIN_NS;
    }
    if (asked_ns > APAPI_INTERVAL_MAX_NS) {
        say("%s: an interval of 1 h instead of a longer one", resource_rows[resource].name);
        return APAPI_INTERVAL_MAX_NS;
    }
    return asked_ns;
}

static void target_forget_events(struct target *target)
{
    map_clear(&target->map);
    free(target->figures);
    free(target->courses);
    target->figures = NULL;
    target->courses = NULL;
    target->mapped = false;
}

void target_start(struct target *target)
{
    target_forget_events(target);
    resource_clear(target->resource, target->measurement);
}

/* Once for each process: a program measures often. */
static void target_say_added(const struct map *map)
{
    static atomic_flag packages = ATOMIC_FLAG_INIT, gpus = ATOMIC_FLAG_INIT;

    if (map->packages > 2 && !atomic_flag_test_and_set(&packages)) {
        say("%u processor packages: those with even numbers are added up as CPU 0, the others as "
            "CPU 1",
            map->packages);
    }
    if (map->gpus > 1 && !atomic_flag_test_and_set(&gpus)) {
        say("%u GPUs: their energy, power and memory are added up", map->gpus);
    }
}

static bool target_map(struct target *target, const struct event_table *events)
{
    target->figures = calloc(events->count + 1, sizeof *target->figures);
    target->courses = calloc(events->count + 1, sizeof *target->courses);
    if (!target->figures || !target->courses || map_build(&target->map, target->resource, events)) {
        target_forget_events(target);
        return false;
    }
    target_say_added(&target->map);
    target->mapped = true;
    return true;
}

/* A counter's increment after a reading that failed is of all the time since the one before.
 */
static void target_go_on(struct course *course, const struct apapi_sample *sample, size_t i)
{
    uint64_t now_ns = sample->time_ns + 1;

    if (sample->events[i].accumulates) {
        if (!sample->readings[i].error) {
            course_count(course, sample->values[i], now_ns);
        }
    } else if (sample->readings[i].error || isnan(sample->values[i])) {
        course->last_ns = 0; /* nothing is known up to the next one */
    } else {
        course_add(course, sample->values[i], now_ns);
    }
}

static void target_put_runtime(struct target *target, uint64_t runtime_ns)
{
    number_put_double(resource_runtime(target->resource, target->measurement),
                      (double)runtime_ns / (double)NS_PER_S);
}

void target_take_sample(struct target *target, const struct apapi_sample *sample)
{
    const struct event_table events = {sample->events, sizeof *sample->events, sample->event_count};

    if (!target->mapped && !target_map(target, &events)) {
        return;
    }
    for (size_t i = 0; i < sample->event_count; i++) {
        target_go_on(&target->courses[i], sample, i);
        target->figures[i] = course_figure(&target->courses[i]);
    }
    map_store(&target->map, target->figures, target->measurement);
    target_put_runtime(target, sample->time_ns);
}

void target_take_result(struct target *target, const struct apapi_component_result *result,
                        uint64_t runtime_ns)
{
    const struct event_table events = {result->events, sizeof *result->events, result->event_count};

    target_forget_events(target); /* those of samples need not be the same */
    if (!target_map(target, &events)) {
        return;
    }
    for (size_t i = 0; i < result->event_count; i++) {
        const struct apapi_event_result *event = &result->events[i];

        target->figures[i] = (struct figure){
            .total = event->total,
            .mean = event->summary.mean,
            .max = event->summary.max,
            .sum = event->values[0].acc * event->values[0].factor, /* which divides raw values */
            .now = NAN};
    }
    map_store(&target->map, target->figures, target->measurement);
    target_put_runtime(target, runtime_ns);
}

void target_take_figures(struct target *target, const struct event_table *events,
                         const struct figure *figures, uint64_t runtime_ns)
{
    if (target->mapped || target_map(target, events)) {
        map_store(&target->map, figures, target->measurement);
        target_put_runtime(target, runtime_ns);
    }
}

void target_clear(struct target *target)
{
    target_forget_events(target);
    target->measurement = NULL;
}
