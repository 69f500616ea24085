/* SPDX-License-Identifier: BSD-3-Clause */
#include "ms_common/map.h"

#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ms_common/field.h"
#include "ms_common/interface.h"
#include "ms_common/number.h"

#define CELLS (MS_CPUS * MS_CORES)

/** An event for a field, and for which package and core of it. In the order of the fields. */
struct map_match {
    const struct field *field;
    size_t event;
    unsigned cell;
    double factor;
};

/* What several events say of a field. */
struct cell {
    double sum;
    double max;
    unsigned count;
};

/* The events of a component, and the entries of the map that they match. */
struct matching {
    const struct event_table *events;
    struct map *map;
    struct map_match *matches;
    size_t room;
    bool gpu_counter, gpu_gauge;
};

const struct apapi_event *event_table_at(const struct event_table *table, size_t index)
{
    return (const void *)((const char *)table->first + index * table->stride);
}

/* @return the number behind `word` in a name; -1: there is none. */
static long map_number(const char *name, const char *word)
{
    const char *found = strstr(name, word);

    while (found && !isdigit((unsigned char)found[strlen(word)])) {
        found = strstr(found + 1, word);
    }
    return found ? strtol(found + strlen(word), NULL, 10) : -1;
}

static bool map_fits(const struct field *field, const struct apapi_event *event)
{
    return (field->kind == FIELD_ANY_KIND || field->kind == event->kind) &&
           (field->domain == FIELD_ANY_DOMAIN || field->domain == event->domain) &&
           fnmatch(field->pattern, event->name, 0) == 0;
}

/* A counter is better than integrated power; a gauge better than the difference of two readings. */
static bool map_is_second_best(const struct matching *matching, const struct field *field)
{
    if (field->domain != APAPI_DOMAIN_GPU) {
        return false;
    }
    return field->statistic == STATISTIC_NOW
               ? field->kind == APAPI_KIND_ENERGY && matching->gpu_gauge
               : field->kind == APAPI_KIND_POWER && matching->gpu_counter;
}

/* Perf events are named by a CPU of the package: "cpu=16". Then their order says which it is. */
static unsigned map_package(const char *name, unsigned earlier)
{
    long number = map_number(name, "PACKAGE");

    return number >= 0 ? (unsigned)number : earlier;
}

static int map_add(struct matching *matching, const struct map_match *match)
{
    struct map *map = matching->map;

    if (!matching->matches || map->count == matching->room) {
        size_t room = 2 * matching->room + 32;
        struct map_match *grown = realloc(matching->matches, room * sizeof *grown);

        if (!grown) {
            return -1;
        }
        matching->matches = grown;
        matching->room = room;
    }
    matching->matches[map->count++] = *match;
    map->parts |= (unsigned)match->field->part;
    return 0;
}

static void map_count_parts(struct matching *matching, const struct field *field, unsigned package)
{
    struct map *map = matching->map;

    if (field->package_bytes && package >= map->packages) {
        map->packages = package + 1;
    }
    if (field->domain == APAPI_DOMAIN_GPU && field->statistic == STATISTIC_TOTAL) {
        map->gpus++;
    }
}

/* @param earlier  events that the field has so far */
static int map_take(struct matching *matching, const struct field *field, size_t index,
                    unsigned earlier)
{
    const struct apapi_event *event = event_table_at(matching->events, index);
    unsigned package = field->package_bytes ? map_package(event->name, earlier) : 0;
    long core = field->core_bytes ? map_number(event->name, ":CPU") : 0;
    const struct map_match match = {field, index, package % MS_CPUS * MS_CORES + (unsigned)core,
                                    event->kind == APAPI_KIND_COUNT ? field->raw_factor
                                                                    : field->factor};

    if (core < 0 || core >= MS_CORES) {
        return 0;
    }
    map_count_parts(matching, field, package);
    return map_add(matching, &match);
}

static int map_match_field(struct matching *matching, const struct field *field)
{
    unsigned earlier = 0;

    if (map_is_second_best(matching, field)) {
        return 0;
    }
    for (size_t i = 0; i < matching->events->count; i++) {
        if (map_fits(field, event_table_at(matching->events, i)) &&
            map_take(matching, field, i, earlier++)) {
            return -1;
        }
    }
    return 0;
}

static void map_look_for_gpus(struct matching *matching)
{
    for (size_t i = 0; i < matching->events->count; i++) {
        const struct apapi_event *event = event_table_at(matching->events, i);

        if (event->domain == APAPI_DOMAIN_GPU) {
            matching->gpu_counter |= event->kind == APAPI_KIND_ENERGY;
            matching->gpu_gauge |= event->kind == APAPI_KIND_POWER;
        }
    }
}

int map_build(struct map *map, enum resource resource, const struct event_table *events)
{
    struct matching matching = {.events = events, .map = map};
    size_t count;
    const struct field *fields = fields_of(resource, &count);

    *map = (struct map){.resource = resource};
    map_look_for_gpus(&matching);
    for (size_t i = 0; i < count; i++) {
        if (map_match_field(&matching, &fields[i])) {
            free(matching.matches);
            *map = (struct map){.resource = resource};
            return -1;
        }
    }
    map->matches = matching.matches;
    return 0;
}

static double map_statistic(const struct figure *figure, enum statistic statistic)
{
    switch (statistic) {
    case STATISTIC_TOTAL:
        return figure->total;
    case STATISTIC_MEAN:
        return figure->mean;
    case STATISTIC_MAX:
        return figure->max;
    case STATISTIC_SUM:
        return figure->sum;
    case STATISTIC_NOW:
        return figure->now;
    }
    return NAN;
}

static void cell_add(struct cell *cell, double value)
{
    if (isnan(value)) {
        return;
    }
    cell->max = cell->count == 0 || value > cell->max ? value : cell->max;
    cell->sum += value;
    cell->count++;
}

static double cell_value(const struct cell *cell, enum join join)
{
    switch (join) {
    case JOIN_ADD:
        return cell->sum;
    case JOIN_MEAN:
        return cell->sum / cell->count;
    case JOIN_MAX:
        return cell->max;
    }
    return NAN;
}

static void map_put(const struct field *field, unsigned cell, double value, void *measurement)
{
    void *member = (char *)measurement + field->offset + cell / MS_CORES * field->package_bytes +
                   cell % MS_CORES * field->core_bytes;

    switch (field->type) {
    case NUMBER_DOUBLE:
        number_put_double(member, value);
        break;
    case NUMBER_U32:
        number_put_u32(member, value);
        break;
    case NUMBER_U64:
        number_put_u64(member, value);
        break;
    }
}

/* All matches of the first one's field. @return how many there are */
static size_t map_store_field(const struct map_match *matches, size_t count,
                              const struct figure *figures, void *measurement)
{
    const struct field *field = matches->field;
    struct cell cells[CELLS] = {0};
    size_t i = 0;

    for (; i < count && matches[i].field == field; i++) {
        cell_add(&cells[matches[i].cell],
                 map_statistic(&figures[matches[i].event], field->statistic) * matches[i].factor);
    }
    for (unsigned c = 0; c < CELLS; c++) {
        if (cells[c].count) {
            map_put(field, c, cell_value(&cells[c], field->join), measurement);
        }
    }
    return i;
}

void map_store(const struct map *map, const struct figure *figures, void *measurement)
{
    for (size_t i = 0; i < map->count;) {
        i += map_store_field(&map->matches[i], map->count - i, figures, measurement);
    }
}

void map_clear(struct map *map)
{
    free(map->matches);
    *map = (struct map){.resource = map->resource};
}
