/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apapi/record.h"
#include "apapi/scan.h"
#include "base/clock.h"
#include "base/json.h"
#include "record/fields.h"
#include "record/files.h"
#include "record/record.h"
#include "record/tree.h"

/*
 * Besides a record, a line may hold other forms of JSON: a part of an array, as written by `srun
 * --apapi-format=json`, or a merged record.
 */

/** @return 0 to continue; anything else stops the visit. The text is valid during the call only. */
typedef int (*parts_f)(const char *text, size_t size, void *context);

/**
 * Visit the elements of a line. It may begin with '[', end with ']', and have commas between and
 * after them. Anything else is one element, together with all that follows it.
 * @return 0, or what `take` has returned.
 */
int parts_each(const char *line, size_t size, parts_f take, void *context);

/** @return whether the text is an array's element for a node without a record. */
bool parts_is_absence(const char *text, size_t size);

/**
 * Visit the nodes of a merged record as records. They get their shares of the sums: by their own
 * energies, or equal shares.
 * @return 0; 1: not a merged record; what `take` has returned; -1 with errno ENOMEM.
 */
int parts_of_merged(const char *text, size_t size, parts_f take, void *context);

/* --- scanning --------------------------------------------------------------------------------- */

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

static int scan_take_record(struct part *part, const char *text, size_t size,
                            const struct apapi_record *record)
{
    part->records++;
    if (!record_has_time(&record->measurement)) {
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

/* --- arrays and merged records ---------------------------------------------------------------- */

static bool scan_parts_is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

static const char *scan_parts_skip_blanks(const char *at, const char *end)
{
    while (at < end && scan_parts_is_blank(*at)) {
        at++;
    }
    return at;
}

enum { IN_TEXT = 1, OUTSIDE = 2 };

/* Where a byte has a meaning; most have none. */
static const unsigned char meanings[UCHAR_MAX + 1] = {
    ['"'] = IN_TEXT | OUTSIDE, ['\\'] = IN_TEXT, ['{'] = OUTSIDE,
    ['['] = OUTSIDE,           ['}'] = OUTSIDE,  [']'] = OUTSIDE,
};

static inline unsigned meaning_of(const char *at)
{
    return meanings[(unsigned char)*at];
}

/* Most of a scan's time is spent here: four bytes at a time. */
static inline const char *skip_meaningless(const char *at, const char *end, unsigned where)
{
    while (end - at >= 4 &&
           !((meaning_of(at) | meaning_of(at + 1) | meaning_of(at + 2) | meaning_of(at + 3)) &
             where)) {
        at += 4;
    }
    while (at < end && !(meaning_of(at) & where)) {
        at++;
    }
    return at;
}

/* @return where a text ends, at its second quote; `at` is behind the first. */
static const char *text_end(const char *at, const char *end)
{
    at = skip_meaningless(at, end, IN_TEXT);
    while (at < end && *at == '\\') {
        at = end - at > 2 ? skip_meaningless(at + 2, end, IN_TEXT) : end;
    }
    return at;
}

/* @return the end of the object at `at`, or the end of the line if it is torn. */
static const char *object_end(const char *at, const char *end)
{
    size_t depth = 0;

    for (at = skip_meaningless(at, end, OUTSIDE); at < end;
         at = skip_meaningless(at + 1, end, OUTSIDE)) {
        if (*at == '"') {
            at = text_end(at + 1, end);
            if (at == end) {
                return end;
            }
        } else if (*at == '{' || *at == '[') {
            depth++;
        } else if (--depth == 0) {
            return at + 1;
        }
    }
    return end;
}

/* Check whether another element or the end of the line follows. */
static bool ends_here(const char *at, const char *end)
{
    at = scan_parts_skip_blanks(at, end);
    return at == end || *at == ',' || *at == ']';
}

int parts_each(const char *line, size_t size, parts_f take, void *context)
{
    const char *end = line + size, *at = scan_parts_skip_blanks(line, end);
    int result = 0;

    at += at < end && *at == '[';
    while (result == 0) {
        const char *behind;

        at = scan_parts_skip_blanks(at, end);
        if (at < end && (*at == ',' || *at == ']')) {
            at++;
            continue;
        }
        if (at == end) {
            break;
        }
        behind = *at == '{' ? object_end(at, end) : end;
        behind = ends_here(behind, end) ? behind : end;
        result = take(at, (size_t)(behind - at), context);
        at = behind;
    }
    return result;
}

bool parts_is_absence(const char *text, size_t size)
{
    static const char key[] = "\"reason\"";
    struct tree_problem problem;
    struct tree tree = {0};
    bool result = false;

    if (memmem(text, size, key, sizeof key - 1) && tree_parse(&tree, text, size, &problem) == 0) {
        result = tree_is(tree_get(tree.nodes, "apapi"), TREE_INTEGER) &&
                 tree_is(tree_get(tree.nodes, "node"), TREE_TEXT) &&
                 tree_is(tree_get(tree.nodes, "reason"), TREE_TEXT) &&
                 tree_is(tree_get(tree.nodes, "complete"), TREE_FALSE) &&
                 !tree_get(tree.nodes, "start") && !tree_get(tree.nodes, "domains");
    }
    tree_free(&tree);
    return result;
}

/* --- merged records --------------------------------------------------------------------------- */

/* Records of the nodes of a merged record. */

struct merged {
    const json_t *root, *nodes; /* borrowed */
    double total_j;             /* of all nodes; NaN: unknown for one of them */
    double elapsed_s;           /* of the step */
};

static double number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

/* The share of this node in the sums. */
static double share_of_total(const struct merged *merged, const json_t *node)
{
    return merged->total_j > 0 ? number_of(node, "energy_j") / merged->total_j
                               : 1.0 / (double)json_array_size(merged->nodes);
}

/*
 * The part of a domain that is this node's. Older merged records say nothing of the domains of a
 * node: all have the same part of the sums then.
 * @return NaN: the node has not measured it
 */
static double scan_merged_share_of(const struct merged *merged, const json_t *node,
                                   const char *domain)
{
    const json_t *own = json_object_get(node, "domains");
    const json_t *sum = json_object_get(json_object_get(merged->root, "domains"), domain);
    double sum_j = number_of(sum, "energy_j");

    if (!own) {
        return share_of_total(merged, node);
    }
    own = json_object_get(own, domain);
    if (!own) {
        return NAN;
    }
    return sum_j > 0 ? number_of(own, "energy_j") / sum_j : share_of_total(merged, node);
}

static double scan_merged_uncertainty_of(const json_t *node, const char *domain, double share,
                                         const json_t *sum)
{
    const json_t *own = json_object_get(json_object_get(node, "domains"), domain);

    return own ? number_of(own, "uncertainty_j") : number_of(sum, "uncertainty_j") * share;
}

/* Each returns 0, or another value without memory. */

static int copy(json_t *record, const struct merged *merged, const char *const *keys)
{
    int result = 0;

    for (; *keys && result == 0; keys++) {
        json_t *value = json_object_get(merged->root, *keys);

        result = value ? json_object_set(record, *keys, value) : 0;
    }
    return result;
}

/* Sums or maxima over several nodes do not apply to a single node. */
static int scan_merged_put_identity(json_t *record, const struct merged *merged)
{
    static const char *const common[] = {
        "cluster", "job",    "array_job", "array_task",  "het_job",  "het_offset",
        "step",    "name",   "job_name",  "nodes",       "nodelist", "restarts",
        "uid",     "user",   "account",   "partition",   "qos",      "verified",
        "start",   "late_s", "exit_code", "exit_signal", NULL};
    static const char *const own[] = {"tasks", "cores", "gpus", "failed_tasks", NULL};
    int result = copy(record, merged, common);

    return result == 0 && json_array_size(merged->nodes) == 1 ? copy(record, merged, own) : result;
}

static int scan_merged_put_ending(json_t *record, const struct merged *merged, const char *name)
{
    const json_t *incomplete = json_object_get(merged->root, "incomplete"), *one;
    size_t index;

    json_array_foreach(incomplete, index, one)
    {
        const char *node = json_string_value(json_object_get(one, "node"));
        json_t *reason = json_object_get(one, "reason");

        if (node && strcmp(node, name) == 0) {
            return field_put(record, "complete", json_false()) ||
                   (reason && json_object_set(record, "reason", reason));
        }
    }
    return field_put(record, "complete", json_true());
}

static int scan_merged_put_domain(json_t *domain, const json_t *sum, double share)
{
    static const char *const keys[] = {"energy_j", "rest_j", "mean_w", "min_w", "max_w", NULL};
    int result = 0;

    for (size_t i = 0; keys[i] && result == 0; i++) {
        result = field_put_rounded(domain, keys[i], number_of(sum, keys[i]) * share, FIELD_FIGURES);
    }
    return result;
}

/* Older merged records do not say it. */
static int scan_merged_put_covered(json_t *domain, const json_t *node, const char *name,
                                   const json_t *sum)
{
    const json_t *own = json_object_get(json_object_get(node, "domains"), name);

    return field_put_rounded(domain, "covered", number_of(own ? own : sum, "covered"),
                             FIELD_FIGURES);
}

static int scan_merged_put_domains(json_t *record, const struct merged *merged, const json_t *node)
{
    json_t *domains = json_object(), *sum;
    const char *name;
    int result = field_put(record, "domains", domains);

    json_object_foreach(json_object_get(merged->root, "domains"), name, sum)
    {
        double share = scan_merged_share_of(merged, node, name);
        json_t *domain = isnan(share) ? NULL : json_object();

        if (domain) {
            result |= field_put(domains, name, domain) ||
                      scan_merged_put_domain(domain, sum, share) ||
                      field_put_rounded(domain, "uncertainty_j",
                                        scan_merged_uncertainty_of(node, name, share, sum),
                                        FIELD_FIGURES) ||
                      scan_merged_put_covered(domain, node, name, sum);
        }
    }
    return result;
}

/* Only timelines that start with the step. A domain with other bins than the first is omitted. */
static int scan_merged_put_timelines(json_t *record, const struct merged *merged,
                                     const json_t *node)
{
    const json_t *start = json_object_get(merged->root, "start");
    json_t *timelines = json_object(), *one;
    const char *name;
    int result = field_put(record, "timeline", timelines);

    json_object_foreach(json_object_get(merged->root, "timeline"), name, one)
    {
        json_t *width = json_object_get(one, "bin_s"), *domain;
        double share = scan_merged_share_of(merged, node, name);

        if (isnan(share) || !json_equal(json_object_get(one, "start"), start) || !width ||
            (json_object_size(timelines) > 0 &&
             !json_equal(width, json_object_get(timelines, "bin_s")))) {
            continue;
        }
        domain = json_copy(one);
        result |=
            json_object_set(timelines, "bin_s", width) |
            json_object_set_new(domain, "unit_j", json_real(number_of(one, "unit_j") * share)) |
            json_object_set_new(timelines, name, domain);
        json_object_del(domain, "start");
        json_object_del(domain, "bin_s");
    }
    fields_drop_empty(record, "timeline");
    return result;
}

static int scan_merged_put_trust(json_t *record, const json_t *node)
{
    json_t *trust = json_object(), *unknown = json_object_get(node, "unknown_domains");

    return field_put(record, "trust", trust) ||
           (unknown && json_object_set(trust, "unknown_domains", unknown)) ||
           field_put_measured(trust, "covered", number_of(node, "covered")) ||
           field_put(trust, "cpu_s", json_real(0));
}

/* @return its text, to be freed; NULL: out of memory. */
static char *record_of(const struct merged *merged, const json_t *node, const char *name)
{
    json_t *record = json_object();

    return fields_text(
        record,
        field_put(record, "apapi", json_integer(APAPI_RECORD_VERSION)) ||
            scan_merged_put_identity(record, merged) || field_put_text(record, "node", name) ||
            scan_merged_put_ending(record, merged, name) ||
            field_put_rounded(record, "elapsed_s", merged->elapsed_s, FIELD_FIGURES) ||
            scan_merged_put_domains(record, merged, node) ||
            field_put(record, "components", json_array()) ||
            scan_merged_put_timelines(record, merged, node) || scan_merged_put_trust(record, node));
}

/* From the first reading of any node to the last one. */
static double elapsed_of(const json_t *root)
{
    const char *start = json_string_value(json_object_get(root, "start"));
    const char *end = json_string_value(json_object_get(root, "end"));
    int64_t start_ns, end_ns;

    if (!start || !end || timestamp_parse(start, &start_ns) || timestamp_parse(end, &end_ns) ||
        start_ns < 0 || end_ns < start_ns) {
        return number_of(root, "elapsed_s");
    }
    return (double)(end_ns - start_ns) / NS_PER_S;
}

static int visit(const struct merged *merged, parts_f take, void *context)
{
    const json_t *node;
    size_t index;
    int result = 0;

    json_array_foreach(merged->nodes, index, node)
    {
        const char *name = json_string_value(json_object_get(node, "node"));
        char *text = name ? record_of(merged, node, name) : NULL;

        if (name && !text) {
            errno = ENOMEM;
            return -1;
        }
        result = text ? take(text, strlen(text), context) : 0;
        free(text);
        if (result) {
            break;
        }
    }
    return result;
}

int parts_of_merged(const char *text, size_t size, parts_f take, void *context)
{
    static const char key[] = "\"merged\"";
    json_t *root = memmem(text, size, key, sizeof key - 1)
                       ? json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL)
                       : NULL;
    struct merged merged = {.root = root, .nodes = json_object_get(root, "per_node")};
    const json_t *node;
    size_t index;
    int result = 1;

    if (json_is_integer(json_object_get(root, "merged")) && json_is_array(merged.nodes)) {
        json_array_foreach(merged.nodes, index, node)
        {
            merged.total_j += number_of(node, "energy_j");
        }
        merged.elapsed_s = elapsed_of(root);
        result = visit(&merged, take, context);
    }
    json_decref(root);
    return result;
}
