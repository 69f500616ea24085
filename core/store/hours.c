/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/hours.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "store/scan_lines.h"
#include "store/walk.h"

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
    struct hour hour;
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
