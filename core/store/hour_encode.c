/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/hour_encode.h"

#include <jansson.h>
#include <math.h>

#include "record/fields.h"

#define HOUR_VERSION 1

static json_t *hour_encode_sum(const struct hour_sum *sum)
{
    const struct {
        const char *key;
        double value;
    } members[] = {{"energy_j", sum->energy_j},
                   {"steps_j", sum->steps_j},
                   {"idle_j", sum->idle_j},
                   {"unattributed_j", sum->unattributed_j}};
    json_t *object = json_object();

    for (size_t i = 0; object && i < sizeof members / sizeof *members; i++) {
        if (field_put_rounded(object, members[i].key, members[i].value, FIELD_FIGURES) < 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

static int hour_encode_put_sum(json_t *object, const char *key, const struct hour_sum *sum)
{
    return isnan(sum->energy_j) ? 0 : field_put(object, key, hour_encode_sum(sum));
}

static int hour_encode_domains(json_t *root, const struct hour *hour)
{
    json_t *domains = json_object();
    int result = field_put(root, "domains", domains);

    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS && result == 0; d++) {
        result = hour_encode_put_sum(domains, apapi_domain_name(d), &hour->domains[d]);
    }
    return result;
}

static json_t *hour_encode_gap(const struct hour_gap *gap)
{
    json_t *object = json_object();

    if (object && (field_put_moment(object, "start", gap->start_ns) < 0 ||
                   field_put_rounded(object, "elapsed_s", gap->elapsed_s, FIELD_FIGURES) < 0 ||
                   field_put_text(object, "reason", gap->reason) < 0)) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static int hour_encode_gaps(json_t *root, const struct hour *hour)
{
    json_t *gaps;
    int result;

    if (hour->gap_total == 0) {
        return 0;
    }
    gaps = json_array();
    result = field_put(root, "gaps", gaps);
    for (size_t i = 0; i < hour->gap_count && result == 0; i++) {
        result = json_array_append_new(gaps, hour_encode_gap(&hour->gaps[i]));
    }
    return result < 0 ? -1 : field_put_count(root, "gaps_total", hour->gap_total);
}

static int hour_encode_head(json_t *root, const struct hour *hour, const char *type)
{
    return field_put(root, "apapi", json_integer(HOUR_VERSION)) < 0 ||
                   field_put_text(root, "type", type) < 0 ||
                   (*hour->cluster && field_put_text(root, "cluster", hour->cluster) < 0) ||
                   field_put_text(root, "node", hour->node) < 0 ||
                   field_put_moment(root, "start", hour->start_ns) < 0 ||
                   field_put_moment(root, "end", hour->end_ns) < 0 ||
                   field_put_rounded(root, "measured_s", hour->measured_s, FIELD_FIGURES) < 0 ||
                   field_put_rounded(root, "idle_w", hour->idle_w, FIELD_ROUGH_FIGURES) < 0 ||
                   (hour->steps > 0 && field_put_count(root, "steps", hour->steps) < 0) ||
                   field_put_text(root, "method", hour->method) < 0
               ? -1
               : 0;
}

char *hour_encode(const struct hour *hour, const char *type)
{
    json_t *root = json_object();
    char *line = NULL;

    if (root && hour_encode_head(root, hour, type) == 0 && hour_encode_domains(root, hour) == 0 &&
        hour_encode_put_sum(root, "total", &hour->total) == 0 &&
        hour_encode_put_sum(root, "node_meter", &hour->node_meter) == 0 &&
        hour_encode_gaps(root, hour) == 0 &&
        (hour->resets == 0 || field_put_count(root, "resets", hour->resets) == 0)) {
        line = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(FIELD_FIGURES));
    }
    json_decref(root);
    return line;
}
