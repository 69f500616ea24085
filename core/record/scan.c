/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
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
#include "base/array.h"
#include "base/clock.h"
#include "base/json.h"
#include "record/fields.h"
#include "record/files.h"
#include "record/record.h"

/*
 * Besides a record, a line may hold other forms of JSON: a part of an array, as written by `srun
 * --apapi-format=json`, or a merged record.
 */

/* --- arrays ----------------------------------------------------------------------------------- */

/* @return 0 to continue; anything else stops the visit. The text is valid during the call only. */
typedef int (*parts_f)(const char *text, size_t size, void *context);

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

/*
 * Visit the elements of a line. It may begin with '[', end with ']', and have commas between and
 * after them. Anything else is one element, together with all that follows it.
 * @return 0, or what `take` has returned.
 */
static int parts_each(const char *line, size_t size, parts_f take, void *context)
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

/* @return whether the text is an array's element for a node without a record. */
static bool parts_is_absence(const char *text, size_t size)
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

struct merged {
    const struct tree_node *root, *nodes;
    double total_j;   /* of all nodes; NaN: unknown for one of them */
    double elapsed_s; /* of the step */
};

static double number_of(const struct tree_node *object, const char *key)
{
    const struct tree_node *value = tree_get(object, key);

    return tree_is_number(value) ? tree_number(value) : (double)NAN;
}

static const char *text_of(const struct tree_node *object, const char *key)
{
    const struct tree_node *value = tree_get(object, key);

    return tree_is(value, TREE_TEXT) ? value->text : NULL;
}

/* The share of this node in the sums. */
static double share_of_total(const struct merged *merged, const struct tree_node *node)
{
    return merged->total_j > 0 ? number_of(node, "energy_j") / merged->total_j
                               : 1.0 / (double)merged->nodes->size;
}

/*
 * The part of a domain that is this node's. Older merged records say nothing of the domains of a
 * node: all have the same part of the sums then.
 * @return NaN: the node has not measured it
 */
static double share_of_domain(const struct merged *merged, const struct tree_node *node,
                              const char *domain)
{
    const struct tree_node *own = tree_get(node, "domains");
    double sum_j = number_of(tree_get(tree_get(merged->root, "domains"), domain), "energy_j");

    if (!own) {
        return share_of_total(merged, node);
    }
    own = tree_get(own, domain);
    if (!own) {
        return NAN;
    }
    return sum_j > 0 ? number_of(own, "energy_j") / sum_j : share_of_total(merged, node);
}

static void copy(struct json_writer *json, const struct merged *merged, const char *const *keys)
{
    for (; *keys; keys++) {
        const struct tree_node *value = tree_get(merged->root, *keys);

        if (value) {
            json_put_tree(json, *keys, value);
        }
    }
}

/* Sums or maxima over several nodes do not apply to a single node. */
static void put_identity(struct json_writer *json, const struct merged *merged, const char *name)
{
    static const char *const common[] = {
        "cluster", "job",    "array_job", "array_task",  "het_job",  "het_offset",
        "step",    "name",   "job_name",  "nodes",       "nodelist", "restarts",
        "uid",     "user",   "account",   "partition",   "qos",      "verified",
        "start",   "late_s", "exit_code", "exit_signal", NULL};
    static const char *const own[] = {"tasks", "cores", "gpus", "failed_tasks", NULL};

    copy(json, merged, common);
    if (merged->nodes->size == 1) {
        copy(json, merged, own);
    }
    json_put_text(json, "node", name);
}

static void put_ending(struct json_writer *json, const struct merged *merged, const char *name)
{
    const struct tree_node *list = tree_get(merged->root, "incomplete"), *reason = NULL;
    const struct tree_node *one = tree_is(list, TREE_ARRAY) ? tree_first(list) : NULL;
    bool complete = true;

    for (uint32_t i = 0; one && i < list->size && complete; i++, one = tree_next(one)) {
        const char *node = text_of(one, "node");

        complete = !node || strcmp(node, name) != 0;
        reason = complete ? NULL : tree_get(one, "reason");
    }
    json_put_flag(json, "complete", complete);
    if (reason) {
        json_put_tree(json, "reason", reason);
    }
}

