/* SPDX-License-Identifier: BSD-3-Clause */
#include "apapi/catalog.h"

#include "sources/source.h"
#include "sources/source_lock.h"

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
