/* SPDX-License-Identifier: BSD-3-Clause */
#include "fake/counters/fake_counters.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define OK 0
#define EINVALID (-1)
#define ENOEVENT (-7)
#define ECONFLICT (-8)
#define EISRUN (-10)
#define VERSION (7 << 24 | 1 << 16)
#define SETS_MAX 256
#define EVENTS_MAX 8
#define TOGETHER_MAX 4
#define CODE 0x40000000
#define POWER 6

#define FAKE_API __attribute__((visibility("default")))

static const char *const components[] = {"perf_event", "fake", "other", "fak", "perf_event_uncore"};
enum { PERF_EVENT, FAKE, OTHER, FAK, UNCORE, COMPONENTS };

static const struct {
    const char *name;
    int component;
} events[] = {
    {"perf::TASK-CLOCK", PERF_EVENT}, {"PAPI_TOT_INS", PERF_EVENT}, {"PAPI_VEC_DP", PERF_EVENT},
    {"PAPI_SP_OPS", PERF_EVENT},      {"EXTRA", PERF_EVENT},        {"fake:::steps", FAKE},
    {"fake:::power", FAKE},
};
#define EVENTS ((int)(sizeof events / sizeof *events))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool disabled[COMPONENTS];
static bool started;
static struct {
    bool used, running, multiplex;
    int events[EVENTS_MAX];
    int count;
    long long readings;
} sets[SETS_MAX];

FAKE_API int fake_counters_disabled(const char *component)
{
    for (int i = 0; i < COMPONENTS; i++) {
        if (strcmp(components[i], component) == 0) {
            return disabled[i];
        }
    }
    return -1;
}

FAKE_API int fake_counters_sets(const char *nothing)
{
    int count = 0;

    (void)nothing;
    for (int i = 0; i < SETS_MAX; i++) {
        count += sets[i].used;
    }
    return count;
}

FAKE_API int PAPI_is_initialized(void);
FAKE_API int PAPI_library_init(int version);
FAKE_API int PAPI_thread_init(unsigned long (*self)(void));
FAKE_API int PAPI_register_thread(void);
FAKE_API int PAPI_num_components(void);
FAKE_API const char *PAPI_get_component_info(int component);
FAKE_API int PAPI_disable_component(int component);
FAKE_API int PAPI_event_name_to_code(const char *name, int *code);
FAKE_API int PAPI_get_event_component(int code);
FAKE_API int PAPI_multiplex_init(void);
FAKE_API int PAPI_assign_eventset_component(int set, int component);
FAKE_API int PAPI_set_multiplex(int set);
FAKE_API int PAPI_create_eventset(int *set);
FAKE_API int PAPI_add_event(int set, int code);
FAKE_API int PAPI_start(int set);
FAKE_API int PAPI_read(int set, long long *values);
FAKE_API int PAPI_stop(int set, long long *values);
FAKE_API int PAPI_cleanup_eventset(int set);
FAKE_API int PAPI_destroy_eventset(int *set);
FAKE_API char *PAPI_strerror(int code);

int PAPI_is_initialized(void)
{
    return started;
}

int PAPI_library_init(int version)
{
    if (version != VERSION) {
        return EINVALID;
    }
    started = true;
    return version;
}

int PAPI_thread_init(unsigned long (*self)(void))
{
    return self && started ? OK : EINVALID;
}

int PAPI_register_thread(void)
{
    return started ? OK : EINVALID;
}

int PAPI_num_components(void)
{
    return COMPONENTS;
}

const char *PAPI_get_component_info(int component)
{
    return components[component];
}

int PAPI_disable_component(int component)
{
    disabled[component] = !started;
    return OK;
}

int PAPI_event_name_to_code(const char *name, int *code)
{
    for (int i = 0; i < EVENTS; i++) {
        if (strcmp(events[i].name, name) == 0 && !disabled[events[i].component]) {
            *code = CODE | i;
            return OK;
        }
    }
    return ENOEVENT;
}

int PAPI_get_event_component(int code)
{
    return events[code & ~CODE].component;
}

int PAPI_multiplex_init(void)
{
    return OK;
}

int PAPI_assign_eventset_component(int set, int component)
{
    return sets[set].used && component == PERF_EVENT ? OK : EINVALID;
}

int PAPI_set_multiplex(int set)
{
    sets[set].multiplex = true;
    return OK;
}

int PAPI_create_eventset(int *set)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < SETS_MAX; i++) {
        if (!sets[i].used) {
            memset(&sets[i], 0, sizeof sets[i]);
            sets[i].used = true;
            *set = i;
            pthread_mutex_unlock(&lock);
            return OK;
        }
    }
    abort();
}

int PAPI_add_event(int set, int code)
{
    int event = code & ~CODE;

    if (sets[set].count > 0 && events[sets[set].events[0]].component != events[event].component) {
        return EINVALID;
    }
    if (sets[set].count == (sets[set].multiplex ? EVENTS_MAX : TOGETHER_MAX)) {
        return ECONFLICT;
    }
    sets[set].events[sets[set].count++] = event;
    return OK;
}

int PAPI_start(int set)
{
    if (sets[set].running) {
        return EISRUN;
    }
    sets[set].running = true;
    return OK;
}

static bool fails(long long readings)
{
    const char *limit = getenv("FAKE_COUNTERS_FAIL");

    return limit && readings > strtoll(limit, NULL, 10);
}

int PAPI_read(int set, long long *values)
{
    if (!sets[set].running || fails(++sets[set].readings)) {
        return EINVALID;
    }
    for (int i = 0; i < sets[set].count; i++) {
        int event = sets[set].events[i];

        values[i] = event == POWER ? 42 : 10 * sets[set].readings * (event + 1);
    }
    return OK;
}

int PAPI_stop(int set, long long *values)
{
    sets[set].running = false;
    return values ? EINVALID : OK;
}

int PAPI_cleanup_eventset(int set)
{
    sets[set].count = 0;
    return sets[set].running ? EISRUN : OK;
}

int PAPI_destroy_eventset(int *set)
{
    pthread_mutex_lock(&lock);
    sets[*set].used = false;
    pthread_mutex_unlock(&lock);
    *set = EINVALID;
    return OK;
}

char *PAPI_strerror(int code)
{
    static char text[] = "fake error";

    (void)code;
    return text;
}
