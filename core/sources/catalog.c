/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of components: what can be measured, and by which sources. */
#include "apapi/catalog.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "sources/sources.h"

/* The sources that read a component, best first, and their names for it. */
struct route {
    const char *component;
    struct apapi_way ways[APAPI_WAYS_MAX];
};

static const struct route routes[] = {
#define APAPI_WAY(source, name) {&apapi_source_##source, #name},
#define APAPI_COMPONENT(name, ways) {#name, {ways}},
#include "apapi/components.def"
#undef APAPI_COMPONENT
#undef APAPI_WAY
};

static const struct route *find_route(const char *component)
{
    for (size_t i = 0; i < COUNT_OF(routes); i++) {
        if (strcmp(routes[i].component, component) == 0) {
            return &routes[i];
        }
    }
    return NULL;
}

/* The route of all other components: PAPI, by the same name. */
static struct route any_route(const char *component)
{
    const struct route *route = find_route(component);

    return route ? *route : (struct route){component, {{&apapi_source_papi, component}}};
}

const struct source_overflow *const apapi_route_overflow = &apapi_overflow_papi;

size_t apapi_catalog_ways(const char *component, struct apapi_way ways[APAPI_WAYS_MAX])
{
    const struct route route = any_route(component);
    size_t count = 0;

    while (count < APAPI_WAYS_MAX && route.ways[count].source) {
        ways[count] = route.ways[count];
        count++;
    }
    return count;
}

bool apapi_catalog_has_route(const char *component)
{
    return find_route(component) != NULL;
}

bool apapi_route_known(const char *component)
{
    struct apapi_error ignored;

    return find_route(component) || apapi_source_papi.probe(component, &ignored) == 0;
}

