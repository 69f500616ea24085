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
#include "base/hostlist.h"
#include "base/inflow.h"
#include "base/names.h"
#include "record/record.h"

/* --- the beginning of a line ------------------------------------------------------------------ */

/* One "key":value of the object in a line, as written. */
struct head_pair {
    const char *key, *value; /* without NUL; a text without its quotes */
    size_t key_size, value_size;
    bool text; /* otherwise a number, true or false */
};

struct head {
    const char *at, *end;
};

static bool take_byte(struct head *head, char byte)
{
    if (head->at < head->end && *head->at == byte) {
        head->at++;
        return true;
    }
    return false;
}

/* @return whether the line begins as apapi_record_encode() writes it. */
static bool head_begin(struct head *head, const char *line, size_t size)
{
    static const char begin[] = "{\"apapi\":1,";

    *head = (struct head){line, line + size};
    if (size < sizeof begin || memcmp(line, begin, sizeof begin - 1) != 0) {
        return false;
    }
    head->at += sizeof begin - 2; /* at the comma, as between two pairs */
    return true;
}

/* A text after its first quote. */
static bool take_text(struct head *head, const char **text, size_t *size)
{
    const char *at = head->at;

    while (at < head->end && *at != '"') {
        at += *at == '\\' ? 2 : 1;
    }
    if (at >= head->end) {
        return false;
    }
    *text = head->at;
    *size = (size_t)(at - head->at);
    head->at = at + 1;
    return true;
}

