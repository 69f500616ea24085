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
#include "base/files.h"
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

/* @return the end of the object at `at`, or the end of the line if it is torn. */
static const char *object_end(const char *at, const char *end)
{
    size_t depth = 0;
    bool in_text = false;

    for (; at < end; at++) {
        if (*at == '"') {
            in_text = !in_text;
        } else if (in_text) {
            at += *at == '\\';
        } else if (*at == '{' || *at == '[') {
            depth++;
        } else if ((*at == '}' || *at == ']') && --depth == 0) {
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

/* The part of a domain that is this node's. @return NaN: the node has not measured it */
static double share_of_domain(const struct merged *merged, const struct tree_node *node,
                              const char *domain)
{
    const struct tree_node *own = tree_get(tree_get(node, "domains"), domain);
    double sum_j = number_of(tree_get(tree_get(merged->root, "domains"), domain), "energy_j");

    if (!own) {
        return NAN;
    }
    return sum_j > 0 ? number_of(own, "energy_j") / sum_j : share_of_total(merged, node);
}

/* Sums or maxima over several nodes do not apply to a single node: those keys are the last ones. */
static void put_identity(struct json_writer *json, const struct merged *merged, const char *name)
{
    static const char *const keys[] = {
        "cluster", "job",         "array_job", "array_task",  "het_job",  "het_offset",
        "step",    "name",        "job_name",  "nodes",       "nodelist", "restarts",
        "uid",     "user",        "account",   "partition",   "qos",      "verified",
        "start",   "late_s",      "exit_code", "exit_signal", "tasks",    "cores",
        "gpus",    "failed_tasks"};
    size_t count = COUNT_OF(keys) - (merged->nodes->size == 1 ? 0 : 4);

    for (size_t i = 0; i < count; i++) {
        const struct tree_node *value = tree_get(merged->root, keys[i]);

        if (value) {
            json_put_tree(json, keys[i], value);
        }
    }
    json_put_text(json, "node", name);
}

static void put_ending(struct json_writer *json, const struct merged *merged, const char *name)
{
    const struct tree_node *list = tree_get(merged->root, "incomplete"), *one = NULL, *reason;
    const char *node = NULL;

    list = tree_is(list, TREE_ARRAY) ? list : NULL;
    do {
        one = tree_each(list, one);
        node = text_of(one, "node");
    } while (one && !(node && strcmp(node, name) == 0));
    reason = tree_get(one, "reason");
    json_put_flag(json, "complete", !one);
    if (reason) {
        json_put_tree(json, "reason", reason);
    }
}

static void put_domain(struct json_writer *json, const struct tree_node *sum,
                       const struct tree_node *own, double share)
{
    static const char *const sums[] = {"energy_j", "rest_j", "mean_w", "min_w", "max_w"};
    static const char *const owns[] = {"uncertainty_j", "covered"};

    for (size_t i = 0; i < COUNT_OF(sums); i++) {
        json_put_number(json, sums[i], number_of(sum, sums[i]) * share, JSON_EXACT);
    }
    for (size_t i = 0; i < COUNT_OF(owns); i++) {
        json_put_number(json, owns[i], number_of(own, owns[i]), JSON_EXACT);
    }
}

static void put_domains(struct json_writer *json, const struct merged *merged,
                        const struct tree_node *node)
{
    const struct tree_node *domains = tree_get(merged->root, "domains"), *key = NULL;

    json_begin_object(json, "domains");
    while (tree_is(domains, TREE_OBJECT) && (key = tree_each(domains, key))) {
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
    for (const struct tree_node *key = NULL; (key = tree_each(timeline, key));) {
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
    const struct tree_node *timelines = tree_get(merged->root, "timeline"), *key = NULL;
    const char *start = text_of(merged->root, "start");
    double bin_s = NAN;

    json_begin_object(json, "timeline");
    while (start && tree_is(timelines, TREE_OBJECT) && (key = tree_each(timelines, key))) {
        double share = share_of_domain(merged, node, key->text);
        double own_bin_s = number_of(key + 1, "bin_s");
        const char *own_start = text_of(key + 1, "start");

        if (isnan(share) || isnan(own_bin_s) || !own_start || strcmp(start, own_start) != 0 ||
            (!isnan(bin_s) && own_bin_s != bin_s)) {
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

/* @return its text, to be freed; NULL: out of memory. */
static char *record_of(const struct merged *merged, const struct tree_node *node, const char *name)
{
    const struct tree_node *unknown = tree_get(node, "unknown_domains");
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
    json_begin_object(&json, "trust");
    if (unknown) {
        json_put_tree(&json, "unknown_domains", unknown);
    }
    json_put_number(&json, "covered", number_of(node, "covered"), JSON_MEASURED);
    json_put_number(&json, "cpu_s", 0, JSON_EXACT);
    json_end(&json);
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

static int each_node(const struct merged *merged, parts_f take, void *context)
{
    int result = 0;

    for (const struct tree_node *node = NULL;
         result == 0 && (node = tree_each(merged->nodes, node));) {
        const char *name = text_of(node, "node");
        char *text = name ? record_of(merged, node, name) : NULL;

        result = text ? take(text, strlen(text), context) : name ? -1 : 0;
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
        for (const struct tree_node *node = NULL; (node = tree_each(merged.nodes, node));) {
            merged.total_j += number_of(node, "energy_j");
        }
        merged.elapsed_s = elapsed_of(merged.root);
        result = each_node(&merged, take, context);
    }
    tree_free(&tree);
    return result;
}

/* --- scanning --------------------------------------------------------------------------------- */

struct apapi_scan {
    struct intake intake;
};

/* A record in a line: the whole line, an element of an array, or a node of a merged record. */
struct part {
    struct intake *intake;
    const struct line *line;
    size_t records; /* found in the line */
    bool made;      /* from a merged record */
};

static int scan_take_record(struct part *part, const char *text, size_t size,
                            const struct apapi_record *record)
{
    struct intake *intake = part->intake;

    part->records++;
    if (!record_has_time(&record->measurement)) {
        intake_skip(intake, part->line, "record: its time is not within the years 1970 to 2262");
        return 0;
    }
    if (!filter_wants(&intake->filter, record)) {
        return 0;
    }
    intake->counts.records++;
    intake->stopped = intake->sink.record(record, text, size, intake->sink.context) != 0;
    return intake->stopped ? -1 : 0;
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
        part->intake->counts.newer += newer;
        intake_skip(part->intake, part->line,
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

    if (!filter_may_want(&part->intake->filter, text, size)) {
        return 0;
    }
    if (apapi_record_decode(text, size, &record, &err)) {
        return errno == ENOMEM ? -1 : take_other(part, text, size, &err);
    }
    result = scan_take_record(part, text, size, &record);
    apapi_record_clear(&record);
    return result;
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
    if (!filter_may_want(&part->intake->filter, text, size)) {
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
    *result = scan_take_record(part, text, size, &record);
    apapi_record_clear(&record);
    return true;
}

static int scan_take_line(struct intake *intake, const struct line *line)
{
    struct part part = {.intake = intake, .line = line};
    int result;

    if (!scan_take_whole(&part, &result)) {
        result = parts_each(line->text, line->size, scan_take_part, &part);
    }
    return result ? -1 : part.records > 0;
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