int apapi_route_papi_check(const char *component, struct apapi_error *err)
{
    return apapi_source_papi.probe(component, err);
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

void apapi_catalog_components(apapi_component_f visit, void *context)
{
    struct listing listing = {visit, context};

    for (size_t i = 0; i < COUNT_OF(routes); i++) {
        visit(routes[i].component, context);
    }
    apapi_source_papi.list(list_unrouted, &listing);
}

void apapi_catalog_want(const char *component)
{
    const struct route route = any_route(component);

    if (strstr(component, ":::")) {
        wanted_events_add(component);
        return;
    }
    for (size_t i = 0; i < APAPI_WAYS_MAX && route.ways[i].source; i++) {
        if (route.ways[i].source->want) {
            route.ways[i].source->want(route.ways[i].name);
        }
    }
}

/* @return the first way of all routes whose source has this name. */
static const struct apapi_way *find_source(const char *word, size_t length)
{
    for (size_t i = 0; i < COUNT_OF(routes); i++) {
        for (size_t w = 0; w < APAPI_WAYS_MAX && routes[i].ways[w].source; w++) {
            if (word_is(word, length, routes[i].ways[w].source->name)) {
                return &routes[i].ways[w];
            }
        }
    }
    return NULL;
}

static void list_sources(struct apapi_error *names)
{
    for (size_t i = 0; i < COUNT_OF(routes); i++) {
        for (size_t w = 0; w < APAPI_WAYS_MAX && routes[i].ways[w].source; w++) {
            const char *name = routes[i].ways[w].source->name;

            if (find_source(name, strlen(name)) == &routes[i].ways[w]) {
                text_append(names->text, sizeof names->text, ", ", "%s", name);
            }
        }
    }
}

int apapi_catalog_check_order(const char *order, struct apapi_error *err)
{
    const char *word, *rest = order;

    while (rest && *rest) {
        size_t length = text_word(&rest, ":", &word);

        if (!find_source(word, length)) {
            struct apapi_error known = {""};

            list_sources(&known);
            return apapi_fail(err, EINVAL, "unknown source '%.*s'; available: %.160s", (int)length,
                              word, known.text);
        }
    }
    return 0;
}

static bool is_in_order(const struct apapi_source *source, const char *order)
{
    const char *word, *rest = order;

    while (rest && *rest) {
        size_t length = text_word(&rest, ":", &word);

        if (strcmp(find_source(word, length)->source->name, source->name) == 0) {
            return true;
        }
    }
    return false;
}

bool apapi_catalog_slow(const char *component, const char *order)
{
    const struct route route = any_route(component);

    for (size_t i = 0; i < APAPI_WAYS_MAX && route.ways[i].source; i++) {
        const struct apapi_source *source = route.ways[i].source;

        if (source->slow && (!order || !*order || is_in_order(source, order))) {
            return true;
        }
    }
    return false;
}

/* The reasons of all failed ways in one sentence, and the most helpful errno. */
struct failures {
    struct apapi_error all;
    int code;
};

static int weight(int code)
{
    switch (code) {
    case EACCES:
        return 4; /* a meter exists but permission is missing */
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

/* The reader that was opened, and how many patterns of lists fit none of its events. */
struct opened {
    struct apapi_reader *reader;
    size_t missing;
};

/* @return whether `way` may have missing events: only PAPI has those of rapl that are no energy. */
static bool may_have_more(const struct route *route, const struct apapi_way *way,
                          const struct opened *opened)
{
    return !opened->reader || (opened->missing > 0 && strcmp(route->component, "rapl") == 0 &&
                               strcmp(way->name, "rapl") == 0);
}

static void keep_better(const struct route *route, struct apapi_reader *reader,
                        struct opened *opened)
{
    size_t missing = wanted_events_missing(route->component, reader);

    if (opened->reader && missing >= opened->missing) {
        source_close(reader);
        return;
    }
    if (opened->reader) {
        source_close(opened->reader);
    }
    *opened = (struct opened){reader, missing};
}

static struct apapi_reader *try_ways(const struct route *route, const struct apapi_source *only,
                                     struct failures *failures)
{
    struct opened opened = {NULL, 0};

    for (const struct apapi_way *way = route->ways;
         way < route->ways + APAPI_WAYS_MAX && way->source; way++) {
        struct apapi_error why = {""};
        struct apapi_reader *reader;

        if ((only && strcmp(way->source->name, only->name) != 0) ||
            !may_have_more(route, way, &opened)) {
            continue;
        }
        reader = source_open(way->source, way->name, &why);
        if (reader) {
            keep_better(route, reader, &opened);
        } else {
            add_failure(failures, why.text, errno);
        }
    }
    return opened.reader;
}

static struct apapi_reader *try_order(const struct route *route, const char *order,
                                      struct failures *failures)
{
    const char *word, *rest = order;
    struct apapi_reader *reader = NULL;

    while (!reader && rest && *rest) {
        size_t length = text_word(&rest, ":", &word);

        reader = try_ways(route, find_source(word, length)->source, failures);
    }
    return reader;
}

struct apapi_reader *apapi_catalog_open(const char *component, const char *order,
                                        struct apapi_error *err)
{
    const struct route route = any_route(component);
    struct failures failures = {.code = ENOSYS};
    struct apapi_reader *reader =
        order && *order ? try_order(&route, order, &failures) : try_ways(&route, NULL, &failures);

    if (!reader) {
        apapi_fail(err, failures.code, "%s",
                   *failures.all.text ? failures.all.text : "none of the chosen sources reads it");
    }
    return reader;
}

struct apapi_reader *apapi_catalog_open_way(const struct apapi_way *way, struct apapi_error *err)
{
    return source_open(way->source, way->name, err);
}

void apapi_catalog_read(struct apapi_reader *reader, struct apapi_reading *readings)
{
    reader->source->read(reader, readings);
}

void apapi_catalog_describe(const struct apapi_reader *reader, size_t index, char *text,
                            size_t size)
{
    *text = '\0';
    if (reader->source->describe) {
        reader->source->describe(reader, index, text, size);
    }
}

const char *apapi_source_name(const struct apapi_source *source)
{
    return source->name;
}

void apapi_catalog_close(struct apapi_reader *reader)
{
    if (reader) {
        source_close(reader);
    }
}

/* --- for a build without PAPI or FreeIPMI ----------------------------------------------------- */

#ifndef APAPI_PAPI_LIBRARY
static int no_papi_probe(const char *component, struct apapi_error *err)
{
    (void)component;
    return apapi_fail(err, ENOSYS, "built without PAPI");
}

static void no_papi_list(apapi_component_f visit, void *context)
{
    (void)visit;
    (void)context;
}

static struct apapi_reader *no_papi_open(const char *component, struct apapi_error *err)
{
    no_papi_probe(component, err);
    return NULL;
}

static int no_papi_begin(struct source_overflow_counter *counter, struct apapi_error *err)
{
    no_papi_probe(counter->event, err);
    return -1;
}

/* No reader can be open, so none is read or closed. */
const struct apapi_source apapi_source_papi = {
    .name = "papi", .probe = no_papi_probe, .list = no_papi_list, .open = no_papi_open};
const struct source_overflow apapi_overflow_papi = {.begin = no_papi_begin};
#endif

#ifndef APAPI_FREEIPMI_LIBRARY
static struct apapi_reader *no_ipmi_open(const char *component, struct apapi_error *err)
{
    (void)component;
    apapi_fail(err, ENOSYS, "built without FreeIPMI");
    return NULL;
}

const struct apapi_source apapi_source_ipmi = {.name = "ipmi", .open = no_ipmi_open};
#endif
