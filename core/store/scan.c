/* SPDX-License-Identifier: BSD-3-Clause */
#include "apapi/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/scan_filter.h"
#include "store/scan_lines.h"
#include "store/scan_parts.h"
#include "store/walk.h"

struct apapi_scan {
    struct filter filter;
    struct apapi_scan_sink sink;
    struct apapi_scan_counts counts;
    struct lines lines;
    bool stopped; /* by the sink */
};

struct apapi_scan *apapi_scan_create(const struct apapi_scan_filter *filter,
                                     const struct apapi_scan_sink *sink, struct apapi_error *err)
{
    struct apapi_scan *scan = calloc(1, sizeof *scan);

    if (!scan) {
        apapi_fail(err, ENOMEM, "no memory");
        return NULL;
    }
    scan->sink = *sink;
    if (filter_init(&scan->filter, filter, err)) {
        apapi_scan_destroy(scan);
        return NULL;
    }
    return scan;
}

void apapi_scan_destroy(struct apapi_scan *scan)
{
    int saved = errno;

    if (scan) {
        lines_free(&scan->lines);
        filter_free(&scan->filter);
        free(scan);
    }
    errno = saved;
}

const struct apapi_scan_counts *apapi_scan_counts(const struct apapi_scan *scan)
{
    return &scan->counts;
}

/* --- lines ---------------------------------------------------------------------------------- */

/* The input: `offset` is where to begin, later the end of the complete lines. */
struct source {
    int fd;
    const char *name;
    bool from_begin;
    uint64_t offset;
};

static void scan_report_problem(const struct apapi_scan *scan,
                                const struct apapi_scan_problem *problem)
{
    if (scan->sink.problem) {
        scan->sink.problem(problem, scan->sink.context);
    }
}

static void skip(struct apapi_scan *scan, const struct source *source, const struct line *line,
                 const char *reason)
{
    const struct apapi_scan_problem problem = {.file = source->name,
                                               .line = source->from_begin ? line->number : 0,
                                               .offset = line->offset,
                                               .reason = reason};

    scan->counts.skipped++;
    scan_report_problem(scan, &problem);
}

/* A record in a line: the whole line, an element of an array, or a node of a merged record. */
struct part {
    struct apapi_scan *scan;
    const struct source *source;
    const struct line *line;
    size_t records; /* found in the line */
    bool made;      /* from a merged record */
};

static int scan_hand_over(struct apapi_scan *scan, const struct apapi_record *record,
                          const char *text, size_t size)
{
    int result;

    if (!filter_wants(&scan->filter, record)) {
        return 0;
    }
    scan->counts.records++;
    result = scan->sink.record(record, text, size, scan->sink.context);
    scan->stopped = result != 0;
    return result;
}

/* Check that its end fits into 64 bits. Code that uses records relies on that. */
static bool has_time(const struct apapi_measurement *m)
{
    return m->start_unix_ns >= 0 && m->elapsed_ns <= (uint64_t)(INT64_MAX - m->start_unix_ns);
}

static int scan_take_record(struct part *part, const char *text, size_t size,
                            const struct apapi_record *record)
{
    part->records++;
    if (!has_time(&record->measurement)) {
        skip(part->scan, part->source, part->line,
             "record: its time is not within the years 1970 to 2262");
        return 0;
    }
    return scan_hand_over(part->scan, record, text, size);
}

static int scan_take_part(const char *text, size_t size, void *context);

/* Handle arrays of records and merged records; skip anything else. */
static int take_other(struct part *part, const char *text, size_t size,
                      const struct apapi_error *err)
{
    bool newer = errno == ENOTSUP;
    int result = 1;

    if (!newer && !part->made) {
        part->made = true;
        result = parts_of_merged(text, size, scan_take_part, part);
        part->made = false;
    }
    if (result == 1 && !newer && parts_is_absence(text, size)) {
        part->records++;
        return 0;
    }
    if (result == 1) {
        part->scan->counts.newer += newer;
        skip(part->scan, part->source, part->line,
             part->line->whole || newer ? err->text : "the end of the line is missing");
        return 0;
    }
    return result;
}

