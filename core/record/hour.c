/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/hour.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "record/fields.h"
#include "record/files.h"
#include "record/members.h"

/* --- an hour ---------------------------------------------------------------------------------- */

#define HOUR_VERSION 1
#define HOUR_LONGEST_NS (NS_PER_S * 3600 * 25)
#define HOUR_SLACK_S 1.0 /* readings do not begin and end on the hour */

static const struct field fields_of_hour[] = {FIELD_TEXT_OF(hour, "cluster", false, cluster),
                                              FIELD_TEXT_OF(hour, "node", true, node),
                                              FIELD_OF(hour, "start", MOMENT, true, start_ns),
                                              FIELD_OF(hour, "end", MOMENT, true, end_ns),
                                              FIELD_OF(hour, "measured_s", EXACT, true, measured_s),
                                              FIELD_OF(hour, "idle_w", ROUGH, false, idle_w),
                                              FIELD_OF(hour, "steps", COUNT, false, steps),
                                              FIELD_TEXT_OF(hour, "method", false, method),
                                              FIELD_OF(hour, "resets", COUNT, false, resets),
                                              FIELD_OF(hour, "gaps_total", COUNT, false, gap_total),
                                              FIELD_END};

/* Unattributed energy may be slightly below 0, as it is a difference. */
static const struct field fields_of_sum[] = {
    FIELD_OF(hour_sum, "energy_j", REAL, false, energy_j),
    FIELD_OF(hour_sum, "steps_j", REAL, false, steps_j),
    FIELD_OF(hour_sum, "idle_j", REAL, false, idle_j),
    FIELD_OF(hour_sum, "unattributed_j", REAL, false, unattributed_j), FIELD_END};

static const struct field fields_of_gap[] = {
    FIELD_OF(hour_gap, "start", MOMENT, true, start_ns),
    FIELD_OF(hour_gap, "elapsed_s", REAL, false, elapsed_s),
    FIELD_TEXT_OF(hour_gap, "reason", false, reason), FIELD_END};

/* --- reading -------------------------------------------------------------------------------- */

static int check_sum(const struct tree_node *object, void *structure, const struct field_path *path)
{
    const struct hour_sum *sum = structure;

    (void)object;
    return sum->energy_j < 0 ? field_fail(path, "energy_j", "below 0") : 0;
}

#define SUM_OF(name, type, member)                                                                 \
    {                                                                                              \
        .key = (name), .form = (type), .always = (type) == FIELD_DOMAINS,                          \
        .offset = offsetof(struct hour, member), .size = sizeof(struct hour_sum),                  \
        .fields = fields_of_sum, .read = check_sum                                                 \
    }

static const struct field fields_of_sums[] = {
    SUM_OF("domains", FIELD_DOMAINS, domains), SUM_OF("total", FIELD_OBJECT, total),
    SUM_OF("node_meter", FIELD_OBJECT, node_meter), FIELD_END};

static int hour_take_gaps(const struct tree_node *root, struct hour *hour,
                          const struct field_path *path)
{
    const struct field_path here = {path, "gaps", &hour->gap_count, path->err};
    const struct tree_node *gaps = tree_get(root, "gaps"), *gap = NULL;

    if (gaps && !tree_is(gaps, TREE_ARRAY)) {
        return field_fail(path, "gaps", "not an array");
    }
    for (; hour->gap_count < HOUR_GAPS_MAX && (gap = tree_each(gaps, gap)); hour->gap_count++) {
        if (fields_decode(gap, fields_of_gap, &hour->gaps[hour->gap_count], &here) < 0) {
            return -1;
        }
    }
    hour->gap_total = hour->gap_total < hour->gap_count ? hour->gap_count : hour->gap_total;
    return 0;
}

