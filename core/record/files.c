/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/files.h"

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

#include "apapi/scan.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/hostlist.h"
#include "base/inflow.h"
#include "base/names.h"
#include "base/text.h"
#include "record/record.h"

/* --- what is wanted --------------------------------------------------------------------------- */

#define ROUNDING_NS NS_PER_S /* possible error of elapsed_s when read as an approximate number */
#define LONGEST_S 9e9        /* as int64_t [ns] */

static const struct {
    const char *key;
    size_t wanted; /* offset in struct apapi_scan_filter */
    size_t found;  /* offset in struct apapi_identity */
    size_t size;
} texts[FILTER_TEXTS] = {
#define TEXT(key)                                                                                  \
    {                                                                                              \
        ",\"" #key "\":", offsetof(struct apapi_scan_filter, key),                                 \
            offsetof(struct apapi_identity, key), sizeof((struct apapi_identity *)0)->key          \
    }
    [FILTER_CLUSTER] = TEXT(cluster),
    [FILTER_USER] = TEXT(user),
    [FILTER_ACCOUNT] = TEXT(account),
    [FILTER_PARTITION] = TEXT(partition),
#undef TEXT
};

/* A user may be named by number. */
static uint32_t read_uid(const char *user)
{
    uint64_t uid;
    const char *end = text_digits(user, APAPI_UNKNOWN - 1, &uid);

    return end && !*end ? (uint32_t)uid : APAPI_UNKNOWN;
}

int filter_init(struct filter *filter, const struct apapi_scan_filter *wanted,
                struct apapi_error *err)
{
    ssize_t listed = 1;
    bool failed;

    *filter = (struct filter){.from_ns = INT64_MIN, .to_ns = INT64_MAX, .uid = APAPI_UNKNOWN};
    if (!wanted) {
        return 0;
    }
    filter->uid = read_uid(wanted->user ? wanted->user : "");
    filter->from_ns = wanted->from_unix_ns ? wanted->from_unix_ns : INT64_MIN;
    filter->to_ns = wanted->to_unix_ns ? wanted->to_unix_ns : INT64_MAX;
    filter->jobs = array_copy(wanted->jobs, wanted->job_count, sizeof *filter->jobs);
    filter->job_count = wanted->job_count;
    filter->job_parts = wanted->job_parts;
    failed = filter->job_count > 0 && !filter->jobs;
    if (filter->jobs) {
        qsort(filter->jobs, filter->job_count, sizeof *filter->jobs, compare_uint32);
    }
    for (size_t i = 0; i < FILTER_TEXTS; i++) {
        const char *text =
            *(const char *const *)(const void *)((const char *)wanted + texts[i].wanted);

        filter->texts[i] = text ? strdup(text) : NULL;
        failed = failed || (text && !filter->texts[i]);
    }
    if (wanted->nodes) {
        listed = hostlist_names(wanted->nodes, &filter->nodes);
        namelist_sort(&filter->nodes);
    }
    if (listed == 0 || (listed < 0 && errno == EINVAL)) {
        return apapi_fail(err, EINVAL, "'%.100s' is not a list of nodes like n[1-4]",
                          wanted->nodes);
    }
    return failed || listed < 0 ? apapi_fail(err, ENOMEM, "no memory") : 0;
}

void filter_free(struct filter *filter)
{
    for (size_t i = 0; i < FILTER_TEXTS; i++) {
        free(filter->texts[i]);
    }
    namelist_free(&filter->nodes);
    free(filter->jobs);
}

bool filter_wants_node(const struct filter *filter, const char *node)
{
    return filter->nodes.count == 0 || namelist_have(&filter->nodes, node);
}

bool filter_wants_day(const struct filter *filter, const char *day)
{
    char first[TIMESTAMP_SIZE], last[TIMESTAMP_SIZE];

    timestamp_day(first, sizeof first, filter->from_ns);
    timestamp_day(last, sizeof last, filter->to_ns - 1);
    return strcmp(day, first) >= 0 && strcmp(day, last) <= 0;
}

static bool has_job(const struct filter *filter, uint32_t job)
{
    return bsearch(&job, filter->jobs, filter->job_count, sizeof *filter->jobs, compare_uint32) !=
           NULL;
}

