/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/hour_encode.h"

#include <jansson.h>
#include <math.h>

#include "record/fields.h"

#define HOUR_VERSION 1

static int hour_encode_sum(json_t *object, const struct hour_sum *sum)
{
    return field_put_rounded(object, "energy_j", sum->energy_j, FIELD_FIGURES) ||
           field_put_rounded(object, "steps_j", sum->steps_j, FIELD_FIGURES) ||
           field_put_rounded(object, "idle_j", sum->idle_j, FIELD_FIGURES) ||
           field_put_rounded(object, "unattributed_j", sum->unattributed_j, FIELD_FIGURES);
}

static int hour_encode_domain(json_t *object, const void *hour, size_t d)
{
    const struct hour_sum *sum = &((const struct hour *)hour)->domains[d];

    return isnan(sum->energy_j) ? FIELDS_NONE : hour_encode_sum(object, sum);
}

static int hour_encode_put_sum(json_t *root, const char *key, const struct hour_sum *sum)
{
    json_t *object = isnan(sum->energy_j) ? NULL : json_object();

    return !isnan(sum->energy_j) && (field_put(root, key, object) || hour_encode_sum(object, sum));
}

static int hour_encode_gap(json_t *object, const void *hour, size_t i)
{
    const struct hour_gap *gap = &((const struct hour *)hour)->gaps[i];

    return field_put_moment(object, "start", gap->start_ns) ||
           field_put_rounded(object, "elapsed_s", gap->elapsed_s, FIELD_FIGURES) ||
           field_put_text(object, "reason", gap->reason);
}

static int hour_encode_head(json_t *root, const struct hour *hour, const char *type)
{
    return field_put(root, "apapi", json_integer(HOUR_VERSION)) ||
           field_put_text(root, "type", type) ||
           (*hour->cluster && field_put_text(root, "cluster", hour->cluster)) ||
           field_put_text(root, "node", hour->node) ||
           field_put_moment(root, "start", hour->start_ns) ||
           field_put_moment(root, "end", hour->end_ns) ||
           field_put_rounded(root, "measured_s", hour->measured_s, FIELD_FIGURES) ||
           field_put_rough(root, "idle_w", hour->idle_w) ||
           (hour->steps > 0 && field_put_count(root, "steps", hour->steps)) ||
           field_put_text(root, "method", hour->method);
}

char *hour_encode(const struct hour *hour, const char *type)
{
    json_t *root = json_object();

    return fields_text(
        root, hour_encode_head(root, hour, type) ||
                  fields_put_domains(root, "domains", hour_encode_domain, hour) ||
                  hour_encode_put_sum(root, "total", &hour->total) ||
                  hour_encode_put_sum(root, "node_meter", &hour->node_meter) ||
                  (hour->gap_total > 0 &&
                   (fields_put_list(root, "gaps", hour->gap_count, hour_encode_gap, hour) ||
                    field_put_count(root, "gaps_total", hour->gap_total))) ||
                  (hour->resets > 0 && field_put_count(root, "resets", hour->resets)));
}
