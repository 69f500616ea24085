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

#include "base/array.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/hostlist.h"
#include "base/text.h"
#include "record/fields.h"
#include "record/record.h"

/* --- what is wanted --------------------------------------------------------------------------- */

static const struct {
    size_t wanted; /* offset in struct apapi_scan_filter */
    size_t found;  /* offset in struct apapi_identity */
} texts[FILTER_TEXTS] = {
#define TEXT(key)                                                                                  \
    {                                                                                              \
        offsetof(struct apapi_scan_filter, key), offsetof(struct apapi_identity, key)              \
    }
    [FILTER_CLUSTER] = TEXT(cluster),
    [FILTER_USER] = TEXT(user),
    [FILTER_ACCOUNT] = TEXT(account),
    [FILTER_PARTITION] = TEXT(partition),
#undef TEXT
};

int filter_init(struct filter *filter, const struct apapi_scan_filter *wanted,
                struct apapi_error *err)
{
    ssize_t listed = 1;
    bool failed;

    *filter = (struct filter){.from_ns = INT64_MIN, .to_ns = INT64_MAX};
    if (!wanted) {
        return 0;
    }
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

static bool wants_node(const struct filter *filter, const char *node)
{
    return filter->nodes.count == 0 || namelist_have(&filter->nodes, node);
}

bool filter_wants_place(const struct filter *filter, const char *cluster, const char *node)
{
    const char *clusters = filter->texts[FILTER_CLUSTER];

    return wants_node(filter, node) &&
           (!clusters || (*cluster && text_names_have(clusters, cluster)));
}

static bool has_job(const struct filter *filter, uint32_t job)
{
    return bsearch(&job, filter->jobs, filter->job_count, sizeof *filter->jobs, compare_uint32) !=
           NULL;
}

static const char *text_of(const struct apapi_identity *id, size_t i)
{
    return (const char *)id + texts[i].found;
}

bool filter_wants_text(const struct filter *filter, size_t i, const struct apapi_identity *id)
{
    const char *list = filter->texts[i];
    char uid[16];

    if (!list || (*text_of(id, i) && text_names_have(list, text_of(id, i)))) {
        return true;
    }
    snprintf(uid, sizeof uid, "%u", id->uid);
    return i == FILTER_USER && id->uid != APAPI_UNKNOWN && text_names_have(list, uid);
}

bool filter_wants_identity(const struct filter *filter, const struct apapi_identity *id)
{
    for (size_t i = 0; i < FILTER_TEXTS; i++) {
        if (!filter_wants_text(filter, i, id)) {
            return false;
        }
    }
    return (filter->job_count == 0 || has_job(filter, id->job) ||
            (filter->job_parts &&
             (has_job(filter, id->array_job) || has_job(filter, id->het_job)))) &&
           wants_node(filter, id->node);
}

bool filter_wants(const struct filter *filter, const struct apapi_record *record)
{
    int64_t end_ns = record_end_ns(&record->measurement);

    return filter_wants_identity(filter, &record->id) && end_ns >= filter->from_ns &&
           end_ns < filter->to_ns;
}

/* --- before a line is decoded ----------------------------------------------------------------- */

#define HEAD_SIZE 4096

static const struct field fields_of_head[] = {
    FIELD_TEXT_OF(apapi_identity, "cluster", false, cluster),
    FIELD_TEXT_OF(apapi_identity, "node", false, node),
    FIELD_OF(apapi_identity, "uid", NUMBER, false, uid),
    FIELD_TEXT_OF(apapi_identity, "user", false, user),
    FIELD_TEXT_OF(apapi_identity, "account", false, account),
    FIELD_TEXT_OF(apapi_identity, "partition", false, partition),
    FIELD_END};

/* Decode the keys of the record itself, which apapi_record_encode() writes before its domains. */
static bool decode_head(struct tree *tree, const char *line, size_t size, struct apapi_identity *id)
{
    static const char behind[] = ",\"domains\":{";
    const struct field_path path = {.name = ""};
    const char *end = memmem(line, size, behind, strlen(behind));
    size_t length = end ? (size_t)(end - line) : 0;
    struct tree_problem problem;
    char head[HEAD_SIZE];

    if (length == 0 || length >= sizeof head) {
        return false;
    }
    memcpy(head, line, length);
    head[length] = '}';
    return tree_parse(tree, head, length + 1, &problem) == 0 &&
           fields_decode(tree->nodes, fields_of_head, id, &path) == 0;
}

/* @return whether the line may have a wanted job. "array_job" and "het_job" may be anywhere. */
static bool may_want_job(const struct filter *filter, const char *line, size_t size)
{
    static const char key[] = "job\":"; /* "job", "array_job", "het_job" */
    const char *at = line, *end = line + size;
    bool usual = false;
    uint64_t job;

    while ((at = memmem(at, (size_t)(end - at), key, strlen(key)))) {
        usual = usual || memcmp(at - 2, ",\"", 2) == 0;
        at += strlen(key);
        if (!text_digits(at, APAPI_UNKNOWN - 1, &job) || has_job(filter, (uint32_t)job)) {
            return true;
        }
    }
    return !usual;
}

/*
 * Check a line in the form of apapi_record_encode() before it is decoded.
 * @return false only if filter_wants() would certainly return false, or the line is not a record
 */
static bool may_want(const struct filter *filter, struct tree *tree, const char *line, size_t size)
{
    static const char begin[] = "{\"apapi\":1,";
    bool selects = filter->nodes.count > 0;
    struct apapi_identity head = APAPI_IDENTITY_UNKNOWN;

    if (size < sizeof begin || memcmp(line, begin, strlen(begin)) != 0 || line[size - 1] != '}') {
        return true;
    }
    if (filter->job_count > 0 && !may_want_job(filter, line, size)) {
        return false;
    }
    for (size_t i = 0; i < FILTER_TEXTS; i++) {
        /* lists are checked only after decoding: they seldom exclude much */
        selects = selects || (filter->texts[i] && !strchr(filter->texts[i], ','));
    }
    if (!selects || !decode_head(tree, line, size, &head)) {
        return true;
    }
    for (size_t i = 0; i < FILTER_TEXTS; i++) {
        if (*text_of(&head, i) && !filter_wants_text(filter, i, &head)) {
            return false; /* a text that the head lacks may follow the domains */
        }
    }
    return !*head.node || wants_node(filter, head.node);
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

/* Get the next line; its size is SIZE_MAX if it is too long. @return 1; 0: end; -1 with errno */
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

static void scan_report(const struct apapi_scan *scan, const struct apapi_scan_problem *problem)
{
    if (scan->sink.problem) {
        scan->sink.problem(problem, scan->sink.context);
    }
}

void scan_skip(struct apapi_scan *scan, const struct line *line, const char *reason)
{
    scan->counts.skipped++;
    scan_report(scan, &(struct apapi_scan_problem){.file = scan->name,
                                                   .line = line->number,
                                                   .offset = line->offset,
                                                   .reason = reason});
}

static const char *scan_reason(const struct apapi_scan *scan)
{
    const char *problem = scan->lines.inflow.problem;

    return problem ? problem : strerror(errno);
}

static int scan_fail(const struct apapi_scan *scan, struct apapi_error *err)
{
    return apapi_fail(err, errno, "%.160s: %s", scan->name, scan_reason(scan));
}

/**
 * Read a descriptor from its present position, which is at `offset` bytes of the file. At offset 0
 * the file may be compressed.
 * @param offset  result: the end of the last complete line
 * @return 0; -1 with errno
 */
static int scan_read(struct apapi_scan *scan, int fd, const char *name, uint64_t *offset,
                     struct apapi_error *err)
{
    struct line line;
    int got, taken;

    scan->name = name;
    if (lines_begin(&scan->lines, fd, *offset)) {
        return scan_fail(scan, err);
    }
    scan->counts.files++;
    while ((got = lines_next(&scan->lines, &line)) > 0) {
        if (line.size == SIZE_MAX) {
            scan_skip(scan, &line, "longer than 1 MiB");
            continue;
        }
        taken = scan->take(scan, &line);
        if (taken < 0) {
            return apapi_fail(err, errno, "%s", scan->stopped ? "" : strerror(errno));
        }
        if (line.whole || taken > 0) { /* the rest of a torn line may still be written */
            *offset = scan->lines.line_at;
        }
    }
    return got == 0 ? 0 : scan_fail(scan, err);
}

/* --- lines of records ------------------------------------------------------------------------- */

static bool scan_is_one_of(char byte, const char *bytes)
{
    return byte && strchr(bytes, byte);
}

/* Take the element out of a line of an array as `srun --apapi-format=json` writes it. */
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

/* @return whether the line is an array's element for a node without a record. */
static bool scan_is_absence(const struct line *line)
{
    return scan_has(line, "\"apapi\":") && scan_has(line, "\"complete\":false,\"reason\":\"") &&
           !scan_has(line, "\"start\":") && line->text[line->size - 1] == '}';
}

static int scan_take_record(struct apapi_scan *scan, const struct line *line,
                            const struct apapi_record *record)
{
    if (!record_has_time(&record->measurement)) {
        scan_skip(scan, line, "record: its time is not within the years 1970 to 2262");
        return 1;
    }
    if (!filter_wants(&scan->filter, record)) {
        return 1;
    }
    scan->counts.records++;
    scan->stopped = scan->sink.record(record, line->text, line->size, scan->sink.context) != 0;
    return scan->stopped ? -1 : 1;
}

static int scan_take_line(struct apapi_scan *scan, const struct line *line)
{
    const struct line element = scan_element(line);
    struct apapi_error err = {""};
    struct apapi_record record;
    int result = 0;

    /* an array in one line, which may have further records, is always decoded, and reported */
    if (element.size == 0 ||
        (*line->text == '{' && !may_want(&scan->filter, &scan->tree, element.text, element.size))) {
        return 0;
    }
    if (apapi_record_decode(element.text, element.size, &record, &err) == 0) {
        result = scan_take_record(scan, &element, &record);
        apapi_record_clear(&record);
    } else if (errno == ENOMEM) {
        result = -1;
    } else if (errno != ENOTSUP && scan_is_absence(&element)) {
        result = 1;
    } else {
        bool newer = errno == ENOTSUP;

        scan->counts.newer += newer;
        scan_skip(scan, line,
                  !line->whole && !newer              ? "the end of the line is missing"
                  : scan_has(&element, "\"merged\":") ? "a merged record has no records of nodes"
                                                      : err.text);
    }
    return result;
}

/* --- walking a folder ------------------------------------------------------------------------- */

typedef bool (*wants_f)(const struct apapi_scan *scan, const char *name);

static bool walk_wants_day(const struct apapi_scan *scan, const char *name)
{
    static const char form[] = "0000-00-00";
    char first[TIMESTAMP_SIZE], last[TIMESTAMP_SIZE];

    for (size_t i = 0; i < sizeof form; i++) {
        if (form[i] == '0' ? !isdigit((unsigned char)name[i]) : name[i] != form[i]) {
            return false;
        }
    }
    timestamp_day(first, sizeof first, scan->filter.from_ns);
    timestamp_day(last, sizeof last, scan->filter.to_ns - 1);
    return strcmp(name, first) >= 0 && strcmp(name, last) <= 0;
}

/* @return the end of the node's name in a file's name, where the suffix begins; NULL: no suffix */
static const char *walk_find_suffix(const struct apapi_scan *scan, const char *name)
{
    const char *found = NULL;

    for (const char *at = name; (at = strstr(at, scan->suffix)); at++) {
        char behind = at[strlen(scan->suffix)];

        found = at > name && (behind == '\0' || behind == '.') ? at : found;
    }
    return found;
}

static bool walk_wants_file(const struct apapi_scan *scan, const char *name)
{
    const char *suffix = walk_find_suffix(scan, name);
    char node[NAME_MAX + 1];

    if (!suffix) {
        return false;
    }
    snprintf(node, sizeof node, "%.*s", (int)(suffix - name), name);
    return wants_node(&scan->filter, node);
}

/* Read the wanted entries of a folder, sorted. @param fd  -1 with errno: it could not be opened */
static int walk_read_names(struct namelist *names, int fd, const struct apapi_scan *scan,
                           wants_f wants)
{
    int own = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0), code;
    DIR *folder = own < 0 ? NULL : fdopendir(own);
    const struct dirent *entry;

    if (!folder) {
        folder_close(own);
        return -1;
    }
    while (errno = 0, (entry = readdir(folder))) { // NOLINT(concurrency-mt-unsafe)
        if (wants(scan, entry->d_name) && namelist_add(names, entry->d_name)) {
            break;
        }
    }
    code = errno;
    closedir(folder);
    namelist_sort(names);
    errno = code;
    return code ? -1 : 0;
}

#define PACKED_SIZE (NAME_MAX + sizeof ".gz")

/* Write the name that a file gets from gzip, or a compressed file from gunzip. */
static void walk_other_name(char other[PACKED_SIZE], const char *name)
{
    bool packed = inflow_is_packed(name);

    snprintf(other, PACKED_SIZE, "%.*s%s", (int)(strlen(name) - (packed ? 3 : 0)), name,
             packed ? "" : ".gz");
}

/* gzip gives the file that it has written the plain file's time, then removes the plain file. */
static bool walk_is_unfinished(int day_fd, const char *name, const char *plain_name)
{
    struct stat file, plain;

    return inflow_is_packed(name) && fstatat(day_fd, name, &file, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(file.st_mode) && fstatat(day_fd, plain_name, &plain, AT_SYMLINK_NOFOLLOW) == 0 &&
           file.st_mtim.tv_sec * NS_PER_S + file.st_mtim.tv_nsec >=
               plain.st_mtim.tv_sec * NS_PER_S + plain.st_mtim.tv_nsec;
}

/* Report and count a folder or file below the named folder that cannot be read. */
static void walk_leave_out(struct apapi_scan *scan, const char *path, const char *reason)
{
    if (!scan->unfinished) {
        scan->counts.unreadable++;
        scan_report(scan, &(struct apapi_scan_problem){.file = path, .reason = reason});
    }
}

/* @param other  name of the file if gzip or gunzip has changed it since the folder was read
 * @return whether the file is open; if not, it is left out */
static bool walk_open_regular(struct apapi_scan *scan, int day_fd, const char *path,
                              const char *other, struct apapi_scan_file *file)
{
    const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    struct stat status;

    file->fd = openat(day_fd, file->name, flags);
    if (file->fd < 0 && errno == ENOENT) {
        file->name = other;
        file->fd = openat(day_fd, other, flags);
    }
    if (file->fd < 0 || fstat(file->fd, &status) < 0) {
        walk_leave_out(scan, path, errno == ELOOP ? "a symbolic link" : strerror(errno));
    } else if (!S_ISREG(status.st_mode)) {
        walk_leave_out(scan, path, "not a regular file");
    } else {
        file->size = (uint64_t)status.st_size;
        return true;
    }
    folder_close(file->fd);
    return false;
}

static int walk_read_file(struct apapi_scan *scan, const struct apapi_scan_file *file,
                          const char *path)
{
    const struct apapi_scan_sink *sink = &scan->sink;
    bool packed = inflow_is_packed(file->name), whole = true;
    uint64_t offset = 0;

    if (sink->begin && !sink->begin(file, &offset, sink->context)) {
        return 0;
    }
    if (packed) {
        offset = 0; /* a compressed file does not grow */
    }
    if ((offset > 0 && lseek(file->fd, (off_t)offset, SEEK_SET) < 0) ||
        scan_read(scan, file->fd, path, &offset, NULL)) {
        if (scan->stopped || errno == ENOMEM) {
            return -1;
        }
        walk_leave_out(scan, path, scan_reason(scan));
        whole = false;
    }
    if (sink->end && (whole || !packed)) {
        sink->end(file, packed ? file->size : offset, sink->context);
    }
    return 0;
}

/* Read a file. `path` is that of the day's folder; the file's name is appended meanwhile. */
static int walk_entry(struct apapi_scan *scan, int day_fd, char path[PATH_MAX],
                      struct apapi_scan_file *file)
{
    size_t length = strlen(path);
    int result = 0;
    char reason[80], other[PACKED_SIZE];

    snprintf(path + length, PATH_MAX - length, "/%s", file->name);
    walk_other_name(other, file->name);
    scan->unfinished = walk_is_unfinished(day_fd, file->name, other);
    if (!inflow_is_packed(file->name) && walk_find_suffix(scan, file->name)[strlen(scan->suffix)]) {
        snprintf(reason, sizeof reason, "its name ends neither with %s nor with .gz", scan->suffix);
        walk_leave_out(scan, path, reason);
    } else if (walk_open_regular(scan, day_fd, path, other, file)) {
        result = walk_read_file(scan, file, path);
        folder_close(file->fd);
    }
    scan->unfinished = false;
    path[length] = '\0';
    return result;
}

static int walk_day(struct apapi_scan *scan, int root_fd, char path[PATH_MAX], const char *day)
{
    struct apapi_scan_file file = {.day = day};
    int day_fd = openat(root_fd, day, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct namelist names = {0};
    int result = 0;

    if (walk_read_names(&names, day_fd, scan, walk_wants_file)) {
        walk_leave_out(scan, path, strerror(errno));
    }
    for (size_t i = 0; i < names.count && result == 0; i++) {
        file.name = names.names[i];
        result = walk_entry(scan, day_fd, path, &file);
    }
    folder_close(day_fd);
    namelist_free(&names);
    return result;
}

int apapi_scan_folder(struct apapi_scan *scan, const char *dir, struct apapi_error *err)
{
    char path[PATH_MAX];
    struct namelist days = {0};
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), result = 0;

    scan->stopped = false;
    if (err) {
        *err->text = '\0';
    }
    if (walk_read_names(&days, fd, scan, walk_wants_day)) {
        result = apapi_fail(err, errno, "%.160s: %s", dir, strerror(errno));
    }
    for (size_t i = 0; i < days.count && result == 0; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, days.names[i]);
        result = walk_day(scan, fd, path, days.names[i]);
    }
    folder_close(fd);
    namelist_free(&days);
    return result;
}

/* --- a reader --------------------------------------------------------------------------------- */

struct apapi_scan *apapi_scan_create(const struct apapi_scan_filter *filter,
                                     const struct apapi_scan_sink *sink, struct apapi_error *err)
{
    struct apapi_scan *scan = calloc(1, sizeof *scan);

    if (!scan) {
        apapi_fail(err, ENOMEM, "no memory");
        return NULL;
    }
    *scan = (struct apapi_scan){.sink = *sink, .take = scan_take_line, .suffix = ".jsonl"};
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
        inflow_end(&scan->lines.inflow);
        free(scan->lines.buffer);
        filter_free(&scan->filter);
        tree_free(&scan->tree);
        free(scan);
    }
    errno = saved;
}

const struct apapi_scan_counts *apapi_scan_counts(const struct apapi_scan *scan)
{
    return &scan->counts;
}

int apapi_scan_stream(struct apapi_scan *scan, int fd, const char *name, struct apapi_error *err)
{
    uint64_t offset = 0;

    scan->stopped = false;
    return scan_read(scan, fd, name, &offset, err);
}

int apapi_scan_line(struct apapi_scan *scan, const char *text, size_t size)
{
    struct line line = {.text = text, .size = size, .whole = true};

    scan->name = "a line";
    return scan->take(scan, &line) < 0 ? -1 : 0;
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