static bool wants_text(const struct filter *filter, size_t i, const struct apapi_identity *id)
{
    return !filter->texts[i] || strcmp(filter->texts[i], (const char *)id + texts[i].found) == 0 ||
           (i == FILTER_USER && filter->uid != APAPI_UNKNOWN && id->uid == filter->uid);
}

bool filter_wants(const struct filter *filter, const struct apapi_record *record)
{
    const struct apapi_identity *id = &record->id;
    int64_t end_ns = record_end_ns(&record->measurement);

    for (size_t i = 0; i < FILTER_TEXTS; i++) {
        if (!wants_text(filter, i, id)) {
            return false;
        }
    }
    return (filter->job_count == 0 || has_job(filter, id->job) ||
            (filter->job_parts &&
             (has_job(filter, id->array_job) || has_job(filter, id->het_job)))) &&
           filter_wants_node(filter, id->node) && end_ns >= filter->from_ns &&
           end_ns < filter->to_ns;
}

/* --- before a line is decoded ----------------------------------------------------------------- */

/* The beginning of a line: the keys of the record itself, up to the first object or array. */
struct head {
    const char *text;
    size_t size;
};

/* @return whether the line begins as apapi_record_encode() writes it. */
static bool head_begin(struct head *head, const char *line, size_t size)
{
    static const char begin[] = "{\"apapi\":1,";
    const char *at = line + sizeof begin - 2; /* at the comma, as before each key */
    const char *end;

    if (size < sizeof begin || memcmp(line, begin, sizeof begin - 1) != 0) {
        return false;
    }
    size -= (size_t)(at - line);
    end = memchr(at, '{', size);
    size = end ? (size_t)(end - at) : size;
    end = memchr(at, '[', size);
    *head = (struct head){at, end ? (size_t)(end - at) : size};
    return true;
}

/*
 * Find a value. The comma and quotes around its key cannot stand like this in a text.
 * @param key  ",\"job\":"
 * @return its size, without the quotes of a text; 0: there is none in the usual form
 */
static size_t head_find(const struct head *head, const char *key, const char **value)
{
    const char *end = head->text + head->size,
               *at = memmem(head->text, head->size, key, strlen(key));
    bool text;
    char last;

    if (!at) {
        return 0;
    }
    at += strlen(key);
    text = at < end && *at == '"';
    at += text;
    *value = at;
    while (at < end && *at >= ' ' && *at <= '~' && *at != '\\' && *at != (text ? '"' : ',')) {
        at++;
    }
    last = at < end ? *at : '\0';
    return last == (text ? '"' : ',') ? (size_t)(at - *value) : 0;
}

/* @return whether it is there, and is copied whole */
static bool head_copy(const struct head *head, const char *key, char *copy, size_t size)
{
    const char *value;
    size_t length = head_find(head, key, &value);

    if (length == 0 || length >= size) {
        return false;
    }
    memcpy(copy, value, length);
    copy[length] = '\0';
    return true;
}

/* @param job  else a uid. @return false: it is a number that is not wanted */
static bool may_be_number(const char *value, size_t size, const struct filter *filter, bool job)
{
    uint64_t number = 0;
    const char *end = size > 0 ? text_digits(value, APAPI_UNKNOWN - 1, &number) : NULL;

    return !end || end != value + size ||
           (job ? has_job(filter, (uint32_t)number) : number == filter->uid);
}

/* Another writer may have put array and heterogeneous job anywhere in the line. */
static bool may_want_job(const struct filter *filter, const struct head *head, const char *end)
{
    static const char part[] = "_job\":"; /* "array_job", "het_job" */
    const char *value = NULL, *at = head->text;
    size_t size = filter->job_count ? head_find(head, ",\"job\":", &value) : 0;

    if (may_be_number(value, size, filter, true)) {
        return true;
    }
    while (filter->job_parts && (at = memmem(at, (size_t)(end - at), part, sizeof part - 1))) {
        at += sizeof part - 1;
        if (may_be_number(at, strspn(at, "0123456789 "), filter, true)) {
            return true;
        }
    }
    return false;
}