static int scan_take_part(const char *text, size_t size, void *context)
{
    struct part *part = context;
    struct apapi_record record;
    struct apapi_error err = {""};
    int result;

    if (!filter_may_want(&part->scan->filter, text, size)) {
        return 0;
    }
    if (apapi_record_decode(text, size, &record, &err)) {
        return errno == ENOMEM ? -1 : take_other(part, text, size, &err);
    }
    result = scan_take_record(part, text, size, &record);
    apapi_record_clear(&record);
    return result ? -1 : 0;
}

static int scan_take_line(struct apapi_scan *scan, struct source *source, const struct line *line)
{
    uint64_t behind = line->offset + line->size + line->whole;
    struct part part = {.scan = scan, .source = source, .line = line};
    int result;

    if (line->size == SIZE_MAX) {
        skip(scan, source, line, "longer than 1 MiB");
        return 0;
    }
    result = parts_each(line->text, line->size, scan_take_part, &part);
    if (line->whole || part.records > 0) { /* the rest of a torn line may still be written */
        source->offset = behind;
    }
    return result;
}

static const char *scan_reason_of(const struct apapi_scan *scan)
{
    const char *problem = lines_problem(&scan->lines);

    return problem ? problem : strerror(errno);
}

static int fail_source(const struct apapi_scan *scan, const struct source *source,
                       struct apapi_error *err)
{
    return apapi_fail(err, errno, "%.160s: %s", source->name, scan_reason_of(scan));
}

static int read_source(struct apapi_scan *scan, struct source *source, struct apapi_error *err)
{
    struct line line;
    int got;

    if (lines_begin(&scan->lines, source->fd, source->offset)) {
        return fail_source(scan, source, err);
    }
    scan->counts.files++;
    while ((got = lines_next(&scan->lines, &line)) > 0) {
        if (scan_take_line(scan, source, &line)) {
            return apapi_fail(err, errno, "%s", scan->stopped ? "" : strerror(errno));
        }
    }
    return got == 0 ? 0 : fail_source(scan, source, err);
}

int apapi_scan_stream(struct apapi_scan *scan, int fd, const char *name, struct apapi_error *err)
{
    struct source source = {.fd = fd, .name = name, .from_begin = true};

    scan->stopped = false;
    return read_source(scan, &source, err);
}

int apapi_scan_file(struct apapi_scan *scan, const char *path, struct apapi_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    int result, saved;

    if (fd < 0) {
        return apapi_fail(err, errno, "%.160s: %s", path, strerror(errno));
    }
    result = apapi_scan_stream(scan, fd, path, err);
    saved = errno;
    close(fd);
    errno = saved;
    return result;
}

/* --- folders -------------------------------------------------------------------------------- */

/* Report a folder or file below the named one that cannot be read. */
static void scan_leave_out(const char *path, const char *reason, void *context)
{
    struct apapi_scan *scan = context;
    const struct apapi_scan_problem problem = {.file = path, .reason = reason};

    scan->counts.unreadable++;
    scan_report_problem(scan, &problem);
}

static int scan_read_regular(const struct apapi_scan_file *file, const char *path, int fd,
                             void *context)
{
    struct apapi_scan *scan = context;
    const struct apapi_scan_sink *sink = &scan->sink;
    struct source source = {.fd = fd, .name = path};
    bool packed = inflow_is_packed(file->name), whole = true;

    if (sink->begin && !sink->begin(file, &source.offset, sink->context)) {
        return 0;
    }
    if (packed) {
        source.offset = 0; /* a compressed file does not grow */
    }
    source.from_begin = source.offset == 0;
    if ((source.offset > 0 && lseek(source.fd, (off_t)source.offset, SEEK_SET) < 0) ||
        read_source(scan, &source, NULL)) {
        if (scan->stopped || errno == ENOMEM) {
            return -1;
        }
        scan_leave_out(path, scan_reason_of(scan), scan);
        whole = false;
    }
    if (sink->end && (whole || !packed)) {
        sink->end(file, packed ? file->size : source.offset, sink->context);
    }
    return 0;
}

int apapi_scan_folder(struct apapi_scan *scan, const char *dir, struct apapi_error *err)
{
    const struct walk walk = {.suffix = ".jsonl",
                              .filter = &scan->filter,
                              .file = scan_read_regular,
                              .leave_out = scan_leave_out,
                              .context = scan};

    scan->stopped = false;
    return walk_folder(&walk, dir, err);
}
