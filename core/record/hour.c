/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/hour.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "record/fields.h"
#include "record/files.h"

/* --- an hour ---------------------------------------------------------------------------------- */

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

/* Unattributed energy may be slightly below 0, as it is a difference. */
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
        hour_take_number(object, "steps_j", -INFINITY, &sum->steps_j, &why) ||
        hour_take_number(object, "idle_j", -INFINITY, &sum->idle_j, &why) ||
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
    return strcmp(type->text, "hour") == 0 ? hour_take(root, hour, err) : 0;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void write_sum(struct json_writer *json, const char *key, const struct hour_sum *sum)
{
    if (isnan(sum->energy_j)) {
        return;
    }
    json_begin_object(json, key);
    json_put_number(json, "energy_j", sum->energy_j, JSON_EXACT);
    json_put_number(json, "steps_j", sum->steps_j, JSON_EXACT);
    json_put_number(json, "idle_j", sum->idle_j, JSON_EXACT);
    json_put_number(json, "unattributed_j", sum->unattributed_j, JSON_EXACT);
    json_end(json);
}

static void write_gaps(struct json_writer *json, const struct hour *hour)
{
    json_begin_array(json, "gaps");
    for (size_t i = 0; i < hour->gap_count; i++) {
        json_begin_object(json, NULL);
        json_put_moment(json, "start", hour->gaps[i].start_ns);
        json_put_number(json, "elapsed_s", hour->gaps[i].elapsed_s, JSON_EXACT);
        json_put_text(json, "reason", hour->gaps[i].reason);
        json_end(json);
    }
    json_end(json);
    json_put_count(json, "gaps_total", hour->gap_total);
}

static void write_head(struct json_writer *json, const struct hour *hour, const char *type)
{
    json_put_integer(json, "apapi", HOUR_VERSION);
    json_put_text(json, "type", type);
    if (*hour->cluster) {
        json_put_text(json, "cluster", hour->cluster);
    }
    json_put_text(json, "node", hour->node);
    json_put_moment(json, "start", hour->start_ns);
    json_put_moment(json, "end", hour->end_ns);
    json_put_number(json, "measured_s", hour->measured_s, JSON_EXACT);
    json_put_number(json, "idle_w", hour->idle_w, JSON_ROUGH);
    if (hour->steps > 0) {
        json_put_count(json, "steps", hour->steps);
    }
    json_put_text(json, "method", hour->method);
}

char *hour_encode(const struct hour *hour, const char *type)
{
    struct json_writer json = {0};

    json_begin_object(&json, NULL);
    write_head(&json, hour, type);
    json_begin_object(&json, "domains");
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        write_sum(&json, apapi_domain_name(d), &hour->domains[d]);
    }
    json_end(&json);
    write_sum(&json, "total", &hour->total);
    write_sum(&json, "node_meter", &hour->node_meter);
    if (hour->gap_total > 0) {
        write_gaps(&json, hour);
    }
    if (hour->resets > 0) {
        json_put_count(&json, "resets", hour->resets);
    }
    json_end(&json);
    return json_take(&json);
}

/* --- files ------------------------------------------------------------------------------------ */

#define HOUR_NS (3600 * NS_PER_S)

struct reading {
    const struct hours_sink *sink;
    struct apapi_scan_counts *counts;
    struct filter filter; /* of days: those with the lines of hours that begin in the time */
    int64_t from_ns, to_ns;
    struct lines lines;
    struct tree tree;
    const char *path;
};

static void hours_report(const struct reading *reading, const struct apapi_scan_problem *problem)
{
    if (reading->sink->problem) {
        reading->sink->problem(problem, reading->sink->context);
    }
}

static void hours_leave_out(const char *path, const char *reason, void *context)
{
    struct reading *reading = context;

    reading->counts->unreadable++;
    hours_report(reading, &(struct apapi_scan_problem){.file = path, .reason = reason});
}