/* @param own  what the node says of the domain; NULL: an older record, which does not */
static void put_domain(struct json_writer *json, const struct tree_node *sum,
                       const struct tree_node *own, double share)
{
    static const char *const keys[] = {"energy_j", "rest_j", "mean_w", "min_w", "max_w"};

    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        json_put_number(json, keys[i], number_of(sum, keys[i]) * share, JSON_EXACT);
    }
    json_put_number(json, "uncertainty_j",
                    own ? number_of(own, "uncertainty_j") : number_of(sum, "uncertainty_j") * share,
                    JSON_EXACT);
    json_put_number(json, "covered", number_of(own ? own : sum, "covered"), JSON_EXACT);
}

static void put_domains(struct json_writer *json, const struct merged *merged,
                        const struct tree_node *node)
{
    const struct tree_node *domains = tree_get(merged->root, "domains"), *key;

    json_begin_object(json, "domains");
    key = tree_is(domains, TREE_OBJECT) ? tree_first(domains) : NULL;
    for (uint32_t i = 0; key && i < domains->size; i++, key = tree_next(key + 1)) {
        double share = share_of_domain(merged, node, key->text);

        if (!isnan(share)) {
            json_begin_object(json, key->text);
            put_domain(json, key + 1, tree_get(tree_get(node, "domains"), key->text), share);
            json_end(json);
        }
    }
    json_end(json);
}

static void put_timeline(struct json_writer *json, const struct tree_node *timeline, double share)
{
    const struct tree_node *key = tree_first(timeline);

    for (uint32_t i = 0; i < timeline->size; i++, key = tree_next(key + 1)) {
        if (tree_is_key(key, "unit_j")) {
            json_put_number(json, "unit_j", tree_number(key + 1) * share, JSON_EXACT);
        } else if (!tree_is_key(key, "start") && !tree_is_key(key, "bin_s")) {
            json_put_tree(json, key->text, key + 1);
        }
    }
}

/* Only timelines that start with the step. A domain with other bins than the first is omitted. */
static void put_timelines(struct json_writer *json, const struct merged *merged,
                          const struct tree_node *node)
{
    const struct tree_node *timelines = tree_get(merged->root, "timeline"), *key;
    const char *start = text_of(merged->root, "start");
    double bin_s = NAN;

    json_begin_object(json, "timeline");
    key = tree_is(timelines, TREE_OBJECT) ? tree_first(timelines) : NULL;
    for (uint32_t i = 0; key && i < timelines->size; i++, key = tree_next(key + 1)) {
        double share = share_of_domain(merged, node, key->text);
        double own_bin_s = number_of(key + 1, "bin_s");
        const char *own_start = text_of(key + 1, "start");

        if (isnan(share) || isnan(own_bin_s) || !start || !own_start ||
            strcmp(start, own_start) != 0 || (!isnan(bin_s) && own_bin_s != bin_s)) {
            continue;
        }
        if (isnan(bin_s)) {
            bin_s = own_bin_s;
            json_put_tree(json, "bin_s", tree_get(key + 1, "bin_s"));
        }
        json_begin_object(json, key->text);
        put_timeline(json, key + 1, share);
        json_end(json);
    }
    json_end_or_drop(json);
}

static void put_trust(struct json_writer *json, const struct tree_node *node)
{
    const struct tree_node *unknown = tree_get(node, "unknown_domains");

    json_begin_object(json, "trust");
    if (unknown) {
        json_put_tree(json, "unknown_domains", unknown);
    }
    json_put_number(json, "covered", number_of(node, "covered"), JSON_MEASURED);
    json_put_number(json, "cpu_s", 0, JSON_EXACT);
    json_end(json);
}

