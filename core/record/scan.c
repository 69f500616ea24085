/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apapi/record.h"
#include "apapi/scan.h"
#include "base/files.h"
#include "record/files.h"
#include "record/record.h"

struct apapi_scan {
    struct intake intake;
};

static bool scan_is_one_of(char byte, const char *bytes)
{
    return byte && strchr(bytes, byte);
}

/* An array has an element in each line, as `srun --apapi-format=json` writes it. */
static struct line scan_element(const struct line *line)
{
    struct line element = *line;

    if (element.size > 0 && *element.text == '[') {
        element.text++;
        element.size--;
    }
    while (element.size > 0 && scan_is_one_of(element.text[element.size - 1], " \t\r")) {
        element.size--;
    }
    if (element.size > 0 && scan_is_one_of(element.text[element.size - 1], ",]")) {
        element.size--;
    }
    return element;
}

static bool scan_has(const struct line *line, const char *text)
{
    return memmem(line->text, line->size, text, strlen(text)) != NULL;
}

/* @return whether it is an array's element for a node without a record. */
static bool scan_is_absence(const struct line *line)
{
    return scan_has(line, "\"apapi\":") && scan_has(line, "\"complete\":false,\"reason\":\"") &&
           !scan_has(line, "\"start\":") && line->text[line->size - 1] == '}';
}

static int scan_take_record(struct intake *intake, const struct line *line,
                            const struct apapi_record *record)
{
    if (!record_has_time(&record->measurement)) {
        intake_skip(intake, line, "record: its time is not within the years 1970 to 2262");
        return 1;
    }
    if (!filter_wants(&intake->filter, record)) {
        return 1;
    }
    intake->counts.records++;
    intake->stopped =
        intake->sink.record(record, line->text, line->size, intake->sink.context) != 0;
    return intake->stopped ? -1 : 1;
}

static int scan_take_line(struct intake *intake, const struct line *line)
{
    const struct line element = scan_element(line);
    struct apapi_error err = {""};
    struct apapi_record record;
    int result = 0;

    /* an array in one line may have others behind the first record: that is told */
    if (element.size == 0 ||
        (*line->text == '{' && !filter_may_want(&intake->filter, element.text, element.size))) {
        return 0;
    }
    if (apapi_record_decode(element.text, element.size, &record, &err) == 0) {
        result = scan_take_record(intake, &element, &record);
        apapi_record_clear(&record);
    } else if (errno == ENOMEM) {
        result = -1;
    } else if (errno != ENOTSUP && scan_is_absence(&element)) {
        result = 1;
    } else {
        bool newer = errno == ENOTSUP;

        intake->counts.newer += newer;
        intake_skip(intake, line,
                    !line->whole && !newer              ? "the end of the line is missing"
                    : scan_has(&element, "\"merged\":") ? "a merged record has no records of nodes"
                                                        : err.text);
    }
    return result;
}

struct apapi_scan *apapi_scan_create(const struct apapi_scan_filter *filter,
                                     const struct apapi_scan_sink *sink, struct apapi_error *err)
{
    struct apapi_scan *scan = calloc(1, sizeof *scan);

    if (!scan) {
        apapi_fail(err, ENOMEM, "no memory");
        return NULL;
    }
    scan->intake = (struct intake){.suffix = ".jsonl", .sink = *sink, .take = scan_take_line};
    if (filter_init(&scan->intake.filter, filter, err)) {
        apapi_scan_destroy(scan);
        return NULL;
    }
    return scan;
}

void apapi_scan_destroy(struct apapi_scan *scan)
{
    if (scan) {
        intake_free(&scan->intake);
        free(scan);
    }
}

const struct apapi_scan_counts *apapi_scan_counts(const struct apapi_scan *scan)
{
    return &scan->intake.counts;
}

int apapi_scan_stream(struct apapi_scan *scan, int fd, const char *name, struct apapi_error *err)
{
    uint64_t offset = 0;

    scan->intake.stopped = false;
    return intake_read(&scan->intake, fd, name, &offset, err);
}

int apapi_scan_line(struct apapi_scan *scan, const char *text, size_t size)
{
    struct line line = {.text = text, .size = size, .whole = true};

    scan->intake.name = "a line";
    return scan->intake.take(&scan->intake, &line) < 0 ? -1 : 0;
}

int apapi_scan_file(struct apapi_scan *scan, const char *path, struct apapi_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    int result;

    if (fd < 0) {
        return apapi_fail(err, errno, "%.160s: %s", path, strerror(errno));
    }
    result = apapi_scan_stream(scan, fd, path, err);
    folder_close(fd);
    return result;
}

int apapi_scan_folder(struct apapi_scan *scan, const char *dir, struct apapi_error *err)
{
    return intake_read_folder(&scan->intake, dir, err);
}
