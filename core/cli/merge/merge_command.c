/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi merge: one report of the nodes' records of one step, as printed by srun. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apapi/record.h"
#include "apapi/scan.h"
#include "base/array.h"
#include "cli/command.h"
#include "cli/jobs.h"
#include "config/values.h"
#include "render/step_report.h"
#include "sum/sum.h"

#define COMMAND "merge"

/* A record of the step. */
struct part {
    char *node, *line;
    size_t index; /* in order of arrival */
    int64_t start_ns;
    uint64_t elapsed_ns;
};

struct merging {
    struct job_list wanted;
    uint32_t job; /* of the step found; APAPI_UNKNOWN: none yet */
    char step[32];
    const char *nodes; /* nodes of the step; NULL: not given */
    enum config_format format;
    bool verbose, strict;
    struct part *parts;
    size_t count, room;
    struct apapi_merge *merge;
    bool duplicates;                /* a node has more than one record */
    char nodelist[APAPI_TEXT_SIZE]; /* of the record that began last; "": none has a list */
    uint32_t node_count;            /* of the step, in that record */
    int64_t listed_ns;
    char name[APAPI_TEXT_SIZE];
};

static int set_jobs(void *target, const char *text, struct apapi_error *err)
{
    struct merging *merging = target;

    job_list_free(&merging->wanted);
    return job_list_parse(text, &merging->wanted, err);
}

static int merge_command_set_format(void *target, const char *text, struct apapi_error *err)
{
    struct merging *merging = target;

    return value_format(text, &merging->format, NULL) || merging->format == CONFIG_NONE
               ? apapi_fail(err, EINVAL, "-f takes table, json, csv or merged")
               : 0;
}

static const struct option_row options[] = {
    {'j', "jobs", "=JOB[.STEP]",
     "the step, as 17.0, 17_3.0, 17+1.batch; needed if the files have\n"
     "records of several steps",
     TO_CALL(set_jobs)},
    {'N', "nodelist", "=NODES",
     "the nodes of the step, n[1-4,7]; the report names those without a record",
     TO_TEXT(struct merging, nodes)},
    {'n', "nodes", "=NODES", NULL, TO_TEXT(struct merging, nodes)}, /* old name */
    {'f', "format", "=FORM", "table (default), json, csv or merged",
     TO_CALL(merge_command_set_format)},
    {'v', "verbose", NULL, "show all events, and which lines were skipped and why",
     TO_FLAG(struct merging, verbose)},
    {0, "strict", NULL, "lines that are not records are an error", TO_FLAG(struct merging, strict)},
    {0}};

static const struct option_table table = {
    .program = "apapi " COMMAND,
    .head = "usage: apapi merge [OPTION]... FILE...\n"
            "Merge the nodes' records of one job step, from files in the form of accounting\n"
            "files, into one report, as srun prints it. FILE may be an accounting folder, or -\n"
            "for standard input.\n",
    .foot = "Of several records of a node the latest is used, and of those the longest.\n"
            "Exit status: 0 done, 1 no record or another failure, 2 wrong usage.\n",
    .column = 25,
    .rows = options};

static int keep(struct merging *merging, const struct apapi_record *record, const char *line,
                size_t size)
{
    struct part part = {.index = merging->count,
                        .start_ns = record->measurement.start_unix_ns,
                        .elapsed_ns = record->measurement.elapsed_ns};

    if (array_add(&merging->parts, merging->count, &merging->room, sizeof *merging->parts)) {
        return -1;
    }
    part.node = strdup(record->id.node);
    part.line = strndup(line, size);
    merging->parts[merging->count++] = part;
    return part.node && part.line ? 0 : -1;
}

/* Whether the record belongs to the wanted step or, if none is named, to the first one's. */
static int merge_command_choose(struct merging *merging, const struct apapi_record *record)
{
    const struct apapi_identity *id = &record->id;
    struct apapi_error err;

    if (!job_list_has(&merging->wanted, id)) {
        return 0;
    }
    if (merging->count == 0) {
        merging->job = id->job;
        snprintf(merging->step, sizeof merging->step, "%s", id->step);
        return 1;
    }
    if (id->job == merging->job && strcmp(id->step, merging->step) == 0) {
        return 1;
    }
    apapi_fail(&err, EINVAL, "records of several steps: %u.%s, %u.%s; select one with -j",
               merging->job, merging->step, id->job, id->step);
    command_fail(COMMAND, err.text);
    errno = EINVAL;
    return -1;
}