static bool may_want_text(const struct filter *filter, size_t i, const struct head *head)
{
    char text[APAPI_TEXT_SIZE];
    const char *uid = NULL;
    size_t size;

    if (!filter->texts[i] || !head_copy(head, texts[i].key, text, texts[i].size) ||
        strcmp(text, filter->texts[i]) == 0) {
        return true;
    }
    size = head_find(head, ",\"uid\":", &uid);
    return i == FILTER_USER && filter->uid != APAPI_UNKNOWN &&
           may_be_number(uid, size, filter, false);
}

static bool may_want_end(const struct filter *filter, const struct head *head)
{
    char start[TIMESTAMP_SIZE], elapsed[40], *end;
    int64_t start_ns, early_ns, late_ns;
    double seconds;

    if ((filter->from_ns == INT64_MIN && filter->to_ns == INT64_MAX) ||
        !head_copy(head, ",\"start\":", start, sizeof start) || timestamp_parse(start, &start_ns) ||
        !head_copy(head, ",\"elapsed_s\":", elapsed, sizeof elapsed)) {
        return true;
    }
    seconds = strtod(elapsed, &end);
    return *end || !(seconds >= 0 && seconds < LONGEST_S) ||
           __builtin_add_overflow(start_ns, (int64_t)(seconds * NS_PER_S) + ROUNDING_NS,
                                  &late_ns) ||
           __builtin_sub_overflow(late_ns, 2 * ROUNDING_NS, &early_ns) ||
           (late_ns >= filter->from_ns && early_ns < filter->to_ns);
}

bool filter_may_want(const struct filter *filter, const char *line, size_t size)
{
    char node[APAPI_TEXT_SIZE];
    struct head head;
    bool wanted;

    if (!head_begin(&head, line, size)) {
        return true;
    }
    wanted = may_want_job(filter, &head, line + size) &&
             (filter->nodes.count == 0 || !head_copy(&head, ",\"node\":", node, sizeof node) ||
              filter_wants_node(filter, node));
    for (size_t i = 0; i < FILTER_TEXTS && wanted; i++) {
        wanted = may_want_text(filter, i, &head);
    }
    return wanted && may_want_end(filter, &head);
}

/* --- reading ---------------------------------------------------------------------------------- */

#define CHUNK ((size_t)262144) /* bytes read at once */
#define BUFFER_SIZE ((size_t)APAPI_SCAN_LINE_MAX + CHUNK)

static int lines_begin(struct lines *lines, int fd, uint64_t offset)
{
    char *buffer = lines->buffer ? lines->buffer : malloc(BUFFER_SIZE);

    if (!buffer) {
        return -1;
    }
    *lines = (struct lines){
        .inflow = lines->inflow, .buffer = buffer, .line_at = offset, .line_number = offset == 0};
    return inflow_begin(&lines->inflow, fd, offset == 0);
}

static int scan_lines_fill(struct lines *lines)
{
    ssize_t got;

    if (lines->end - lines->begin > APAPI_SCAN_LINE_MAX) {
        lines->dropped += lines->end - lines->begin;
        lines->begin = lines->end;
    }
    if (BUFFER_SIZE - lines->end < CHUNK || lines->begin == lines->end) {
        memmove(lines->buffer, lines->buffer + lines->begin, lines->end - lines->begin);
        lines->end -= lines->begin;
        lines->begin = 0;
    }
    lines->searched = lines->end;
    got = inflow_read(&lines->inflow, lines->buffer + lines->end, CHUNK);
    if (got < 0) {
        return -1;
    }
    lines->end += (size_t)got;
    lines->ended = got == 0;
    return 0;
}

static int scan_lines_take(struct lines *lines, size_t end, bool whole, struct line *line)
{
    size_t size = end - lines->begin;

    *line = (struct line){.text = lines->buffer + lines->begin,
                          .size = lines->dropped || size > APAPI_SCAN_LINE_MAX ? SIZE_MAX : size,
                          .offset = lines->line_at,
                          .number = lines->line_number,
                          .whole = whole};
    lines->line_number += lines->line_number > 0;
    lines->line_at += lines->dropped + size + whole;
    lines->dropped = 0;
    lines->begin = lines->searched = end + whole;
    return 1;
}