static void hours_skip(struct reading *reading, const struct line *line, const char *reason)
{
    reading->counts->skipped++;
    hours_report(reading, &(struct apapi_scan_problem){.file = reading->path,
                                                       .line = line->number,
                                                       .offset = line->offset,
                                                       .reason = reason});
}

static bool hours_wants(const struct reading *reading, const struct hour *hour)
{
    return hour->start_ns >= reading->from_ns && hour->start_ns < reading->to_ns &&
           filter_wants_node(&reading->filter, hour->node);
}

static int hours_take_line(struct reading *reading, const struct line *line)
{
    struct apapi_error err = {""};
    struct hour hour = {.start_ns = 0};
    int got;

    if (line->size == SIZE_MAX) {
        hours_skip(reading, line, "longer than 1 MiB");
        return 0;
    }
    got = hour_decode(&reading->tree, line->text, line->size, &hour, &err);
    if (got < 0) {
        if (errno == ENOMEM) {
            return -1;
        }
        reading->counts->newer += errno == ENOTSUP;
        hours_skip(reading, line, line->whole ? err.text : "the end of the line is missing");
    }
    if (got <= 0 || !hours_wants(reading, &hour)) {
        return 0;
    }
    reading->counts->records++;
    return reading->sink->hour(&hour, reading->sink->context);
}

/* @return 0; -1 with errno: the file is damaged; 1 with errno: stop */
static int hours_take_lines(struct reading *reading, int fd)
{
    struct line line;
    int got;

    if (lines_begin(&reading->lines, fd, 0)) {
        return errno == ENOMEM ? 1 : -1;
    }
    reading->counts->files++;
    while ((got = lines_next(&reading->lines, &line)) > 0) {
        if (hours_take_line(reading, &line)) {
            return 1;
        }
    }
    return got;
}

static int hours_take_file(const struct apapi_scan_file *file, const char *path, int fd,
                           void *context)
{
    struct reading *reading = context;
    const struct hours_sink *sink = reading->sink;
    const char *problem;
    int result;

    if (sink->begin && !sink->begin(file, sink->context)) {
        return 0;
    }
    reading->path = path;
    result = hours_take_lines(reading, fd);
    if (result < 0) {
        problem = lines_problem(&reading->lines);
        hours_leave_out(path, problem ? problem : strerror(errno), reading);
        return 0;
    }
    if (result == 0 && sink->end) {
        sink->end(file, sink->context);
    }
    return result ? -1 : 0;
}

/* A line is written when its hour ends, perhaps in the next day's file. */
static int hours_choose(struct reading *reading, const struct apapi_scan_filter *filter,
                        struct apapi_error *err)
{
    struct apapi_scan_filter days = {.from_unix_ns = filter->from_unix_ns, .nodes = filter->nodes};

    reading->from_ns = filter->from_unix_ns;
    reading->to_ns = filter->to_unix_ns ? filter->to_unix_ns : INT64_MAX;
    days.to_unix_ns = filter->to_unix_ns ? filter->to_unix_ns + HOUR_NS : 0;
    return filter_init(&reading->filter, &days, err);
}

int hours_read(const char *dir, const struct apapi_scan_filter *filter,
               const struct hours_sink *sink, struct apapi_scan_counts *counts,
               struct apapi_error *err)
{
    struct reading reading = {.sink = sink, .counts = counts};
    const struct walk walk = {.suffix = ".hours",
                              .filter = &reading.filter,
                              .file = hours_take_file,
                              .leave_out = hours_leave_out,
                              .context = &reading};
    int result, code;

    *counts = (struct apapi_scan_counts){0};
    result = hours_choose(&reading, filter, err) ? -1 : walk_folder(&walk, dir, err);
    code = errno;
    filter_free(&reading.filter);
    lines_free(&reading.lines);
    tree_free(&reading.tree);
    errno = code;
    return result;
}