static void note_nodelist(struct merging *merging, const struct apapi_record *record)
{
    int64_t start_ns = record->measurement.start_unix_ns;

    if (*record->id.nodelist && (!*merging->nodelist || start_ns > merging->listed_ns)) {
        memcpy(merging->nodelist, record->id.nodelist, sizeof merging->nodelist);
        merging->node_count = record->id.nodes;
        merging->listed_ns = start_ns;
    }
}

static int merge_command_take(const struct apapi_record *record, const char *line, size_t size,
                              void *context)
{
    struct merging *merging = context;
    int chosen = merge_command_choose(merging, record);

    if (chosen <= 0) {
        return chosen;
    }
    if (!*merging->name) {
        snprintf(merging->name, sizeof merging->name, "%s", record->id.name);
    }
    note_nodelist(merging, record);
    if (keep(merging, record, line, size)) {
        errno = ENOMEM;
        return -1;
    }
    if (apapi_merge_add(merging->merge, record)) {
        merging->duplicates = errno == EEXIST;
        return errno == EEXIST ? 0 : -1;
    }
    return 0;
}

static void merge_command_report_problem(const struct apapi_scan_problem *problem, void *context)
{
    const struct merging *merging = context;

    if (merging->verbose) {
        command_note_skipped(COMMAND, problem);
    }
}

static int merge_command_read_file(struct apapi_scan *scan, const char *path)
{
    struct stat status;
    struct apapi_error err = {""};
    int result;

    if (strcmp(path, "-") == 0) {
        result = apapi_scan_stream(scan, STDIN_FILENO, "standard input", &err);
    } else if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        result = apapi_scan_folder(scan, path, &err);
        if (result && errno == EACCES) {
            command_fail_folder(COMMAND, path);
            return result;
        }
    } else {
        result = apapi_scan_file(scan, path, &err);
    }
    if (result && *err.text) {
        command_fail(COMMAND, err.text);
    } else if (result && errno == ENOMEM) {
        command_fail(COMMAND, "no memory");
    }
    return result;
}

static int check_skipped(const struct merging *merging, const struct apapi_scan_counts *counts)
{
    size_t skipped = counts->skipped + counts->unreadable;

    command_count_skipped(COMMAND, skipped, merging->verbose);
    return skipped > 0 && merging->strict ? -1 : 0;
}

static int merge_command_read_files(struct merging *merging, char **files)
{
    const struct apapi_scan_filter filter = {.jobs = merging->wanted.jobs,
                                             .job_count = merging->wanted.count,
                                             .job_parts = true,
                                             .nodes = merging->nodes};
    const struct apapi_scan_sink sink = {
        .record = merge_command_take, .problem = merge_command_report_problem, .context = merging};
    struct apapi_error err;
    struct apapi_scan *scan = apapi_scan_create(&filter, &sink, &err);
    int result = 0;

    if (!scan) {
        command_fail(COMMAND, err.text);
        return -1;
    }
    for (; *files && result == 0; files++) {
        result = merge_command_read_file(scan, *files);
    }
    if (result == 0) {
        result = check_skipped(merging, apapi_scan_counts(scan));
    }
    apapi_scan_destroy(scan);
    return result;
}

/* By node, the best record first. */
static int compare_parts(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    int order = strcmp(a->node, b->node);

    if (order == 0 && a->start_ns != b->start_ns) {
        order = a->start_ns > b->start_ns ? -1 : 1;
    } else if (order == 0 && a->elapsed_ns != b->elapsed_ns) {
        order = a->elapsed_ns > b->elapsed_ns ? -1 : 1;
    }
    return order ? order : (a->index > b->index) - (a->index < b->index);
}

static void part_free(struct part *part)
{
    free(part->node);
    free(part->line);
}

static void merge_command_drop_duplicates(struct merging *merging)
{
    size_t kept = 0;

    qsort(merging->parts, merging->count, sizeof *merging->parts, compare_parts);
    for (size_t i = 0; i < merging->count; i++) {
        if (kept > 0 && strcmp(merging->parts[kept - 1].node, merging->parts[i].node) == 0) {
            part_free(&merging->parts[i]);
        } else {
            merging->parts[kept++] = merging->parts[i];
        }
    }
    merging->count = kept;
}

