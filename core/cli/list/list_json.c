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

static int list_json_put_event(json_t *object, const void *events, size_t i)
{
    return fields_encode(object, fields_of_listed, &((const struct listed_event *)events)[i]);
}

static int list_json_put_way(json_t *object, const void *ways, size_t i)
{
    const struct apapi_way *way = &((const struct apapi_way *)ways)[i];

    return field_put_text(object, "source", apapi_source_name(way->source)) ||
           field_put_text(object, "name", way->name);
}

static int list_json_put_ways(json_t *object, const char *component)
{
    struct apapi_way ways[APAPI_WAYS_MAX];

    return fields_put_list(object, "sources", apapi_catalog_ways(component, ways),
                           list_json_put_way, ways);
}

static int fill_component(json_t *object, const struct listed *listed)
{
    switch (listed->state) {
    case LISTED_OPEN:
        return field_put(object, "readable", json_true()) ||
               field_put_text(object, "source", apapi_source_name(listed->reader->source)) ||
               field_put_text(object, "detail", listed->reader->detail) ||
               fields_put_list(object, "events", listed->event_count, list_json_put_event,
                               listed->events);
    case LISTED_UNREADABLE:
        return field_put(object, "readable", json_false()) ||
               json_put_error(object, listed->error, listed->reason.text);
    case LISTED_SLOW:
        return field_put(object, "slow", json_true());
    default:
        return 0;
    }
}

static int list_json_put_component(json_t *object, const void *components, size_t i)
{
    const struct listed *listed = &((const struct listed *)components)[i];

    return field_put_text(object, "name", listed->wanted->name) || fill_component(object, listed);
}

static int list_json_put_component_ways(json_t *object, const void *components, size_t i)
{
    return list_json_put_component(object, components, i) ||
           list_json_put_ways(object, ((const struct listed *)components)[i].wanted->name);
}

int list_print_json(const struct listed *components, size_t count, const struct list_view *view)
{
    json_t *object = json_pack("{s:i}", "version", 1);

    return json_print(object, fields_put_list(object, "components", count,
                                              view->sources ? list_json_put_component_ways
                                                            : list_json_put_component,
                                              components));
}
