/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi list for programs, described in apapi-list(1). Unknown values have no key. */
#include <stddef.h>

#include "cli/json.h"
#include "cli/list/list.h"
#include "record/fields.h"

#define IN_LISTED(member) offsetof(struct listed_event, member)

static const struct field fields_of_listed[] = {
    {"name", FIELD_TEXT, true, IN_LISTED(event.name), APAPI_NAME_SIZE},
    {"description", FIELD_TEXT, false, IN_LISTED(description), DESCRIPTION_SIZE},
    {"kind", FIELD_KIND, true, IN_LISTED(event.kind), 0},
    {"domain", FIELD_DOMAIN, false, IN_LISTED(event.domain), 0},
    {"unit", FIELD_TEXT, true, IN_LISTED(event.unit), APAPI_UNIT_SIZE},
    {"counter", FIELD_FLAG, true, IN_LISTED(event.accumulates), 0},
    {"estimated", FIELD_FLAG, true, IN_LISTED(event.estimated), 0},
    {"range", FIELD_EXACT, true, IN_LISTED(range), 0},
    {"width_bits", FIELD_EXACT, true, IN_LISTED(width), 0},
    {"guard_s", FIELD_EXACT, true, IN_LISTED(guard_s), 0},
    {"value", FIELD_EXACT, true, IN_LISTED(value), 0},
    {"update_s", FIELD_DURATION, false, IN_LISTED(event.update_ns), 0},
    {"measured_update_s", FIELD_PART, false, IN_LISTED(update.measured_s), 0},
    {"update_below_s", FIELD_PART, false, IN_LISTED(update.below_s), 0},
    {"update_above_s", FIELD_PART, false, IN_LISTED(update.above_s), 0},
    {"error", FIELD_TEXT, false, IN_LISTED(error), sizeof((struct listed_event *)0)->error},
    {NULL, 0, false, 0, 0}};

static int list_json_put_events(json_t *object, const struct listed *listed)
{
    json_t *events = json_array();
    int result = field_put(object, "events", events);

    for (size_t i = 0; i < listed->event_count && result == 0; i++) {
        result = json_array_append_new(events, fields_object(fields_of_listed, &listed->events[i]));
    }
    return result;
}

static int list_json_put_ways(json_t *object, const char *component)
{
    struct apapi_way ways[APAPI_WAYS_MAX];
    size_t count = apapi_catalog_ways(component, ways);
    json_t *sources = json_array();
    int result = field_put(object, "sources", sources);

    for (size_t i = 0; i < count && result == 0; i++) {
        json_t *way = json_pack("{s:s, s:s}", "source", apapi_source_name(ways[i].source), "name",
                                ways[i].name);

        result = json_array_append_new(sources, way);
    }
    return result;
}

static int fill_component(json_t *object, const struct listed *listed)
{
    switch (listed->state) {
    case LISTED_OPEN:
        return field_put(object, "readable", json_true()) ||
               field_put_text(object, "source", apapi_source_name(listed->reader->source)) ||
               field_put_text(object, "detail", listed->reader->detail) ||
               list_json_put_events(object, listed);
    case LISTED_UNREADABLE:
        return field_put(object, "readable", json_false()) ||
               json_put_error(object, listed->error, listed->reason.text);
    case LISTED_SLOW:
        return field_put(object, "slow", json_true());
    default:
        return 0;
    }
}

static json_t *component_json(const struct listed *listed, bool sources)
{
    json_t *object = json_object();

    if (!object || field_put_text(object, "name", listed->wanted->name) ||
        fill_component(object, listed) ||
        (sources && list_json_put_ways(object, listed->wanted->name))) {
        json_decref(object);
        return NULL;
    }
    return object;
}

int list_print_json(const struct listed *components, size_t count, const struct list_view *view)
{
    json_t *array = json_array();

    for (size_t i = 0; i < count; i++) {
        if (json_array_append_new(array, component_json(&components[i], view->sources))) {
            json_decref(array);
            return -1;
        }
    }
    return json_print(json_pack("{s:i, s:o}", "version", 1, "components", array));
}