/* A line that is too long has the size SIZE_MAX. @return 1; 0 at the end; -1 with errno */
static int lines_next(struct lines *lines, struct line *line)
{
    for (;;) {
        const char *newline =
            memchr(lines->buffer + lines->searched, '\n', lines->end - lines->searched);

        if (newline) {
            return scan_lines_take(lines, (size_t)(newline - lines->buffer), true, line);
        }
        if (lines->ended) {
            bool rest = lines->dropped || lines->end > lines->begin;

            return rest ? scan_lines_take(lines, lines->end, false, line) : 0;
        }
        if (scan_lines_fill(lines)) {
            return -1;
        }
    }
}

void intake_free(struct intake *intake)
{
    int saved = errno;

    inflow_end(&intake->lines.inflow);
    free(intake->lines.buffer);
    filter_free(&intake->filter);
    errno = saved;
}

static void intake_report(const struct intake *intake, const struct apapi_scan_problem *problem)
{
    if (intake->sink.problem) {
        intake->sink.problem(problem, intake->sink.context);
    }
}

void intake_skip(struct intake *intake, const struct line *line, const char *reason)
{
    intake->counts.skipped++;
    intake_report(intake, &(struct apapi_scan_problem){.file = intake->name,
                                                       .line = line->number,
                                                       .offset = line->offset,
                                                       .reason = reason});
}

static const char *intake_reason(const struct intake *intake)
{
    const char *problem = intake->lines.inflow.problem;

    return problem ? problem : strerror(errno);
}

static int intake_fail(const struct intake *intake, struct apapi_error *err)
{
    return apapi_fail(err, errno, "%.160s: %s", intake->name, intake_reason(intake));
}

int intake_read(struct intake *intake, int fd, const char *name, uint64_t *offset,
                struct apapi_error *err)
{
    struct line line;
    int got, taken;

    intake->name = name;
    if (lines_begin(&intake->lines, fd, *offset)) {
        return intake_fail(intake, err);
    }
    intake->counts.files++;
    while ((got = lines_next(&intake->lines, &line)) > 0) {
        if (line.size == SIZE_MAX) {
            intake_skip(intake, &line, "longer than 1 MiB");
            continue;
        }
        taken = intake->take(intake, &line);
        if (taken < 0) {
            return apapi_fail(err, errno, "%s", intake->stopped ? "" : strerror(errno));
        }
        if (line.whole || taken > 0) { /* the rest of a torn line may still be written */
            *offset = intake->lines.line_at;
        }
    }
    return got == 0 ? 0 : intake_fail(intake, err);
}

/* --- walking a folder ------------------------------------------------------------------------- */

typedef bool (*wants_f)(const struct intake *walk, const char *name);

static bool walk_wants_day(const struct intake *walk, const char *name)
{
    static const char form[] = "0000-00-00";

    for (size_t i = 0; i < sizeof form; i++) {
        if (form[i] == '0' ? !isdigit((unsigned char)name[i]) : name[i] != form[i]) {
            return false;
        }
    }
    return filter_wants_day(&walk->filter, name);
}

/* @return the end of a node's name, before the suffix and that of compression; NULL */
static const char *walk_find_suffix(const struct intake *walk, const char *name)
{
    const char *found = NULL;

    for (const char *at = name; (at = strstr(at, walk->suffix)); at++) {
        char behind = at[strlen(walk->suffix)];

        found = at > name && (behind == '\0' || behind == '.') ? at : found;
    }
    return found;
}

static bool walk_wants_file(const struct intake *walk, const char *name)
{
    const char *suffix = walk_find_suffix(walk, name);
    char node[NAME_MAX + 1];

    if (!suffix) {
        return false;
    }
    snprintf(node, sizeof node, "%.*s", (int)(suffix - name), name);
    return filter_wants_node(&walk->filter, node);
}

