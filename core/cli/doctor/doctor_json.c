/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi doctor for programs, described in apapi-doctor(1). Unknown values have no key. */

#include "cli/doctor/doctor.h"
#include "cli/json.h"
#include "record/fields.h"

static int put_flag(json_t *object, const char *key, bool value)
{
    return field_put(object, key, json_boolean(value));
}

static int put_machine(json_t *object, const struct machine *machine)
{
    return put_flag(object, "virtual_machine", machine->virtual_machine) ||
           put_flag(object, "container", machine->container) ||
           field_put_text(object, "user", machine->user) ||
           field_put(object, "uid", json_integer(machine->uid)) ||
           (machine->perf_event_paranoid != PARANOID_UNKNOWN &&
            field_put(object, "perf_event_paranoid", json_integer(machine->perf_event_paranoid)));
}

static int doctor_json_put_trouble(json_t *object, const void *troubles, size_t i)
{
    const struct trouble *trouble = &((const struct trouble *)troubles)[i];

    return field_put_text(object, "event", trouble->event) ||
           put_flag(object, "dead", trouble->dead) ||
           field_put_text(object, "reason", trouble->text);
}

static int put_troubles(json_t *object, const struct finding *finding)
{
    size_t count = finding->trouble_count < TROUBLES_MAX ? finding->trouble_count : TROUBLES_MAX;

    return fields_put_list(object, "troubles", count, doctor_json_put_trouble, finding->troubles);
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

/* What is printed. */
struct doctor_json {
    const struct diagnosis *diagnosis;
    const struct examined *component;
};

static int doctor_json_put_way(json_t *object, const void *context, size_t i)
{
    const struct doctor_json *printed = context;
    const struct examined_way *way = &printed->component->ways[i];

    return field_put_text(object, "source", apapi_source_name(way->way.source)) ||
           field_put_text(object, "name", way->way.name) ||
           put_flag(object, "works", way_works(way)) ||
           (way->mine.error ? json_put_error(object, way->mine.error, way->mine.reason.text)
                            : doctor_json_put_open_way(object, &way->mine)) ||
           (way->ordinary.known && doctor_json_put_ordinary(object, &way->ordinary)) ||
           doctor_json_put_remedy(object, printed->component, way, &printed->diagnosis->machine);
}

static int doctor_json_put_component(json_t *object, const void *diagnosis, size_t i)
{
    const struct doctor_json printed = {diagnosis,
                                        &((const struct diagnosis *)diagnosis)->components[i]};
    const struct examined *component = printed.component;
    struct readers readers = examined_readers(component, &printed.diagnosis->machine);

    return field_put_text(object, "name", component->name) ||
           put_flag(object, "readable", readers.me) ||
           put_flag(object, "readable_by_root", readers.root) ||
           (component->ways[0].ordinary.known &&
            put_flag(object, "readable_by_all", readers.ordinary)) ||
           put_flag(object, "estimated", examined_is_estimate(component)) ||
           fields_put_list(object, "ways", component->way_count, doctor_json_put_way, &printed);
}

static int doctor_json_put_site_trouble(json_t *object, const void *site, size_t i)
{
    const struct site *examined = site;

    return field_put_text(object, "key", examined->troubles[i].key) ||
           field_put_text(object, "reason", examined->troubles[i].reason.text);
}

static int put_site(json_t *object, const struct site *site)
{
    return field_put_text(object, "acct_dir", site->acct_dir) ||
           field_put_text(object, "spool_dir", site->spool_dir) ||
           fields_put_list(object, "troubles", site->trouble_count, doctor_json_put_site_trouble,
                           site);
}

int doctor_print_json(const struct diagnosis *diagnosis)
{
    json_t *root = json_pack("{s:i}", "version", 1), *machine = json_object(),
           *site = json_object();

    return json_print(root, field_put(root, "machine", machine) ||
                                put_machine(machine, &diagnosis->machine) ||
                                field_put(root, "site", site) || put_site(site, &diagnosis->site) ||
                                fields_put_list(root, "components", diagnosis->count,
                                                doctor_json_put_component, diagnosis));
}
