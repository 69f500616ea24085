/* SPDX-License-Identifier: BSD-3-Clause */
#include "apapi/catalog.h"

#include "base/kernel_file.h"
#include "sources/source_lock.h"
#include "sources/sources.h"

void apapi_catalog_components(apapi_component_f visit, void *context)
{
    apapi_route_list(visit, context);
}

bool apapi_catalog_has_route(const char *component)
{
    return apapi_route_own(component);
}

bool apapi_catalog_slow(const char *component, const char *order)
{
    return apapi_route_slow(component, order);
}

size_t apapi_catalog_ways(const char *component, struct apapi_way ways[APAPI_WAYS_MAX])
{
    return apapi_route_ways(component, ways);
}

void apapi_catalog_want(const char *component)
{
    apapi_route_want(component);
}

int apapi_catalog_check_order(const char *order, struct apapi_error *err)
{
    return apapi_route_order_check(order, err);
}

struct apapi_reader *apapi_catalog_open(const char *component, const char *order,
                                        struct apapi_error *err)
{
    return apapi_route_open(component, order, err);
}

struct apapi_reader *apapi_catalog_open_way(const struct apapi_way *way, struct apapi_error *err)
{
    return source_open(way->source, way->name, err);
}

void apapi_catalog_close(struct apapi_reader *reader)
{
    if (reader) {
        source_close(reader);
    }
}

void apapi_catalog_path(char *path, size_t size, const char *absolute)
{
    kernel_file_path(path, size, absolute);
}