static int merge_again(struct merging *merging)
{
    merge_command_drop_duplicates(merging);
    apapi_merge_destroy(merging->merge);
    merging->merge = apapi_merge_create();
    for (size_t i = 0; merging->merge && i < merging->count; i++) {
        const char *line = merging->parts[i].line;
        struct apapi_record record;
        int failed;

        if (apapi_record_decode(line, strlen(line), &record, NULL)) {
            return -1;
        }
        failed = apapi_merge_add(merging->merge, &record);
        apapi_record_clear(&record);
        if (failed) {
            return -1;
        }
    }
    return merging->merge ? 0 : -1;
}

/* If no list of nodes is given, that of the records is used. */
static int await_listed(struct merging *merging)
{
    struct namelist own = {0}, lacking = {0};
    int result = 0;

    if (!*merging->nodelist || merging->count >= merging->node_count) {
        return 0;
    }
    for (size_t i = 0; i < merging->count && result == 0; i++) {
        result = namelist_add(&own, merging->parts[i].node);
    }
    namelist_sort(&own);
    if (result == 0) {
        result = lacking_nodes(merging->nodelist, merging->node_count, &own, &lacking);
    }
    if (result > 0) {
        result = apapi_merge_expect(merging->merge, merging->nodelist);
    }
    namelist_free(&own);
    namelist_free(&lacking);
    return result;
}

static int merge_command_complete(struct merging *merging)
{
    if (merging->duplicates && merge_again(merging)) {
        return -1;
    }
    if (merging->nodes ? apapi_merge_expect(merging->merge, merging->nodes)
                       : await_listed(merging)) {
        return -1;
    }
    return apapi_merge_give_up(merging->merge, "no record in the files");
}

static int write_table(const struct merging *merging, const char *step)
{
    const struct apapi_table_head head = {.step = merging->job == APAPI_UNKNOWN ? NULL : step,
                                          .name = merging->name,
                                          .user_s = NAN,
                                          .system_s = NAN,
                                          .elapsed_s = NAN,
                                          .verbose = merging->verbose};
    char *text;

    if (apapi_table_format(merging->merge, &head, &text, NULL)) {
        return -1;
    }
    fputs(text, stdout);
    free(text);
    return 0;
}

static int write_form(const struct merging *merging, const char *step)
{
    struct step_report step_report = {0};
    int result;

    for (size_t i = 0; step_report_needs_lines(merging->format) && i < merging->count; i++) {
        step_report_keep(&step_report, merging->parts[i].line, strlen(merging->parts[i].line));
    }
    result = step_report_write(&step_report, merging->format, step, merging->merge, stdout);
    step_report_clear(&step_report);
    return result;
}

static int merge_command_run(struct merging *merging, char **files)
{
    char step[64];

    if (merge_command_read_files(merging, files)) {
        return EXIT_FAILURE;
    }
    if (merging->count == 0) {
        return command_fail(COMMAND, merging->wanted.count > 0
                                         ? "no record of this job in the files"
                                         : "no record in the files");
    }
    snprintf(step, sizeof step, "%u.%s", merging->job, merging->step);
    if (merge_command_complete(merging) ||
        (merging->format == CONFIG_TABLE ? write_table : write_form)(merging, step)) {
        return command_fail(COMMAND, "no memory");
    }
    return command_finish(COMMAND, EXIT_SUCCESS);
}

static void merging_clear(struct merging *merging)
{
    for (size_t i = 0; i < merging->count; i++) {
        part_free(&merging->parts[i]);
    }
    free(merging->parts);
    job_list_free(&merging->wanted);
    apapi_merge_destroy(merging->merge);
}

int merge_command(int argc, char **argv)
{
    struct merging merging = {.job = APAPI_UNKNOWN, .format = CONFIG_TABLE};
    int status = command_options(&table, argc, argv, &merging);

    if (status < 0 && optind == argc) {
        status = command_refuse(COMMAND, "which files? 'apapi help merge' shows how");
    }
    if (status < 0) {
        merging.merge = apapi_merge_create();
        status = merging.merge ? merge_command_run(&merging, argv + optind)
                               : command_fail(COMMAND, "no memory");
    }
    merging_clear(&merging);
    return status;
}
