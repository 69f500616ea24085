/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/word.h"
#include "sources/sources.h"
#include "sources/turn.h"

/* Which sources read a component, best first, and what they call it. */
struct route {
    const char *component;
    struct apapi_way ways[APAPI_WAYS_MAX];
};

static const struct route routes[] = {
    {"rapl",
     {{&apapi_source_papi, "rapl"},
      {&apapi_source_sysfs, "rapl"},
      {&apapi_source_papi, "perf_event_uncore"},
      {&apapi_source_papi, "powercap"}}},
    {"powercap", {{&apapi_source_sysfs, "powercap"}, {&apapi_source_papi, "powercap"}}},
    {"hwmon", {{&apapi_source_sysfs, "hwmon"}}},
    {"intel_gpu", {{&apapi_source_sysfs, "intel_gpu"}, {&apapi_source_papi, "intel_gpu"}}},
    {"cray_pm", {{&apapi_source_sysfs, "cray_pm"}, {&apapi_source_papi, "cray_pm"}}},
    {"ipmi", {{&apapi_source_ipmi, "ipmi"}, {&apapi_source_papi, "ipmi"}}},
    {"maxeler", {{&apapi_source_papi, "maxeler"}}},
    {"micknc", {{&apapi_source_papi, "micknc"}}},
    {"estimate", {{&apapi_source_estimate, "estimate"}}},
    {"nvml", {{&apapi_source_nvml, "nvml"}, {&apapi_source_papi_gpu, "nvml"}}},
    {"rocm_smi",
     {{&apapi_source_rocm, "rocm_smi"},
      {&apapi_source_rocm, "amd_smi"},
      {&apapi_source_papi_gpu, "rocm_smi"}}},
    {"amd_smi",
     {{&apapi_source_rocm, "amd_smi"},
      {&apapi_source_rocm, "rocm_smi"},
      {&apapi_source_papi_gpu, "amd_smi"}}},
};
#define ROUTE_COUNT (sizeof routes / sizeof *routes)

static const struct apapi_source *const sources[] = {&apapi_source_sysfs,
                                                     &apapi_source_papi,
                                                     &apapi_source_ipmi,
                                                     &apapi_source_estimate,
                                                     &apapi_source_nvml,
                                                     &apapi_source_rocm,
                                                     NULL};

static const struct route *find_route(const char *component)
{
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        if (strcmp(routes[i].component, component) == 0) {
            return &routes[i];
        }
    }
    return NULL;
}

/* The route of any other component: PAPI by that name. */
static struct route any_route(const char *component)
{
    const struct route *route = find_route(component);

    return route ? *route : (struct route){component, {{&apapi_source_papi, component}}};
}

size_t apapi_route_ways(const char *component, struct apapi_way ways[APAPI_WAYS_MAX])
{
    const struct route route = any_route(component);
    size_t count = 0;

    while (count < APAPI_WAYS_MAX && route.ways[count].source) {
        ways[count] = route.ways[count];
        count++;
    }
    return count;
}

bool apapi_route_own(const char *component)
{
    return find_route(component) != NULL;
}

bool apapi_route_known(const char *component)
{
    struct apapi_error ignored;

    return find_route(component) || apapi_source_papi.probe(component, &ignored) == 0;
}

struct listing {
    apapi_component_f visit;
    void *context;
};

static void list_unrouted(const char *name, void *context)
{
    const struct listing *listing = context;

    if (!find_route(name)) {
        listing->visit(name, listing->context);
    }
}

int apapi_route_papi_check(const char *component, struct apapi_error *err)
{
    return apapi_source_papi.probe(component, err);
}

void apapi_route_list(apapi_component_f visit, void *context)
{
    struct listing listing = {visit, context};

    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        visit(routes[i].component, context);
    }
    apapi_source_papi.list(list_unrouted, &listing);
}

void apapi_route_want(const char *component)
{
    const struct route route = any_route(component);

    for (size_t i = 0; i < APAPI_WAYS_MAX && route.ways[i].source; i++) {
        if (route.ways[i].source->want) {
            route.ways[i].source->want(route.ways[i].name);
        }
    }
}

void apapi_route_want_event(const char *pattern)
{
    for (size_t i = 0; sources[i]; i++) {
        if (sources[i]->want_event) {
            sources[i]->want_event(pattern);
        }
    }
}

