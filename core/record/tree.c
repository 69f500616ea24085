/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/tree.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "record/fields.h"
#include "record/members.h"
#include "record/record.h"

/* The members that were written, as a tree. */
static int add_written(json_t *object, struct json_writer *json)
{
    char *text;
    json_t *written;

    json_end(json);
    text = json_take(json);
    written = text ? json_loads(text, 0, NULL) : NULL;
    free(text);
    if (!written || json_object_update(object, written)) {
        json_decref(written);
        return FIELDS_OUT_OF_MEMORY;
    }
    json_decref(written);
    return FIELDS_WRITTEN;
}

int fields_encode(json_t *object, const struct field *fields, const void *base)
{
    struct json_writer json = {0};

    json_begin_object(&json, NULL);
    fields_write(&json, fields, base);
    return add_written(object, &json);
}

json_t *fields_object(const struct field *fields, const void *base)
{
    json_t *object = json_object();

    if (object && fields_encode(object, fields, base) < 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}

int regions_encode(json_t *root, const struct apapi_regions *regions)
{
    struct json_writer json = {0};

    json_begin_object(&json, NULL);
    regions_write(&json, regions);
    return add_written(root, &json);
}

int share_encode(json_t *root, const struct apapi_share *share)
{
    struct json_writer json = {0};

    json_begin_object(&json, NULL);
    share_write(&json, share);
    return add_written(root, &json);
}

json_t *share_object(const struct apapi_share *share)
{
    struct json_writer json = {0};
    json_t *object = json_object();

    json_begin_object(&json, NULL);
    share_members_write(&json, share);
    if (object && add_written(object, &json)) {
        json_decref(object);
        return NULL;
    }
    return object;
}

int timeline_encode(json_t *object, const struct apapi_timeline *timeline)
{
    struct json_writer json = {0};

    json_begin_object(&json, NULL);
    timeline_write(&json, timeline);
    return add_written(object, &json);
}

json_t *domain_list_json(uint32_t set)
{
    json_t *array = json_array();

    for (int d = 0; d < APAPI_DOMAINS && array; d++) {
        if (set & domain_bit(d) &&
            json_array_append_new(array, json_string(apapi_domain_name(d))) < 0) {
            json_decref(array);
            array = NULL;
        }
    }
    return array;
}

int field_put(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) < 0 ? FIELDS_OUT_OF_MEMORY : FIELDS_WRITTEN;
}

json_t *field_text(const char *text)
{
    char valid[1024];

    text_utf8(valid, sizeof(valid), text);
    return json_string(valid);
}

int field_put_text(json_t *object, const char *key, const char *text)
{
    return field_put(object, key, field_text(text));
}

int field_put_count(json_t *object, const char *key, uint64_t count)
{
    char digits[24];

    if (count <= INT64_MAX) {
        return field_put(object, key, json_integer((json_int_t)count));
    }
    snprintf(digits, sizeof(digits), "%" PRIu64, count);
    return field_put(object, key, json_string(digits));
}

int field_put_rounded(json_t *object, const char *key, double value, int figures)
{
    return isfinite(value) ? field_put(object, key, json_real(json_rounded(value, figures)))
                           : FIELDS_WRITTEN;
}

int field_put_measured(json_t *object, const char *key, double value)
{
    return field_put_rounded(object, key, value, FIELD_MEASURED_FIGURES);
}

int field_put_rough(json_t *object, const char *key, double value)
{
    return field_put_rounded(object, key, value, FIELD_ROUGH_FIGURES);
}

int field_put_moment(json_t *object, const char *key, int64_t unix_ns)
{
    char text[TIMESTAMP_SIZE];

    timestamp_format(text, sizeof(text), unix_ns);
    return field_put(object, key, json_string(text));
}

/* NULL with *result 0: it is left out. */
static json_t *fields_encode_element(fields_put_f put, const void *list, size_t i, int *result)
{
    json_t *object = json_object();
    int outcome = object ? put(object, list, i) : FIELDS_OUT_OF_MEMORY;

    *result =
        outcome == FIELDS_WRITTEN || outcome == FIELDS_NONE ? FIELDS_WRITTEN : FIELDS_OUT_OF_MEMORY;
    if (outcome == FIELDS_WRITTEN) {
        return object;
    }
    json_decref(object);
    return NULL;
}

int fields_put_list(json_t *object, const char *key, size_t count, fields_put_f put,
                    const void *list)
{
    json_t *array = json_array();
    int result = field_put(object, key, array);

    for (size_t i = 0; i < count && result == FIELDS_WRITTEN; i++) {
        json_t *element = fields_encode_element(put, list, i, &result);

        result = element ? json_array_append_new(array, element) : result;
    }
    return result;
}

int fields_put_domains(json_t *object, const char *key, fields_put_f put, const void *list)
{
    json_t *domains = json_object();
    int result = field_put(object, key, domains);

    for (size_t d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS && result == FIELDS_WRITTEN; d++) {
        json_t *element = fields_encode_element(put, list, d, &result);

        result =
            element ? field_put(domains, apapi_domain_name((enum apapi_domain)d), element) : result;
    }
    return result;
}

void fields_drop_empty(json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    if (json_array_size(value) == 0 && json_object_size(value) == 0) {
        json_object_del(object, key);
    }
}

char *fields_dump(const json_t *value, size_t flags)
{
    return text_escape_json(json_dumps(value, flags));
}

char *fields_text(json_t *object, int result)
{
    char *text =
        result ? NULL : fields_dump(object, JSON_COMPACT | JSON_REAL_PRECISION(FIELD_FIGURES));

    json_decref(object);
    return text;
}
