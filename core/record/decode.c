/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/record.h"
#include "record/fields.h"
#include "record/members.h"
#include "record/record.h"

#define COVERED_TOLERANCE 1e-6 /* of rounding */

/* --- reading ---------------------------------------------------------------------------------- */

static int decode_domains(const struct tree_node *domains, struct apapi_measurement *m,
                          const struct field_path *path)
{
    const struct field_path here = {path, "domains", NULL, path->err};

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        m->domains[d] = APAPI_DOMAIN_UNMEASURED;
        m->domains[d].measured = tree_get(domains, apapi_domain_name(d)) != NULL;
    }
    if (!domains) {
        return field_fail(&here, "", "is missing");
    }
    if (energies_decode(domains, fields_of_domain, m->domains, sizeof m->domains[0], path) < 0) {
        return -1;
    }
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        const struct field_path inner = {&here, apapi_domain_name(d), NULL, path->err};

        if (m->domains[d].covered > 1 + COVERED_TOLERANCE) {
            return field_fail(&inner, "covered", "above 1");
        }
    }
    return 0;
}

static int decode_event(const struct tree_node *object, void *element,
                        const struct field_path *path)
{
    const struct apapi_event_result *event = element;

    if (fields_decode(object, fields_of_event, element, path) < 0) {
        return -1;
    }
    if (event->event.kind == APAPI_KIND_ENERGY && event->total < 0) {
        return field_fail(path, "total", "an energy below 0");
    }
    if (!(event->event.scale > 0)) {
        return field_fail(path, "scale", "not above 0");
    }
    return 0;
}

static int decode_component(const struct tree_node *object, void *element,
                            const struct field_path *path)
{
    struct apapi_component_result *component = element;
    const struct fields_list events = {.key = "events",
                                       .size = sizeof(*component->events),
                                       .count = &component->event_count,
                                       .read = decode_event};

    if (fields_decode(object, fields_of_component, component, path) < 0) {
        return -1;
    }
    component->measured = tree_get(object, "source") != NULL;
    if (!component->measured && !tree_get(object, "reason")) {
        return field_fail(path, "source", "is missing, and there is no reason");
    }
    if (fields_decode_list(object, &events, &component->events, path) < 0) {
        free(component->events); /* it does not count as a component */
        return -1;
    }
    return 0;
}

static int decode_components(const struct tree_node *root, struct apapi_measurement *m,
                             const struct field_path *path)
{
    const struct fields_list components = {.key = "components",
                                           .size = sizeof(*m->components),
                                           .count = &m->component_count,
                                           .read = decode_component};

    if (!tree_get(root, "components")) {
        return field_fail(path, "components", "is missing");
    }
    return fields_decode_list(root, &components, &m->components, path);
}

static int decode_trust(const struct tree_node *trust, struct apapi_measurement *m,
                        const struct field_path *path)
{
    const struct field_path inner = {path, "trust", NULL, path->err};
    const struct tree_node *unknown = tree_get(trust, "unknown_domains"); /* new ones have it */

    if (!trust) {
        return field_fail(path, "trust", "is missing");
    }
    if (fields_decode(trust, fields_of_trust, m, &inner) < 0) {
        return -1;
    }
    if (unknown && domain_list_read(unknown, &m->unknown_domains) < 0) {
        return field_fail(&inner, "unknown_domains", "not an array of texts");
    }
    if (m->covered > 1 + COVERED_TOLERANCE) {
        return field_fail(&inner, "covered", "above 1");
    }
    if (m->covered > 1) {
        m->covered = 1;
    }
    return 0;
}

/* A record has them only if a threshold was crossed. */
static int decode_crossings(const struct tree_node *root, struct apapi_record *record,
                            const struct field_path *path)
{
    const struct fields_list crossings = {.key = "crossings",
                                          .size = sizeof(*record->crossing),
                                          .count = &record->crossing_count,
                                          .fields = fields_of_crossing};
    const struct tree_node *list = tree_get(root, "crossings");
    const struct tree_node *total = tree_get(root, "crossings_total");

    if (!list) {
        return 0;
    }
    if (list->type != TREE_ARRAY || list->size > APAPI_CROSSINGS_MAX) {
        return field_fail(path, "crossings", "not an array of up to 32");
    }
    if (total && (!tree_is(total, TREE_INTEGER) || total->integer < (int64_t)list->size)) {
        return field_fail(path, "crossings_total", "less than there are");
    }
    record->crossings = total ? (uint64_t)total->integer : list->size;
    return fields_decode_list(root, &crossings, &record->crossing, path);
}

static int check_version(const struct tree_node *root, const struct field_path *path)
{
    const struct tree_node *version = tree_get(root, "apapi");

    if (root->type != TREE_OBJECT) {
        return field_fail(path, "", "not a JSON object");
    }
    if (!tree_is(version, TREE_INTEGER)) {
        return field_fail(path, "apapi", version ? "not an integer" : "is missing");
    }
    if (version->integer != APAPI_RECORD_VERSION) {
        return apapi_fail(path->err, ENOTSUP, "record: version %lld, only %d is known",
                          (long long)version->integer, APAPI_RECORD_VERSION);
    }
    return 0;
}

static int decode_root(const struct tree_node *root, struct apapi_record *record,
                       struct apapi_error *err)
{
    const struct field_path path = {NULL, "", NULL, err};
    struct apapi_measurement *m = &record->measurement;
    const struct tree_node *nodelist = tree_get(root, "nodelist");

    if (check_version(root, &path) < 0 ||
        fields_decode(root, fields_of_record, record, &path) < 0 ||
        decode_domains(tree_get(root, "domains"), m, &path) < 0 ||
        decode_components(root, m, &path) < 0 ||
        timelines_decode(tree_get(root, "timeline"), m, &path) < 0 ||
        decode_trust(tree_get(root, "trust"), m, &path) < 0 ||
        regions_decode(root, &record->regions, &path) < 0 ||
        decode_crossings(root, record, &path) < 0 ||
        share_decode(tree_get(root, "share"), &record->share, &path) < 0) {
        return -1;
    }
    if (nodelist && nodelist->size >= sizeof(record->id.nodelist)) {
        record->id.nodelist[0] = '\0'; /* a truncated list names the wrong nodes */
    }
    return 0;
}

int apapi_record_decode(const char *text, size_t size, struct apapi_record *record,
                        struct apapi_error *err)
{
    struct apapi_record result = {0};
    struct tree_problem problem;
    struct tree tree = {0};
    int rc;

    if (tree_parse(&tree, text, size, &problem) == 0) {
        rc = decode_root(tree.nodes, &result, err);
    } else if (errno == ENOMEM) {
        rc = apapi_fail(err, ENOMEM, "record: out of memory");
    } else {
        rc = apapi_fail(err, EINVAL, "record: line %zu, column %zu: %s", problem.line,
                        problem.column, problem.what);
    }
    tree_free(&tree);
    if (rc < 0) {
        apapi_record_clear(&result);
    } else {
        *record = result;
    }
    return rc;
}

/* --- freeing ---------------------------------------------------------------------------------- */

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

/* --- writing ---------------------------------------------------------------------------------- */

int apapi_record_encode(const struct apapi_record *record, char **line, struct apapi_error *err)
{
    struct json_writer json = {0};
    char *text;

    json_begin_object(&json, NULL);
    record_write(&json, record, NULL);
    json_end(&json);
    text = json_take(&json);
    if (!text) {
        return apapi_fail(err, ENOMEM, "record: out of memory");
    }
    *line = text;
    return 0;
}
