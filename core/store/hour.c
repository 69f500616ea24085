/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/hour.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

#define HOUR_VERSION 1
#define HOUR_LONGEST_NS (NS_PER_S * 3600 * 25)
#define HOUR_SLACK_S 1.0 /* readings do not begin and end on the hour */

/* --- values --------------------------------------------------------------------------------- */

static int hour_take_text(const struct tree_node *object, const char *key, char *text, size_t size,
                          struct apapi_error *err)
{
    const struct tree_node *node = tree_get(object, key);

    *text = '\0';
    if (!node) {
        return 0;
    }
    if (!tree_is(node, TREE_TEXT)) {
        return apapi_fail(err, EINVAL, "%s: must be a text", key);
    }
    if (node->size >= size) {
        return apapi_fail(err, EINVAL, "%s: longer than %zu bytes", key, size - 1);
    }
    snprintf(text, size, "%s", node->text);
    return 0;
}

static int hour_take_time(const struct tree_node *object, const char *key, int64_t *unix_ns,
                          struct apapi_error *err)
{
    const struct tree_node *node = tree_get(object, key);

    if (!tree_is(node, TREE_TEXT) || timestamp_parse(node->text, unix_ns) || *unix_ns < 0) {
        return apapi_fail(err, EINVAL, "%s: must be a time as \"2026-11-22T10:00:00Z\"", key);
    }
    return 0;
}

/* NaN without a value. */
static int hour_take_number(const struct tree_node *object, const char *key, double least,
                            double *number, struct apapi_error *err)
{
    const struct tree_node *node = tree_get(object, key);

    *number = NAN;
    if (!node || tree_is(node, TREE_NULL)) {
        return 0;
    }
    if (!tree_is_number(node) || tree_number(node) < least) {
        return apapi_fail(err, EINVAL, "%s: must be a number%s", key,
                          least < 0 ? "" : " that is not negative");
    }
    *number = tree_number(node);
    return 0;
}

static int hour_take_count(const struct tree_node *object, const char *key, uint64_t *count,
                           struct apapi_error *err)
{
    const struct tree_node *node = tree_get(object, key);

    *count = 0;
    if (!node) {
        return 0;
    }
    if (!tree_is(node, TREE_INTEGER) || node->integer < 0) {
        return apapi_fail(err, EINVAL, "%s: must be a number of 0 or more", key);
    }
    *count = (uint64_t)node->integer;
    return 0;
}

/* --- sums ----------------------------------------------------------------------------------- */

static const struct hour_sum hour_unknown = {NAN, NAN, NAN, NAN};

/* What is nobody's may be slightly below 0, as it is a difference. */
static int hour_take_sum(const struct tree_node *object, const char *name, struct hour_sum *sum,
                         struct apapi_error *err)
{
    struct apapi_error why;

    *sum = hour_unknown;
    if (!object) {
        return 0;
    }
    if (!tree_is(object, TREE_OBJECT)) {
        return apapi_fail(err, EINVAL, "%s: must be an object", name);
    }
    if (hour_take_number(object, "energy_j", 0, &sum->energy_j, &why) ||
        hour_take_number(object, "steps_j", 0, &sum->steps_j, &why) ||
        hour_take_number(object, "idle_j", 0, &sum->idle_j, &why) ||
        hour_take_number(object, "unattributed_j", -INFINITY, &sum->unattributed_j, &why)) {
        return apapi_fail(err, EINVAL, "%.40s.%.160s", name, why.text);
    }
    return 0;
}

/* Domains that are not known here are left out: a later version may have more. */
static int hour_take_domains(const struct tree_node *object, struct hour *hour,
                             struct apapi_error *err)
{
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        const char *name = apapi_domain_name(d);

        hour->domains[d] = hour_unknown;
        if (d != APAPI_DOMAIN_NONE &&
            hour_take_sum(tree_get(object, name), name, &hour->domains[d], err)) {
            return -1;
        }
    }
    return 0;
}

static int hour_take_sums(const struct tree_node *root, struct hour *hour, struct apapi_error *err)
{
    const struct tree_node *domains = tree_get(root, "domains");

    if (domains && !tree_is(domains, TREE_OBJECT)) {
        return apapi_fail(err, EINVAL, "domains: must be an object");
    }
    return hour_take_domains(domains, hour, err) ||
                   hour_take_sum(tree_get(root, "total"), "total", &hour->total, err) ||
                   hour_take_sum(tree_get(root, "node_meter"), "node_meter", &hour->node_meter, err)
               ? -1
               : 0;
}

/* --- gaps ----------------------------------------------------------------------------------- */

static int hour_take_gap(const struct tree_node *node, struct hour_gap *gap,
                         struct apapi_error *err)
{
    struct apapi_error why = {"must be an object"};

