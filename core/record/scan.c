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
#include "record/members.h"
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
    struct apapi_record step; /* without what is of a node */
    double total_j;           /* of all nodes; NaN: unknown for one of them */
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

/* Members of a record that a merged one has, with the step's time from first to last reading. */
static int read_step(struct merged *merged)
{
    const struct field_path path = {NULL, "", NULL, NULL};
    struct apapi_measurement *m = &merged->step.measurement;
    struct apapi_identity *id = &merged->step.id;
    const char *end = text_of(merged->root, "end");
    struct field fields[FIELDS_MAX];
    size_t count = 0;
    int64_t end_ns;

    do {
        fields[count] = fields_of_record[count];
        fields[count].mandatory = false;
    } while (fields[count++].key);
    if (fields_decode(merged->root, fields, &merged->step, &path)) {
        return -1;
    }
    if (end && timestamp_parse(end, &end_ns) == 0 && end_ns >= m->start_unix_ns) {
        m->elapsed_ns = (uint64_t)(end_ns - m->start_unix_ns);
    }
    id->node_cores = APAPI_UNKNOWN;
    if (merged->nodes->size > 1) { /* sums and maxima */
        id->tasks = id->cores = id->gpus = merged->step.ending.failed = APAPI_UNKNOWN;
    }
    merged->step.share = apapi_share_unknown();
    for (const struct tree_node *node = NULL; (node = tree_each(merged->nodes, node));) {
        merged->total_j += number_of(node, "energy_j");
    }
    return 0;
}

/* Only one that starts with the step, with the bins of those before. */
static void read_timeline(const struct merged *merged, int d, double share,
                          struct apapi_record *record, uint64_t *bin_ns)
{
    const struct tree_node *all = tree_get(merged->root, "timeline");
    const struct tree_node *object = tree_get(all, apapi_domain_name(d));
    struct apapi_timeline *timeline = &record->measurement.domains[d].timeline;
    const char *start = text_of(object, "start"), *step = text_of(merged->root, "start");
    double own_ns = number_of(object, "bin_s") * NS_PER_S;

    if (!start || !step || strcmp(start, step) != 0 || !(own_ns >= 1 && own_ns < 1e17) ||
        (*bin_ns && *bin_ns != (uint64_t)(own_ns + 0.5)) ||
        timeline_decode(object, (uint64_t)(own_ns + 0.5), record->measurement.elapsed_ns,
                        timeline)) {
        return;
    }
    *bin_ns = timeline->bin_ns;
    for (size_t i = 0; i < timeline->count; i++) {
        timeline->energy_j[i] *= (float)share;
    }
}

/* A node gets its share of the sums: by its own energies, or equal shares. */
static int read_domains(const struct merged *merged, const struct tree_node *node,
                        struct apapi_record *record)
{
    const struct tree_node *sums = tree_get(merged->root, "domains"),
                           *owns = tree_get(node, "domains");
    const struct field_path path = {NULL, "", NULL, NULL};
    uint64_t bin_ns = 0;

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        const struct tree_node *sum = tree_get(sums, apapi_domain_name(d));
        const struct tree_node *own = tree_get(owns, apapi_domain_name(d));
        struct apapi_domain_result *domain = &record->measurement.domains[d];
        double own_j = number_of(own, "energy_j"), sum_j = number_of(sum, "energy_j");
        double share = sum_j > 0             ? own_j / sum_j
                       : merged->total_j > 0 ? number_of(node, "energy_j") / merged->total_j
                                             : 1.0 / (double)merged->nodes->size;

        *domain = APAPI_DOMAIN_UNMEASURED;
        if (!sum || !own || isnan(share)) {
            continue;
        }
        if (fields_decode(sum, fields_of_domain, domain, &path)) {
            return -1;
        }
        domain->measured = true;
        domain->energy_j *= share;
        domain->rest_j *= share;
        domain->power_w =
            (struct apapi_summary){domain->power_w.min * share, domain->power_w.mean * share,
                                   domain->power_w.max * share, NAN};
        domain->uncertainty_j = number_of(own, "uncertainty_j");
        domain->covered = number_of(own, "covered");
        read_timeline(merged, d, share, record, &bin_ns);
    }
    return 0;
}

/* @return its line, to be freed; NULL: it is none, or out of memory */
static char *record_of(const struct merged *merged, const struct tree_node *node, const char *name)
{
    const struct tree_node *list = tree_get(merged->root, "incomplete"), *one = NULL;
    const struct tree_node *unknown = tree_get(node, "unknown_domains");
    struct apapi_record record = merged->step;
    const char *said = NULL, *reason;
    char *line = NULL;

    list = tree_is(list, TREE_ARRAY) ? list : NULL;
    do {
        one = tree_each(list, one);
        said = text_of(one, "node");
    } while (one && !(said && strcmp(said, name) == 0));
    reason = text_of(one, "reason");
    record.complete = !one;
    snprintf(record.reason, sizeof record.reason, "%s", reason ? reason : "");
    snprintf(record.id.node, sizeof record.id.node, "%s", name);
    record.measurement.covered = number_of(node, "covered");
    if (read_domains(merged, node, &record) == 0 &&
        (!unknown || domain_list_read(unknown, &record.measurement.unknown_domains) == 0)) {
        apapi_record_encode(&record, &line, NULL);
    }
    return line;
}

/*
 * Visit the nodes of a merged record as records.
 * @return 0; 1: not a merged record; what `take` has returned; -1 with errno ENOMEM.
 */
static int parts_of_merged(const char *text, size_t size, parts_f take, void *context)
{
    static const char key[] = "\"merged\"";
    struct tree_problem problem;
    struct tree tree = {0};
    struct merged merged = {.total_j = 0};
    int result = 1;

    if (memmem(text, size, key, sizeof key - 1) && tree_parse(&tree, text, size, &problem) == 0) {
        merged.root = tree.nodes;
        merged.nodes = tree_get(merged.root, "per_node");
    }
    if (tree_is(tree_get(merged.root, "merged"), TREE_INTEGER) &&
        tree_is(merged.nodes, TREE_ARRAY) && read_step(&merged) == 0) {
        result = 0;
        for (const struct tree_node *node = NULL;
             result == 0 && (node = tree_each(merged.nodes, node));) {
            const char *name = text_of(node, "node");
            char *line = name ? record_of(&merged, node, name) : NULL;

            result = line ? take(line, strlen(line), context) : 0;
            free(line);
        }
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