/* A number, true or false. */
static bool scan_head_take_word(struct head *head, const char **word, size_t *size)
{
    const char *at = head->at;

    while (at < head->end && ((*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') ||
                              *at == '.' || *at == '-' || *at == '+')) {
        at++;
    }
    *word = head->at;
    *size = (size_t)(at - head->at);
    head->at = at;
    return *size > 0 && at < head->end && (*at == ',' || *at == '}');
}

/*
 * The next pair.
 * @return false at the end of the line, at the first object or array, and at anything that differs
 * from the form of apapi_record_encode().
 */
static bool head_next(struct head *head, struct head_pair *pair)
{
    if (!take_byte(head, ',') || !take_byte(head, '"') ||
        !take_text(head, &pair->key, &pair->key_size) || !take_byte(head, ':')) {
        return false;
    }
    pair->text = take_byte(head, '"');
    return pair->text ? take_text(head, &pair->value, &pair->value_size)
                      : scan_head_take_word(head, &pair->value, &pair->value_size);
}

static bool head_is(const char *text, size_t size, const char *wanted)
{
    return strlen(wanted) == size && memcmp(text, wanted, size) == 0;
}

/* --- what is wanted --------------------------------------------------------------------------- */

#define ROUNDING_NS NS_PER_S /* possible error of elapsed_s when read as an approximate number */
#define LONGEST_S 9e9        /* as int64_t [ns] */
#define DIGITS_MAX 9         /* numbers of so many digits fit into 32 bits */

static const struct {
    const char *key;
    size_t wanted; /* offset in struct apapi_scan_filter */
    size_t found;  /* offset in struct apapi_identity */
    size_t size;
} texts[FILTER_TEXTS] = {
#define TEXT(key)                                                                                  \
    {                                                                                              \
#key, offsetof(struct apapi_scan_filter, key), offsetof(struct apapi_identity, key),       \
            sizeof((struct apapi_identity *)0)->key                                                \
    }
    [FILTER_CLUSTER] = TEXT(cluster),
    [FILTER_USER] = TEXT(user),
    [FILTER_ACCOUNT] = TEXT(account),
    [FILTER_PARTITION] = TEXT(partition),
#undef TEXT
};

static int copy_nodes(struct filter *filter, const struct apapi_scan_filter *wanted)
{
    ssize_t count = wanted->nodes ? hostlist_names(wanted->nodes, &filter->nodes) : 1;

    if (count == 0) {
        errno = EINVAL;
    }
    namelist_sort(&filter->nodes);
    return count > 0 ? 0 : -1;
}

/* A user may be named by number. */
static uint32_t read_uid(const char *user)
{
    size_t digits = user ? strspn(user, "0123456789") : 0;
    unsigned long long uid = digits > 0 ? strtoull(user, NULL, 10) : APAPI_UNKNOWN;

    return digits > 0 && user[digits] == '\0' && uid < APAPI_UNKNOWN ? (uint32_t)uid
                                                                     : APAPI_UNKNOWN;
}

int filter_init(struct filter *filter, const struct apapi_scan_filter *wanted,
                struct apapi_error *err)
{
    bool failed;

    *filter = (struct filter){.from_ns = INT64_MIN, .to_ns = INT64_MAX, .uid = APAPI_UNKNOWN};
    if (!wanted) {
        return 0;
    }
    filter->uid = read_uid(wanted->user);
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
        filter->limits = filter->limits || text;
    }
    if (failed || copy_nodes(filter, wanted)) {
        return !failed && errno == EINVAL
                   ? apapi_fail(err, EINVAL, "'%.100s' is not a list of nodes like n[1-4]",
                                wanted->nodes)
                   : apapi_fail(err, ENOMEM, "no memory");
    }
    filter->limits = filter->limits || wanted->from_unix_ns || wanted->to_unix_ns ||
                     filter->job_count > 0 || filter->nodes.count > 0;
    return 0;
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

static bool wants_job(const struct filter *filter, const struct apapi_identity *id)
{
    return filter->job_count == 0 || has_job(filter, id->job) ||
           (filter->job_parts && (has_job(filter, id->array_job) || has_job(filter, id->het_job)));
}

static bool wants_text(const struct filter *filter, size_t i, const struct apapi_identity *id)
{
    return !filter->texts[i] || strcmp(filter->texts[i], (const char *)id + texts[i].found) == 0 ||
           (i == FILTER_USER && filter->uid != APAPI_UNKNOWN && id->uid == filter->uid);
}

static bool wants_end(const struct filter *filter, int64_t end_ns)
{
    return end_ns >= filter->from_ns && end_ns < filter->to_ns;
}

bool filter_wants(const struct filter *filter, const struct apapi_record *record)
{
    for (size_t i = 0; i < FILTER_TEXTS; i++) {
        if (!wants_text(filter, i, &record->id)) {
            return false;
        }
    }
    return wants_job(filter, &record->id) && filter_wants_node(filter, record->id.node) &&
           wants_end(filter, record_end_ns(&record->measurement));
}

static bool scan_filter_read_number(const struct head_pair *pair, uint32_t *number)
{
    *number = 0;
    for (size_t i = 0; i < pair->value_size; i++) {
        if (pair->value[i] < '0' || pair->value[i] > '9') {
            return false;
        }
        *number = *number * 10 + (uint32_t)(pair->value[i] - '0');
    }
    return !pair->text && pair->value_size <= DIGITS_MAX;
}

/* @return whether the value is short enough, and is a text, or none */
static bool pair_copy(const struct head_pair *pair, bool text, char *copy, size_t size)
{
    if (pair->text != text || pair->value_size >= size) {
        return false;
    }
    memcpy(copy, pair->value, pair->value_size);
    copy[pair->value_size] = '\0';
    return true;
}

static bool read_start(const struct head_pair *pair, int64_t *start_ns)
{
    char text[TIMESTAMP_SIZE];

    return pair_copy(pair, true, text, sizeof text) && timestamp_parse(text, start_ns) == 0;
}

static bool read_elapsed(const struct head_pair *pair, int64_t *elapsed_ns)
{
    char text[40], *end;
    double seconds;

    if (!pair_copy(pair, false, text, sizeof text)) {
        return false;
    }
    seconds = strtod(text, &end);
    if (*end || !(seconds >= 0 && seconds < LONGEST_S)) {
        return false;
    }
    *elapsed_ns = (int64_t)(seconds * (double)NS_PER_S);
    return true;
}

/* Check that the reader of records would get the same bytes from this text. */
static bool is_plain(const struct head_pair *pair, size_t size)
{
    for (size_t i = 0; i < pair->value_size; i++) {
        if (pair->value[i] < ' ' || pair->value[i] > '~' || pair->value[i] == '\\') {
            return false;
        }
    }
    return pair->text && pair->value_size < size;
}

static bool may_want_text(const struct filter *filter, const struct head_pair *pair)
{
    for (size_t i = 0; i < FILTER_TEXTS; i++) {
        if (filter->texts[i] && head_is(pair->key, pair->key_size, texts[i].key)) {
            return !is_plain(pair, texts[i].size) ||
                   head_is(pair->value, pair->value_size, filter->texts[i]);
        }
    }
    return true;
}

/* Job and user by the numbers at the beginning of a line. */
struct numbers {
    bool job_said, job_wanted, uid_wanted, part_said;
};

/* @return whether the key is one of those numbers. */
static bool scan_filter_take_number(const struct filter *filter, const struct head_pair *pair,
                                    struct numbers *numbers)
{
    bool is_job = head_is(pair->key, pair->key_size, "job");
    uint32_t number;

    if (filter->uid != APAPI_UNKNOWN && head_is(pair->key, pair->key_size, "uid")) {
        numbers->uid_wanted = !scan_filter_read_number(pair, &number) || number == filter->uid;
        return true;
    }
    if (is_job || (filter->job_parts && (head_is(pair->key, pair->key_size, "array_job") ||
                                         head_is(pair->key, pair->key_size, "het_job")))) {
        numbers->job_said = numbers->job_said || is_job;
        numbers->part_said = numbers->part_said || !is_job;
        numbers->job_wanted = numbers->job_wanted || filter->job_count == 0 ||
                              !scan_filter_read_number(pair, &number) || has_job(filter, number);
        return true;
    }
    return false;
}

/* Another writer may have put array and heterogeneous job behind the step, `rest` on. */
static bool may_want_pair(const struct filter *filter, const struct head_pair *pair,
                          const struct numbers *numbers, const struct head *rest)
{
    static const char part[] = "_job\""; /* "array_job", "het_job" */

    if (head_is(pair->key, pair->key_size, "step")) {
        return numbers->job_wanted || !numbers->job_said ||
               (filter->job_parts && !numbers->part_said &&
                memmem(rest->at, (size_t)(rest->end - rest->at), part, sizeof part - 1));
    }
    if (numbers->uid_wanted && head_is(pair->key, pair->key_size, "user")) {
        return true;
    }
    return may_want_text(filter, pair);
}

static bool may_want_node(const struct filter *filter, const struct head_pair *pair)
{
    char node[APAPI_TEXT_SIZE];

    return filter->nodes.count == 0 || !is_plain(pair, sizeof node) ||
           !pair_copy(pair, true, node, sizeof node) || filter_wants_node(filter, node);
}

static bool may_want_end(const struct filter *filter, int64_t start_ns, int64_t elapsed_ns)
{
    int64_t early_ns, late_ns;

    if (__builtin_add_overflow(start_ns, elapsed_ns + ROUNDING_NS, &late_ns) ||
        __builtin_sub_overflow(late_ns, 2 * ROUNDING_NS, &early_ns)) {
        return true;
    }
    return late_ns >= filter->from_ns && early_ns < filter->to_ns;
}

bool filter_may_want(const struct filter *filter, const char *line, size_t size)
{
    struct head head;
    struct head_pair pair;
    struct numbers numbers = {false};
    int64_t start_ns = 0, elapsed_ns;
    bool started = false;

    if (!filter->limits || !head_begin(&head, line, size)) {
        return true;
    }
    while (head_next(&head, &pair)) {
        bool wanted = true;

        if (scan_filter_take_number(filter, &pair, &numbers)) {
            continue;
        }
        if (head_is(pair.key, pair.key_size, "node")) {
            wanted = may_want_node(filter, &pair);
        } else if (head_is(pair.key, pair.key_size, "start")) {
            started = read_start(&pair, &start_ns);
        } else if (head_is(pair.key, pair.key_size, "elapsed_s") && started) {
            return !read_elapsed(&pair, &elapsed_ns) || may_want_end(filter, start_ns, elapsed_ns);
        } else {
            wanted = may_want_pair(filter, &pair, &numbers, &head);
        }
        if (!wanted) {
            return false;
        }
    }
    return true;
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

static void scan_lines_make_room(struct lines *lines)
{
    if (lines->end - lines->begin > APAPI_SCAN_LINE_MAX) {
        lines->dropped += lines->end - lines->begin;
        lines->begin = lines->end;
    }
    if (BUFFER_SIZE - lines->end < CHUNK || lines->begin == lines->end) {
        memmove(lines->buffer, lines->buffer + lines->begin, lines->end - lines->begin);
        lines->end -= lines->begin;
        lines->begin = 0;
    }
}

static int scan_lines_fill(struct lines *lines)
{
    ssize_t got;

    scan_lines_make_room(lines);
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
        code = errno;
        if (own >= 0) {
            close(own);
        }
        errno = code;
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
    if (fd >= 0) {
        close(fd);
    }
    return -1;
}

static bool walk_is_known_form(const struct intake *walk, const char *name)
{
    return inflow_is_packed(name) || *(walk_find_suffix(walk, name) + strlen(walk->suffix)) == '\0';
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
    int result = 0, fd = -1, saved;
    char reason[80];

    snprintf(path + length, PATH_MAX - length, "/%s", file->name);
    if (walk_is_known_form(walk, file->name)) {
        fd = walk_open_regular(walk, day_fd, path, file);
    } else {
        snprintf(reason, sizeof reason, "its name ends neither with %s nor with .gz", walk->suffix);
        walk_leave_out(walk, path, reason);
    }
    if (fd >= 0) {
        result = walk_read_file(walk, file, path, fd);
        saved = errno;
        close(fd);
        errno = saved;
    }
    path[length] = '\0';
    return result;
}

static int walk_day(struct intake *walk, int root_fd, char path[PATH_MAX], const char *day)
{
    struct apapi_scan_file file = {.day = day};
    int day_fd = openat(root_fd, day, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct namelist names = {0};
    int result = 0, saved;

    if (walk_read_names(&names, day_fd, walk, walk_wants_file)) {
        walk_leave_out(walk, path, strerror(errno));
    }
    for (size_t i = 0; i < names.count && result == 0; i++) {
        file.name = names.names[i];
        result = walk_entry(walk, day_fd, path, &file);
    }
    saved = errno;
    namelist_free(&names);
    if (day_fd >= 0) {
        close(day_fd);
    }
    errno = saved;
    return result;
}

int intake_read_folder(struct intake *walk, const char *dir, struct apapi_error *err)
{
    char path[PATH_MAX];
    struct namelist days = {0};
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), result = 0, saved;

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
    saved = errno;
    namelist_free(&days);
    if (fd >= 0) {
        close(fd);
    }
    errno = saved;
    return result;
}
