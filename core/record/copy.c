/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "record/regions.h"

void apapi_record_clear(struct apapi_record *record)
{
    int saved;

    if (!record) {
        return;
    }
    saved = errno;
    apapi_measurement_clear(&record->measurement);
    apapi_regions_clear(&record->regions);
    free(record->crossing);
    memset(record, 0, sizeof(*record));
    errno = saved;
}

static int component_copy(struct apapi_component_result *copy,
                          const struct apapi_component_result *component)
{
    *copy = *component;
    copy->events = array_copy(component->events, component->event_count, sizeof(*copy->events));
    return copy->events || component->event_count == 0 ? 0 : -1;
}

static int components_copy(struct apapi_measurement *copy, const struct apapi_measurement *m)
{
    if (m->component_count == 0) {
        return 0;
    }
    copy->components = calloc(m->component_count, sizeof(*copy->components));
    if (!copy->components) {
        return -1;
    }
    for (; copy->component_count < m->component_count; copy->component_count++) {
        if (component_copy(&copy->components[copy->component_count],
                           &m->components[copy->component_count]) < 0) {
            return -1;
        }
    }
    return 0;
}

static int crossings_copy(struct apapi_record *copy, const struct apapi_record *record)
{
    copy->crossing = array_copy(record->crossing, record->crossing_count, sizeof(*copy->crossing));
    return copy->crossing || record->crossing_count == 0 ? 0 : -1;
}

int record_copy(struct apapi_record *copy, const struct apapi_record *record)
{
    struct apapi_record result = *record;

    result.measurement.components = NULL;
    result.measurement.component_count = 0;
    result.regions = (struct apapi_regions){0};
    result.crossing = NULL;
    if (components_copy(&result.measurement, &record->measurement) < 0 ||
        regions_copy(&result.regions, &record->regions) < 0 ||
        crossings_copy(&result, record) < 0) {
        apapi_record_clear(&result);
        errno = ENOMEM;
        return -1;
    }
    *copy = result;
    return 0;
}
