/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/record.h"
#include "record/fields.h"
#include "record/shorten.h"
#include "record/text.h"
#include "record/timeline.h"

#define PATH_SIZE 64
#define COVERED_TOLERANCE 1e-6 /* of rounding */

static int decode_domains(const json_t *root, struct apapi_measurement *m,
                          const struct field_place *place)
{
    const json_t *domains = json_object_get(root, "domains");

    if (!json_is_object(domains)) {
        return field_fail(place, "domains", domains ? "not an object" : "is missing");
    }
    for (int i = APAPI_DOMAIN_NONE; i < APAPI_DOMAINS; i++) {
        const json_t *domain = json_object_get(domains, apapi_domain_name(i));
        char path[PATH_SIZE];
        const struct field_place inner = {path, place->err};

        if (!domain) {
            m->domains[i] = APAPI_DOMAIN_UNMEASURED;
            continue;
        }
        snprintf(path, sizeof(path), "domains.%s", apapi_domain_name(i));
        if (fields_decode(domain, fields_of_domain, &m->domains[i], &inner) < 0) {
            return -1;
        }
        m->domains[i].measured = true;
    }
    return 0;
}

static int decode_event(const json_t *object, struct apapi_event_result *event,
                        const struct field_place *place)
{
    if (fields_decode(object, fields_of_event, event, place) < 0) {
        return -1;
    }
    if (event->event.kind == APAPI_KIND_ENERGY && event->total < 0) {
        return field_fail(place, "total", "an energy below 0");
    }
    if (!(event->event.scale > 0)) {
        return field_fail(place, "scale", "not above 0");
    }
    return 0;
}

static int decode_whole_event(const json_t *object, size_t index, struct apapi_event_result *event,
                              const struct field_place *place)
{
    json_t *whole =
        shortened_event(object, json_array_get(json_object_get(object, "events"), index));
    int rc = whole ? decode_event(whole, event, place)
                   : apapi_fail(place->err, ENOMEM, "record: out of memory");

    json_decref(whole);
    return rc;
}

static int decode_events(const json_t *object, struct apapi_component_result *component,
                         const struct field_place *place)
{
    const json_t *events = json_object_get(object, "events");
    const json_t *common = json_object_get(object, "common");
    size_t count = json_array_size(events);

    if (events && !json_is_array(events)) {
        return field_fail(place, "events", "not an array");
    }
    if (common && !json_is_object(common)) {
        return field_fail(place, "common", "not an object");
    }
    if (count == 0) {
        return 0;
    }
    component->events = calloc(count, sizeof(*component->events));
    if (!component->events) {
        return apapi_fail(place->err, ENOMEM, "record: out of memory");
    }
    for (; component->event_count < count; component->event_count++) {
        char path[PATH_SIZE];
        const struct field_place inner = {path, place->err};

        snprintf(path, sizeof(path), "%s.events[%zu]", place->path, component->event_count);
        if (decode_whole_event(object, component->event_count,
                               &component->events[component->event_count], &inner) < 0) {
            return -1;
        }
    }
    return 0;
}

static int decode_component(const json_t *object, struct apapi_component_result *component,
                            const struct field_place *place)
{
    if (fields_decode(object, fields_of_component, component, place) < 0) {
        return -1;
    }
    component->measured = json_object_get(object, "source") != NULL;
    if (!component->measured && !json_object_get(object, "reason")) {
        return field_fail(place, "source", "is missing, and there is no reason");
    }
    return decode_events(object, component, place);
}

static int decode_components(const json_t *root, struct apapi_measurement *m,
                             const struct field_place *place)
{
    const json_t *components = json_object_get(root, "components");
    size_t count = json_array_size(components);

    if (!json_is_array(components)) {
        return field_fail(place, "components", components ? "not an array" : "is missing");
    }
    if (count == 0) {
        return 0;
    }
    m->components = calloc(count, sizeof(*m->components));
    if (!m->components) {
        return apapi_fail(place->err, ENOMEM, "record: out of memory");
    }
    for (; m->component_count < count; m->component_count++) {
        /* counted only when whole: what a failed one owns is freed here */
        struct apapi_component_result *component = &m->components[m->component_count];
        char path[PATH_SIZE];
        const struct field_place inner = {path, place->err};

        snprintf(path, sizeof(path), "components[%zu]", m->component_count);
        if (decode_component(json_array_get(components, m->component_count), component, &inner) <
            0) {
            free(component->events);
            return -1;
        }
    }
    shortened_fill_in(m);
    return 0;
}

static int decode_trust(const json_t *root, struct apapi_measurement *m,
                        const struct field_place *place)
{
    const json_t *trust = json_object_get(root, "trust");
    const struct field_place inner = {"trust", place->err};

    if (!trust) {
        return field_fail(place, "trust", "is missing");
    }
    if (fields_decode(trust, fields_of_trust, m, &inner) < 0) {
        return -1;
    }
    if (m->covered > 1 + COVERED_TOLERANCE) {
        return field_fail(&inner, "covered", "above 1");
    }
    if (m->covered > 1) {
        m->covered = 1;
    }
    return 0;
}

static int check_version(const json_t *root, const struct field_place *place)
{
    const json_t *version = json_object_get(root, "apapi");

    if (!json_is_object(root)) {
        return field_fail(place, "", "not a JSON object");
    }
    if (!json_is_integer(version)) {
        return field_fail(place, "apapi", version ? "not an integer" : "is missing");
    }
    if (json_integer_value(version) != APAPI_RECORD_VERSION) {
        return apapi_fail(place->err, ENOTSUP, "record: version %lld, only %d is known",
                          (long long)json_integer_value(version), APAPI_RECORD_VERSION);
    }
    return 0;
}

static int decode_root(const json_t *root, struct apapi_record *record,
                       const struct field_place *place)
{
    if (check_version(root, place) < 0 ||
        fields_decode(root, fields_of_record, record, place) < 0 ||
        decode_domains(root, &record->measurement, place) < 0 ||
        decode_components(root, &record->measurement, place) < 0 ||
        timelines_decode(root, &record->measurement, place) < 0 ||
        decode_trust(root, &record->measurement, place) < 0) {
        return -1;
    }
    return 0;
}

static int json_fail(const json_error_t *json_error, struct apapi_error *err)
{
    /* jansson says nothing at all where it has no memory while it reads */
    bool no_memory =
        json_error_code(json_error) == json_error_out_of_memory || json_error->text[0] == '\0';
    char text[sizeof(json_error->text)]; /* quotes the input */

    if (no_memory) {
        return apapi_fail(err, ENOMEM, "record: out of memory");
    }
    text_clean(text, sizeof(text), json_error->text);
    return apapi_fail(err, EINVAL, "record: line %d, column %d: %s", json_error->line,
                      json_error->column, text);
}

int apapi_record_decode(const char *text, size_t size, struct apapi_record *record,
                        struct apapi_error *err)
{
    const struct field_place place = {"", err};
    struct apapi_record result = {0};
    json_error_t json_error;
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &json_error);
    int rc;

    if (!root) {
        return json_fail(&json_error, err);
    }
    rc = decode_root(root, &result, &place);
    json_decref(root);
    if (rc < 0) {
        apapi_record_clear(&result);
    } else {
        *record = result;
    }
    return rc;
}