/* @return its text, to be freed; NULL: out of memory. */
static char *record_of(const struct merged *merged, const struct tree_node *node, const char *name)
{
    struct json_writer json = {0};

    json_begin_object(&json, NULL);
    json_put_integer(&json, "apapi", APAPI_RECORD_VERSION);
    put_identity(&json, merged, name);
    put_ending(&json, merged, name);
    json_put_number(&json, "elapsed_s", merged->elapsed_s, JSON_EXACT);
    put_domains(&json, merged, node);
    json_begin_array(&json, "components");
    json_end(&json);
    put_timelines(&json, merged, node);
    put_trust(&json, node);
    json_end(&json);
    return json_take(&json);
}

/* From the first reading of any node to the last one. */
static double elapsed_of(const struct tree_node *root)
{
    const char *start = text_of(root, "start"), *end = text_of(root, "end");
    int64_t start_ns, end_ns;

    if (!start || !end || timestamp_parse(start, &start_ns) || timestamp_parse(end, &end_ns) ||
        start_ns < 0 || end_ns < start_ns) {
        return number_of(root, "elapsed_s");
    }
    return (double)(end_ns - start_ns) / NS_PER_S;
}

static int visit(const struct merged *merged, parts_f take, void *context)
{
    const struct tree_node *node = tree_first(merged->nodes);
    int result = 0;

    for (uint32_t i = 0; i < merged->nodes->size && result == 0; i++, node = tree_next(node)) {
        const char *name = text_of(node, "node");
        char *text = name ? record_of(merged, node, name) : NULL;

        if (name && !text) {
            return -1;
        }
        result = text ? take(text, strlen(text), context) : 0;
        free(text);
    }
    return result;
}

/*
 * Visit the nodes of a merged record as records. They get their shares of the sums: by their own
 * energies, or equal shares.
 * @return 0; 1: not a merged record; what `take` has returned; -1 with errno ENOMEM.
 */
static int parts_of_merged(const char *text, size_t size, parts_f take, void *context)
{
    static const char key[] = "\"merged\"";
    struct tree_problem problem;
    struct tree tree = {0};
    struct merged merged = {NULL, NULL, 0, NAN};
    int result = 1;

    if (memmem(text, size, key, sizeof key - 1) && tree_parse(&tree, text, size, &problem) == 0) {
        merged.root = tree.nodes;
        merged.nodes = tree_get(merged.root, "per_node");
    }
    if (tree_is(tree_get(merged.root, "merged"), TREE_INTEGER) &&
        tree_is(merged.nodes, TREE_ARRAY)) {
        const struct tree_node *node = tree_first(merged.nodes);

        for (uint32_t i = 0; i < merged.nodes->size; i++, node = tree_next(node)) {
            merged.total_j += number_of(node, "energy_j");
        }
        merged.elapsed_s = elapsed_of(merged.root);
        result = visit(&merged, take, context);
    }
    tree_free(&tree);
    return result;
}

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

/*
 * Most lines are one record, and nothing has to be searched for in them but a second one.
 * @return false: the line must be taken apart, as nothing was done
 */
static bool scan_take_whole(struct part *part, int *result)
{
    static const char begin[] = "{\"apapi\":", key[] = "\"apapi\"";
    const char *text = part->line->text;
    size_t size = part->line->size;
    struct apapi_record record;

    if (size < sizeof begin || memcmp(text, begin, sizeof begin - 1) != 0) {
        return false;
    }
    if (!filter_may_want(&part->scan->filter, text, size)) {
        *result = 0;
        return !memmem(text + sizeof begin, size - sizeof begin, key, sizeof key - 1);
    }
    while (text[size - 1] != '}' && size > 1) {
        if (!scan_parts_is_blank(text[size - 1]) && text[size - 1] != ',' &&
            text[size - 1] != ']') {
            return false;
        }
        size--;
    }
    if (apapi_record_decode(text, size, &record, NULL)) {
        return false;
    }
    *result = scan_take_record(part, text, size, &record) ? -1 : 0;
    apapi_record_clear(&record);
    return true;
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
    if (!scan_take_whole(&part, &result)) {
        result = parts_each(line->text, line->size, scan_take_part, &part);
    }
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
