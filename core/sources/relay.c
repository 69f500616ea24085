/* SPDX-License-Identifier: BSD-3-Clause */
/* Components that the node sampler reads for this process. */
#include <string.h>

#include "sources/sources.h"

const char *apapi_route_source(const char *component, const struct apapi_reader *reader)
{
    struct apapi_way ways[APAPI_WAYS_MAX];
    size_t count;

    if (!reader->source->relay) {
        return reader->source->name;
    }
    count = apapi_catalog_ways(component, ways);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(ways[i].source->name, reader->source->relay->origin(reader)) == 0) {
            return ways[i].source->name;
        }
    }
    return NULL;
}

static bool relay_is_enough(const char *component, const struct apapi_reader *reader)
{
    return apapi_route_source(component, reader) && wanted_events_missing(component, reader) == 0;
}

static struct apapi_reader *relay_open(const char *component)
{
    struct apapi_error ignored;
    struct apapi_reader *reader = NULL;

    if (apapi_source_node.probe(component, &ignored) == 0) {
        reader = source_open(&apapi_source_node, component, &ignored);
    }
    if (reader && !relay_is_enough(component, reader)) {
        source_close(reader);
        reader = NULL;
    }
    return reader;
}

struct apapi_reader *apapi_route_open(const char *component, const char *order,
                                      uint64_t interval_ns, struct apapi_error *err)
{
    struct apapi_reader *reader =
        !order && interval_ns >= APAPI_ROUTE_RELAY_NS ? relay_open(component) : NULL;

    return reader ? reader : apapi_catalog_open(component, order, err);
}
