/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIT_MERGE_ENCODE_FIXTURE_H
#define UNIT_MERGE_ENCODE_FIXTURE_H
#include <jansson.h>

#include "unit/merge_fixture.h"

static const struct apapi_summary power_w = {90, 100, 110, 109};

static json_t *root; /* the latest merged record */

static inline void free_both(void)
{
    free_merge();
    json_decref(root);
    root = NULL;
}

/* A test with an empty merge. */
#define ENCODED(name) TEST_WITH(name, make_merge, free_both)

static inline void encode(const char *step)
{
    char *line = NULL;

    assert_int_equal(apapi_merge_encode(merge, step, &line, NULL), 0);
    assert_null(strchr(line, '\n'));
    json_decref(root);
    root = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    free(line);
}

/* "domains.package.energy_j", "missing.0.node"; NULL: not there. */
static inline json_t *at(json_t *value, const char *path)
{
    char text[128], *rest = text;

    snprintf(text, sizeof text, "%s", path);
    for (char *key = strtok_r(text, ".", &rest); key; key = strtok_r(NULL, ".", &rest)) {
        value = json_is_array(value) ? json_array_get(value, strtoul(key, NULL, 10))
                                     : json_object_get(value, key);
    }
    return value;
}

static inline void assert_number(const char *path, double expected)
{
    if (!json_is_number(at(root, path))) {
        fail_msg("%s is not there", path);
    }
    assert_value(json_number_value(at(root, path)), expected);
}

static inline void assert_text(const char *path, const char *expected)
{
    if (!json_is_string(at(root, path))) {
        fail_msg("%s is not there", path);
    }
    assert_string_equal(json_string_value(at(root, path)), expected);
}

static inline void assert_absent(const char *const *paths, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (at(root, paths[i])) {
            fail_msg("%s is there", paths[i]);
        }
    }
}

static inline struct apapi_record step_record(const char *node, uint32_t index)
{
    struct apapi_record record = node_record(node, index);
    struct apapi_identity *id = &record.id;

    *id = APAPI_IDENTITY_UNKNOWN;
    snprintf(id->node, sizeof id->node, "%s", node);
    snprintf(id->cluster, sizeof id->cluster, "mars");
    snprintf(id->step, sizeof id->step, "0");
    snprintf(id->user, sizeof id->user, "alice");
    id->job = 17;
    id->uid = 1000;
    id->node_index = index;
    id->nodes = 3;
    id->tasks = 4;
    id->cores = 8;
    id->gpus = 1;
    id->verified = true;
    record.ending = (struct apapi_ending){0, APAPI_UNKNOWN, APAPI_UNKNOWN};
    record.measurement.start_unix_ns = (int64_t)((1000 + index) * S);
    record.measurement.cpu_ns = S / 4;
    set_domain(&record, APAPI_DOMAIN_PACKAGE, 1000 * (index + 1), power_w);
    return record;
}

#endif