/* Read the wanted entries of a folder, sorted. @param fd  -1 with errno: it could not be opened */
static int walk_read_names(struct namelist *names, int fd, const struct intake *walk, wants_f wants)
{
    int own = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0), code;
    DIR *folder = own < 0 ? NULL : fdopendir(own);
    const struct dirent *entry;

    if (!folder) {
        folder_close(own);
        return -1;
    }
    while (errno = 0, (entry = readdir(folder))) { // NOLINT(concurrency-mt-unsafe)
        if (wants(walk, entry->d_name) && namelist_add(names, entry->d_name)) {
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
static void walk_leave_out(struct intake *walk, const char *path, const char *reason)
{
    walk->counts.unreadable++;
    intake_report(walk, &(struct apapi_scan_problem){.file = path, .reason = reason});
}

/* @return a descriptor; -1: leave it out */
static int walk_open_regular(struct intake *walk, int day_fd, const char *path,
                             struct apapi_scan_file *file)
{
    int fd = openat(day_fd, file->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat status;

    if (fd < 0 || fstat(fd, &status) < 0) {
        walk_leave_out(walk, path, errno == ELOOP ? "a symbolic link" : strerror(errno));
    } else if (!S_ISREG(status.st_mode)) {
        walk_leave_out(walk, path, "not a regular file");
    } else {
        file->size = (uint64_t)status.st_size;
        return fd;
    }
    folder_close(fd);
    return -1;
}

static int walk_read_file(struct intake *walk, const struct apapi_scan_file *file, const char *path,
                          int fd)
{
    const struct apapi_scan_sink *sink = &walk->sink;
    bool packed = inflow_is_packed(file->name), whole = true;
    uint64_t offset = 0;

    if (sink->begin && !sink->begin(file, &offset, sink->context)) {
        return 0;
    }
    if (packed) {
        offset = 0; /* a compressed file does not grow */
    }
    if ((offset > 0 && lseek(fd, (off_t)offset, SEEK_SET) < 0) ||
        intake_read(walk, fd, path, &offset, NULL)) {
        if (walk->stopped || errno == ENOMEM) {
            return -1;
        }
        walk_leave_out(walk, path, intake_reason(walk));
        whole = false;
    }
    if (sink->end && (whole || !packed)) {
        sink->end(file, packed ? file->size : offset, sink->context);
    }
    return 0;
}

/* `path` is that of the day; the file's name is appended. */
static int walk_entry(struct intake *walk, int day_fd, char path[PATH_MAX],
                      struct apapi_scan_file *file)
{
    size_t length = strlen(path);
    int result = 0, fd = -1;
    char reason[80];

    snprintf(path + length, PATH_MAX - length, "/%s", file->name);
    if (inflow_is_packed(file->name) || !walk_find_suffix(walk, file->name)[strlen(walk->suffix)]) {
        fd = walk_open_regular(walk, day_fd, path, file);
    } else {
        snprintf(reason, sizeof reason, "its name ends neither with %s nor with .gz", walk->suffix);
        walk_leave_out(walk, path, reason);
    }
    if (fd >= 0) {
        result = walk_read_file(walk, file, path, fd);
        folder_close(fd);
    }
    path[length] = '\0';
    return result;
}

static int walk_day(struct intake *walk, int root_fd, char path[PATH_MAX], const char *day)
{
    struct apapi_scan_file file = {.day = day};
    int day_fd = openat(root_fd, day, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct namelist names = {0};
    int result = 0;

    if (walk_read_names(&names, day_fd, walk, walk_wants_file)) {
        walk_leave_out(walk, path, strerror(errno));
    }
    for (size_t i = 0; i < names.count && result == 0; i++) {
        file.name = names.names[i];
        result = walk_entry(walk, day_fd, path, &file);
    }
    folder_close(day_fd);
    namelist_free(&names);
    return result;
}

int intake_read_folder(struct intake *walk, const char *dir, struct apapi_error *err)
{
    char path[PATH_MAX];
    struct namelist days = {0};
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), result = 0;

    walk->stopped = false;
    if (err) {
        *err->text = '\0';
    }
    if (walk_read_names(&days, fd, walk, walk_wants_day)) {
        result = apapi_fail(err, errno, "%.160s: %s", dir, strerror(errno));
    }
    for (size_t i = 0; i < days.count && result == 0; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, days.names[i]);
        result = walk_day(walk, fd, path, days.names[i]);
    }
    folder_close(fd);
    namelist_free(&days);
    return result;
}
