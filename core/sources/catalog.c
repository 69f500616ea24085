/* SPDX-License-Identifier: BSD-3-Clause */
#include "apapi/catalog.h"

#include "sources/source_lock.h"

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