/* The next word of "a:b" starting at *rest. @return its length, 0 at the end. */
static size_t next_word(const char **word, const char **rest)
{
    *word = *rest;
    *rest += strcspn(*rest, ":");
    size_t length = (size_t)(*rest - *word);
    *rest += **rest == ':';
    return length;
}

static const struct apapi_source *find_source(const char *word, size_t length)
{
    for (size_t i = 0; sources[i]; i++) {
        if (word_is(word, length, sources[i]->name)) {
            return sources[i];
        }
    }
    return NULL;
}

static void list_sources(struct apapi_error *names)
{
    size_t used = 0;

    for (size_t i = 0; sources[i] && used < sizeof names->text; i++) {
        used += (size_t)snprintf(names->text + used, sizeof names->text - used, "%s%s",
                                 used ? ", " : "", sources[i]->name);
    }
}

int apapi_route_order_check(const char *order, struct apapi_error *err)
{
    const char *word, *rest = order;

    do {
        size_t length = next_word(&word, &rest);

        if (!find_source(word, length)) {
            struct apapi_error known = {""};

            list_sources(&known);
            return apapi_fail(err, EINVAL, "unknown source '%.*s'; available: %.160s", (int)length,
                              word, known.text);
        }
    } while (*rest);
    return 0;
}

static bool is_in_order(const struct apapi_source *source, const char *order)
{
    const char *word, *rest = order;

    while (*rest) {
        size_t length = next_word(&word, &rest);

        if (strcmp(find_source(word, length)->name, source->name) == 0) {
            return true;
        }
    }
    return false;
}

bool apapi_route_slow(const char *component, const char *order)
{
    const struct route route = any_route(component);

    for (size_t i = 0; i < APAPI_WAYS_MAX && route.ways[i].source; i++) {
        const struct apapi_source *source = route.ways[i].source;

        if (source->slow && (!order || is_in_order(source, order))) {
            return true;
        }
    }
    return false;
}

/* The reasons of all ways that failed, in one sentence; the errno that says most to the user. */
struct failures {
    struct apapi_error all;
    int code;
};

static int weight(int code)
{
    switch (code) {
    case EACCES:
        return 4; /* there is a meter: a right is missing */
    case ENODEV:
        return 2;
    case ENOSYS:
        return 1;
    case ENOENT:
        return 0;
    default:
        return 3;
    }
}

static void add_failure(struct failures *failures, const char *text, int code)
{
    size_t used = strlen(failures->all.text);

    if (strstr(failures->all.text, text)) {
        return;
    }
    if (used && weight(code) == weight(failures->code)) {
        snprintf(failures->all.text + used, sizeof failures->all.text - used, "; %s", text);
    } else if (!used || weight(code) > weight(failures->code)) {
        snprintf(failures->all.text, sizeof failures->all.text, "%s", text);
        failures->code = code;
    }
}

static struct apapi_reader *try_ways(const struct route *route, const struct apapi_source *only,
                                     struct failures *failures)
{
    for (const struct apapi_way *way = route->ways;
         way < route->ways + APAPI_WAYS_MAX && way->source; way++) {
        struct apapi_error why = {""};
        struct apapi_reader *reader;

        if (only && strcmp(way->source->name, only->name) != 0) {
            continue;
        }
        reader = source_open(way->source, way->name, &why);
        if (reader) {
            return reader; // cppcheck-suppress returnDanglingLifetime ; it does not keep `why`
        }
        add_failure(failures, why.text, errno);
    }
    return NULL;
}

static struct apapi_reader *try_order(const struct route *route, const char *order,
                                      struct failures *failures)
{
    const char *word, *rest = order;
    struct apapi_reader *reader = NULL;

    while (!reader && *rest) {
        size_t length = next_word(&word, &rest);

        reader = try_ways(route, find_source(word, length), failures);
    }
    return reader;
}

struct apapi_reader *apapi_route_open(const char *component, const char *order,
                                      struct apapi_error *err)
{
    const struct route route = any_route(component);
    struct failures failures = {.code = ENOSYS};
    struct apapi_reader *reader =
        order ? try_order(&route, order, &failures) : try_ways(&route, NULL, &failures);

    if (!reader) {
        apapi_fail(err, failures.code, "%s",
                   *failures.all.text ? failures.all.text : "none of the chosen sources reads it");
    }
    return reader;
}
