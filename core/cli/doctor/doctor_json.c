/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi doctor for programs, described in apapi-doctor(1). Unknown values have no key. */
#include <errno.h>
#include <string.h>

#include "cli/doctor/doctor.h"
#include "cli/json.h"
#include "record/fields.h"

static int put_flag(json_t *object, const char *key, bool value)
{
    return field_put(object, key, json_boolean(value));
}

static json_t *machine_json(const struct machine *machine)
{
    json_t *object = json_object();
    int result = put_flag(object, "virtual_machine", machine->virtual_machine) ||
                 put_flag(object, "container", machine->container) ||
                 field_put_text(object, "user", machine->user) ||
                 field_put(object, "uid", json_integer(machine->uid));

    if (result == 0 && machine->perf_event_paranoid != PARANOID_UNKNOWN) {
        result =
            field_put(object, "perf_event_paranoid", json_integer(machine->perf_event_paranoid));
    }
    if (result == 0) {
        return object;
    }
    json_decref(object);
    return NULL;
}

static int put_troubles(json_t *object, const struct finding *finding)
{
    json_t *troubles = json_array();
    int result = field_put(object, "troubles", troubles);

    for (size_t i = 0; i < finding->trouble_count && i < TROUBLES_MAX && result == 0; i++) {
        const struct trouble *trouble = &finding->troubles[i];
        json_t *item = json_object();

        result = json_array_append_new(troubles, item) ||
                 field_put_text(item, "event", trouble->event) ||
                 put_flag(item, "dead", trouble->dead) ||
                 field_put_text(item, "reason", trouble->text);
    }
    return result;
}

/* The remedy for this user or, if not needed, for other users. */
static int doctor_json_put_remedy(json_t *object, const struct examined *component,
                                  const struct examined_way *way, const struct machine *machine)
{
    const char *remedy = NULL;

    if (finding_matters(component, &way->mine, machine)) {
        remedy = remedy_find(component, way, &way->mine, machine);
    } else if (way_works(way) && way->ordinary.error) {
        remedy = remedy_find(component, way, &way->ordinary, machine);
    }
    return remedy ? field_put_text(object, "remedy", remedy) : 0;
}

static int doctor_json_put_ordinary(json_t *object, const struct finding *finding)
{
    json_t *ordinary = json_object();

    return field_put(object, "ordinary_users", ordinary) ||
           put_flag(ordinary, "opens", finding->error == 0) ||
           (finding->error && json_put_error(ordinary, finding->error, finding->reason.text));
}

static int doctor_json_put_open_way(json_t *object, const struct finding *finding)
{
    return field_put_text(object, "detail", finding->detail) ||
           field_put(object, "events", json_integer((json_int_t)finding->events)) ||
           field_put(object, "in_trouble", json_integer((json_int_t)finding->trouble_count)) ||
           put_flag(object, "estimated", finding->estimated) ||
           (finding->trouble_count && put_troubles(object, finding));
}

static int doctor_json_put_way(json_t *ways, const struct examined *component,
                               const struct examined_way *way, const struct machine *machine)
{
    json_t *object = json_object();

    return json_array_append_new(ways, object) ||
           field_put_text(object, "source", apapi_source_name(way->way.source)) ||
           field_put_text(object, "name", way->way.name) ||
           put_flag(object, "works", way_works(way)) ||
           (way->mine.error ? json_put_error(object, way->mine.error, way->mine.reason.text)
                            : doctor_json_put_open_way(object, &way->mine)) ||
           (way->ordinary.known && doctor_json_put_ordinary(object, &way->ordinary)) ||
           doctor_json_put_remedy(object, component, way, machine);
}

static int doctor_json_put_component(json_t *components, const struct examined *component,
                                     const struct machine *machine)
{
    struct readers readers = examined_readers(component, machine);
    json_t *object = json_object(), *ways = json_array();
    int result = json_array_append_new(components, object) ||
                 field_put_text(object, "name", component->name) ||
                 put_flag(object, "readable", readers.me) ||
                 put_flag(object, "readable_by_root", readers.root) ||
                 (component->ways[0].ordinary.known &&
                  put_flag(object, "readable_by_all", readers.ordinary)) ||
                 put_flag(object, "estimated", examined_is_estimate(component)) ||
                 field_put(object, "ways", ways);

    for (size_t i = 0; i < component->way_count && result == 0; i++) {
        result = doctor_json_put_way(ways, component, &component->ways[i], machine);
    }
    return result;
}

static json_t *site_json(const struct site *site)
{
    json_t *object = json_object(), *troubles = json_array();
    int result = field_put_text(object, "acct_dir", site->acct_dir) ||
                 field_put_text(object, "spool_dir", site->spool_dir) ||
                 field_put(object, "troubles", troubles);

    for (size_t i = 0; i < site->trouble_count && result == 0; i++) {
        json_t *item = json_object();

        result = json_array_append_new(troubles, item) ||
                 field_put_text(item, "key", site->troubles[i].key) ||
                 field_put_text(item, "reason", site->troubles[i].reason.text);
    }
    if (result == 0) {
        return object;
    }
    json_decref(object);
    return NULL;
}

int doctor_print_json(const struct diagnosis *diagnosis)
{
    json_t *root = json_object(), *components = json_array();
    int result = field_put(root, "version", json_integer(1)) ||
                 field_put(root, "machine", machine_json(&diagnosis->machine)) ||
                 field_put(root, "site", site_json(&diagnosis->site)) ||
                 field_put(root, "components", components);

    for (size_t i = 0; i < diagnosis->count && result == 0; i++) {
        result =
            doctor_json_put_component(components, &diagnosis->components[i], &diagnosis->machine);
    }
    if (result) {
        json_decref(root);
        return -1;
    }
    return json_print(root);
}