static int hour_check(const struct hour *hour, const struct field_path *path)
{
    if (!*hour->node) {
        return field_fail(path, "node", "is missing");
    }
    if (hour->start_ns < 0 || hour->end_ns < hour->start_ns ||
        hour->end_ns - hour->start_ns > HOUR_LONGEST_NS) {
        return field_fail(path, "end", "must be after start, and within a day of it");
    }
    if (hour->measured_s > (double)(hour->end_ns - hour->start_ns) / NS_PER_S + HOUR_SLACK_S) {
        return field_fail(path, "measured_s", "longer than the time of the line");
    }
    return hour->idle_w < 0 ? field_fail(path, "idle_w", "below 0") : 0;
}

int hour_decode(struct tree *tree, const char *text, size_t size, struct hour *hour,
                struct apapi_error *err)
{
    const struct field_path path = {NULL, "", NULL, err};
    const struct tree_node *root, *version, *type;
    struct tree_problem problem;

    if (tree_parse(tree, text, size, &problem)) {
        if (errno != ENOMEM) {
            apapi_fail(err, EINVAL, "column %zu: %s", problem.column, problem.what);
        }
        return -1;
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
    if (strcmp(type->text, "hour") != 0) {
        return 0;
    }
    *hour = (struct hour){.gap_count = 0};
    return fields_decode(root, fields_of_hour, hour, &path) < 0 || hour_check(hour, &path) < 0 ||
                   fields_decode(root, fields_of_sums, hour, &path) < 0 ||
                   hour_take_gaps(root, hour, &path) < 0
               ? -1
               : 1;
}

/* --- writing ---------------------------------------------------------------------------------- */

char *hour_encode(const struct hour *hour)
{
    struct json_writer json = {0};

    json_begin_object(&json, NULL);
    json_put_integer(&json, "apapi", HOUR_VERSION);
    json_put_text(&json, "type", "hour");
    fields_write(&json, fields_of_hour, hour);
    fields_write(&json, fields_of_sums, hour);
    json_begin_array(&json, "gaps");
    for (size_t i = 0; i < hour->gap_count; i++) {
        json_begin_object(&json, NULL);
        fields_write(&json, fields_of_gap, &hour->gaps[i]);
        json_end(&json);
    }
    json_end(&json);
    json_end(&json);
    return json_take(&json);
}

/* --- files ------------------------------------------------------------------------------------ */

#define HOUR_NS (3600 * NS_PER_S)

static int hours_take_line(struct apapi_scan *scan, const struct line *line)
{
    const struct filter *filter = &scan->filter;
    struct apapi_error err = {""};
    struct hour hour = {.start_ns = 0};
    int got = hour_decode(&scan->tree, line->text, line->size, &hour, &err);

    if (got < 0) {
        if (errno == ENOMEM) {
            return -1;
        }
        scan->counts.newer += errno == ENOTSUP;
        scan_skip(scan, line, line->whole ? err.text : "the end of the line is missing");
    }
    if (got <= 0 || hour.start_ns < filter->from_ns || hour.start_ns >= filter->to_ns - HOUR_NS ||
        !filter_wants_place(filter, hour.cluster, hour.node)) {
        return 0;
    }
    scan->counts.records++;
    scan->stopped = scan->hour(&hour, scan->sink.context) != 0;
    return scan->stopped ? -1 : 1;
}

int hours_read(const char *dir, const struct apapi_scan_filter *filter,
               const struct apapi_scan_sink *sink, hour_f take, struct apapi_error *err)
{
    struct apapi_scan_filter days = *filter;
    struct apapi_scan *scan;
    int result = -1;

    /* a line is written when its hour ends, perhaps in the next day's file */
    days.to_unix_ns += days.to_unix_ns ? HOUR_NS : 0;
    scan = apapi_scan_create(&days, sink, err);
    if (scan) {
        scan->take = hours_take_line;
        scan->hour = take;
        scan->suffix = ".hours";
        result = apapi_scan_folder(scan, dir, err);
    }
    apapi_scan_destroy(scan);
    return result;
}