    if (!tree_is(node, TREE_OBJECT) || hour_take_time(node, "start", &gap->start_ns, &why) ||
        hour_take_number(node, "elapsed_s", 0, &gap->elapsed_s, &why) ||
        hour_take_text(node, "reason", gap->reason, sizeof gap->reason, &why)) {
        return apapi_fail(err, EINVAL, "gaps: %.200s", why.text);
    }
    return 0;
}

static int hour_take_gaps(const struct tree_node *root, struct hour *hour, struct apapi_error *err)
{
    const struct tree_node *gaps = tree_get(root, "gaps");
    const struct tree_node *gap;

    if (gaps && !tree_is(gaps, TREE_ARRAY)) {
        return apapi_fail(err, EINVAL, "gaps: must be an array");
    }
    gap = gaps && gaps->size > 0 ? tree_first(gaps) : NULL;
    for (uint32_t i = 0; gap && i < gaps->size && i < HOUR_GAPS_MAX; i++) {
        if (hour_take_gap(gap, &hour->gaps[hour->gap_count++], err)) {
            return -1;
        }
        gap = i + 1 < gaps->size ? tree_next(gap) : NULL;
    }
    if (hour_take_count(root, "gaps_total", &hour->gap_total, err)) {
        return -1;
    }
    hour->gap_total = hour->gap_total < hour->gap_count ? hour->gap_count : hour->gap_total;
    return 0;
}

/* --- the line ------------------------------------------------------------------------------- */

static int hour_take_span(const struct tree_node *root, struct hour *hour, struct apapi_error *err)
{
    double span_s;

    if (hour_take_time(root, "start", &hour->start_ns, err) ||
        hour_take_time(root, "end", &hour->end_ns, err) ||
        hour_take_number(root, "measured_s", 0, &hour->measured_s, err)) {
        return -1;
    }
    if (hour->end_ns < hour->start_ns || hour->end_ns - hour->start_ns > HOUR_LONGEST_NS) {
        return apapi_fail(err, EINVAL, "end: must be after start, and within a day of it");
    }
    span_s = (double)(hour->end_ns - hour->start_ns) / NS_PER_S;
    if (isnan(hour->measured_s) || hour->measured_s > span_s + HOUR_SLACK_S) {
        return apapi_fail(err, EINVAL, "measured_s: must be from 0 to %.9g, the time of the line",
                          span_s);
    }
    return 0;
}

static int hour_take_head(const struct tree_node *root, struct hour *hour, struct apapi_error *err)
{
    if (hour_take_text(root, "cluster", hour->cluster, sizeof hour->cluster, err) ||
        hour_take_text(root, "node", hour->node, sizeof hour->node, err) ||
        hour_take_text(root, "method", hour->method, sizeof hour->method, err)) {
        return -1;
    }
    return *hour->node ? 0 : apapi_fail(err, EINVAL, "node: is missing");
}

static int hour_take(const struct tree_node *root, struct hour *hour, struct apapi_error *err)
{
    *hour = (struct hour){.gap_count = 0};
    return hour_take_head(root, hour, err) || hour_take_span(root, hour, err) ||
                   hour_take_number(root, "idle_w", 0, &hour->idle_w, err) ||
                   hour_take_count(root, "steps", &hour->steps, err) ||
                   hour_take_count(root, "resets", &hour->resets, err) ||
                   hour_take_sums(root, hour, err) || hour_take_gaps(root, hour, err)
               ? -1
               : 1;
}

int hour_decode(struct tree *tree, const char *text, size_t size, struct hour *hour,
                struct apapi_error *err)
{
    struct tree_problem problem;
    const struct tree_node *root, *version, *type;

    if (tree_parse(tree, text, size, &problem)) {
        return errno == ENOMEM
                   ? -1
                   : apapi_fail(err, EINVAL, "column %zu: %s", problem.column, problem.what);
    }
    root = tree->nodes;
    version = tree_get(root, "apapi");
    type = tree_get(root, "type");
    if (!tree_is(version, TREE_INTEGER)) {
        return apapi_fail(err, EINVAL, "not a line of a node's record: no \"apapi\":%d",
                          HOUR_VERSION);
    }
    if (version->integer != HOUR_VERSION) {
        return apapi_fail(err, ENOTSUP, "version %lld of a node's record; this is of version %d",
                          (long long)version->integer, HOUR_VERSION);
    }
    if (!tree_is(type, TREE_TEXT)) {
        return apapi_fail(err, EINVAL, "type: must be \"hour\" or \"day\"");
    }
    return strcmp(type->text, "hour") == 0 ? hour_take(root, hour, err) : 0;
}
