/* SPDX-License-Identifier: BSD-3-Clause */
#include "apapi/scan.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/namelist.h"
#include "store/scan_filter.h"
#include "store/scan_lines.h"
#include "store/scan_parts.h"

#define SUFFIX ".jsonl" /* a compressed file has another suffix after it */

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

typedef bool (*wants_f)(const struct filter *filter, const char *name);

static bool wants_day(const struct filter *filter, const char *name)
{
    static const char form[] = "0000-00-00";

    for (size_t i = 0; i < sizeof form; i++) {
        if (form[i] == '0' ? !isdigit((unsigned char)name[i]) : name[i] != form[i]) {
            return false;
        }
    }
    return filter_wants_day(filter, name);
}

/* @return the end of a node's name, before ".jsonl" and a suffix of compression; NULL */
static const char *find_suffix(const char *name)
{
    const char *found = NULL;

    for (const char *at = name; (at = strstr(at, SUFFIX)); at++) {
        char behind = at[strlen(SUFFIX)];

        found = at > name && (behind == '\0' || behind == '.') ? at : found;
    }
    return found;
}

static bool wants_file(const struct filter *filter, const char *name)
{
    const char *suffix = find_suffix(name);
    char node[NAME_MAX + 1];

    if (!suffix) {
        return false;
    }
    snprintf(node, sizeof node, "%.*s", (int)(suffix - name), name);
    return filter_wants_node(filter, node);
}

/* Read the wanted entries of a folder, sorted. Takes ownership of `fd`. */
static int names_read(struct namelist *names, int fd, const struct filter *filter, wants_f wants)
{
    DIR *folder = fdopendir(fd);
    const struct dirent *entry;
    int code;

    if (!folder) {
        close(fd);
        return -1;
    }
    while (errno = 0, (entry = readdir(folder))) { // NOLINT(concurrency-mt-unsafe)
        if (wants(filter, entry->d_name) && namelist_add(names, entry->d_name)) {
            break;
        }
    }
    code = errno;
    closedir(folder);
    namelist_sort(names);
    errno = code;
    return code ? -1 : 0;
}

/* Report a folder or file below the named one that cannot be read. */
static void scan_leave_out(struct apapi_scan *scan, const char *path, const char *reason)
{
    const struct apapi_scan_problem problem = {.file = path, .reason = reason};

    scan->counts.unreadable++;
    scan_report_problem(scan, &problem);
}

/* Open a regular file and find where to begin. @return a descriptor; -1: skip it */
static int scan_open_regular(struct apapi_scan *scan, int day_fd, const char *path,
                             struct apapi_scan_file *file)
{
    int fd = openat(day_fd, file->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat status;

    if (fd < 0 || fstat(fd, &status) < 0) {
        scan_leave_out(scan, path, errno == ELOOP ? "a symbolic link" : strerror(errno));
    } else if (!S_ISREG(status.st_mode)) {
        scan_leave_out(scan, path, "not a regular file");
    } else {
        file->size = (uint64_t)status.st_size;
        return fd;
    }
    if (fd >= 0) {
        close(fd);
    }
    return -1;
}

static int read_regular(struct apapi_scan *scan, const struct apapi_scan_file *file,
                        struct source *source, struct apapi_error *err)
{
    const struct apapi_scan_sink *sink = &scan->sink;
    bool packed = inflow_is_packed(file->name), whole = true;

    if (sink->begin && !sink->begin(file, &source->offset, sink->context)) {
        return 0;
    }
    if (packed) {
        source->offset = 0; /* a compressed file does not grow */
    }
    source->from_begin = source->offset == 0;
    if ((source->offset > 0 && lseek(source->fd, (off_t)source->offset, SEEK_SET) < 0) ||
        read_source(scan, source, err)) {
        if (scan->stopped || errno == ENOMEM) {
            return -1;
        }
        scan_leave_out(scan, source->name, scan_reason_of(scan));
        whole = false;
    }
    if (sink->end && (whole || !packed)) {
        sink->end(file, packed ? file->size : source->offset, sink->context);
    }
    return 0;
}

static bool is_known_form(const char *name)
{
    return inflow_is_packed(name) || *(find_suffix(name) + strlen(SUFFIX)) == '\0';
}

/* `path` is that of the day; the file's name is appended. */
static int scan_entry(struct apapi_scan *scan, int day_fd, char path[PATH_MAX],
                      struct apapi_scan_file *file, struct apapi_error *err)
{
    size_t length = strlen(path);
    struct source source = {.name = path, .fd = -1};
    int result = 0, saved;

    snprintf(path + length, PATH_MAX - length, "/%s", file->name);
    if (is_known_form(file->name)) {
        source.fd = scan_open_regular(scan, day_fd, path, file);
    } else {
        scan_leave_out(scan, path, "its name ends neither with .jsonl nor with .gz or .zst");
    }
    if (source.fd >= 0) {
        result = read_regular(scan, file, &source, err);
        saved = errno;
        close(source.fd);
        errno = saved;
    }
    path[length] = '\0';
    return result;
}

static int scan_day(struct apapi_scan *scan, int root_fd, char path[PATH_MAX], const char *day,
                    struct apapi_error *err)
{
    struct apapi_scan_file file = {.day = day};
    int day_fd = openat(root_fd, day, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int list_fd = day_fd < 0 ? -1 : fcntl(day_fd, F_DUPFD_CLOEXEC, 0);
    struct namelist names = {0};
    int result = 0, saved;

    if (list_fd < 0 || names_read(&names, list_fd, &scan->filter, wants_file)) {
        scan_leave_out(scan, path, strerror(errno));
    }
    for (size_t i = 0; i < names.count && result == 0; i++) {
        file.name = names.names[i];
        result = scan_entry(scan, day_fd, path, &file, err);
    }
    saved = errno;
    namelist_free(&names);
    if (day_fd >= 0) {
        close(day_fd);
    }
    errno = saved;
    return result;
}

static int scan_days(struct apapi_scan *scan, int root_fd, const char *dir, struct apapi_error *err)
{
    char path[PATH_MAX];
    struct namelist days = {0};
    int fd = fcntl(root_fd, F_DUPFD_CLOEXEC, 0);
    int result = 0;

    if (fd < 0 || names_read(&days, fd, &scan->filter, wants_day)) {
        result = apapi_fail(err, errno, "%.160s: %s", dir, strerror(errno));
    }
    for (size_t i = 0; i < days.count && result == 0; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, days.names[i]);
        result = scan_day(scan, root_fd, path, days.names[i], err);
    }
    namelist_free(&days);
    return result;
}

int apapi_scan_folder(struct apapi_scan *scan, const char *dir, struct apapi_error *err)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int result, saved;

    scan->stopped = false;
    if (fd < 0) {
        return apapi_fail(err, errno, "%.160s: %s", dir, strerror(errno));
    }
    result = scan_days(scan, fd, dir, err);
    saved = errno;
    close(fd);
    errno = saved;
    return result;
}
