/* SPDX-License-Identifier: BSD-3-Clause */
/* The nodes' records of one step as one report, as srun prints it. */
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
#include "cli/show/forms.h"
#include "render/step_report.h"
#include "sum/sum.h"

/* A record of the step. */
struct part {
    char *node, *line;
    char boot[APAPI_BOOT_SIZE];
    struct timing timing; /* its texts are those of the part */
    bool complete;
};

struct merging {
    struct job_list wanted;
    uint32_t job; /* of the step found; APAPI_UNKNOWN: none yet */
    char step[32];
    const struct report_input *input;
    enum config_format format;
    struct part *parts;
    size_t count, room;
    struct apapi_merge *merge;
    bool duplicates;                /* a node has more than one record */
    char nodelist[APAPI_TEXT_SIZE]; /* of the record that began last; "": none has a list */
    uint32_t node_count;            /* of the step, in that record */
    int64_t listed_ns;
    char name[APAPI_TEXT_SIZE];
};

static int keep(struct merging *merging, const struct apapi_record *record, const char *line,
                size_t size)
{
    struct part part = {.timing = timing_of(record), .complete = record->complete};

    if (array_add(&merging->parts, merging->count, &merging->room, sizeof *merging->parts)) {
        return -1;
    }
    part.node = strdup(record->id.node);
    part.line = strndup(line, size);
    memcpy(part.boot, record->measurement.boot, sizeof part.boot);
    merging->parts[merging->count++] = part;
    return part.node && part.line ? 0 : -1;
}

/* Whether the record belongs to the wanted step or, if none is named, to the first one's. */
static int step_choose(struct merging *merging, const struct apapi_record *record)
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
    command_fail(merging->input->command, err.text);
    errno = EINVAL;
    return -1;
}

static int step_take(const struct apapi_record *record, const char *line, size_t size,
                     void *context)
{
    struct merging *merging = context;
    int chosen = step_choose(merging, record);
    int64_t start_ns = record->measurement.start_unix_ns;

    if (chosen <= 0) {
        return chosen;
    }
    if (!*merging->name) {
        snprintf(merging->name, sizeof merging->name, "%s", record->id.name);
    }
    if (*record->id.nodelist && (!*merging->nodelist || start_ns > merging->listed_ns)) {
        memcpy(merging->nodelist, record->id.nodelist, sizeof merging->nodelist);
        merging->node_count = record->id.nodes;
        merging->listed_ns = start_ns;
    }
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

static void step_report_problem(const struct apapi_scan_problem *problem, void *context)
{
    const struct merging *merging = context;

    if (merging->input->verbose) {
        command_note_skipped(merging->input->command, problem);
    }
}

static int step_read_file(struct apapi_scan *scan, const struct merging *merging, const char *path)
{
    struct stat status;
    struct apapi_error err = {""};
    int result;

    if (strcmp(path, "-") == 0) {
        result = apapi_scan_stream(scan, STDIN_FILENO, "standard input", &err);
    } else if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        result = apapi_scan_folder(scan, path, &err);
        if (result && errno == EACCES) {
            command_fail_folder(merging->input->command, path);
            return result;
        }
    } else {
        result = apapi_scan_file(scan, path, &err);
    }
    if (result && *err.text) {
        command_fail(merging->input->command, err.text);
    } else if (result && errno == ENOMEM) {
        command_fail(merging->input->command, "no memory");
    }
    return result;
}

static int check_skipped(const struct merging *merging, const struct apapi_scan_counts *counts)
{
    size_t skipped = counts->skipped + counts->unreadable;

    command_count_skipped(merging->input->command, skipped, merging->input->verbose);
    return skipped > 0 && merging->input->strict ? -1 : 0;
}

static int step_read_files(struct merging *merging)
{
    const struct apapi_scan_filter filter = {.jobs = merging->wanted.jobs,
                                             .job_count = merging->wanted.count,
                                             .job_parts = true,
                                             .nodes = merging->input->nodes};
    const struct apapi_scan_sink sink = {
        .record = step_take, .problem = step_report_problem, .context = merging};
    struct apapi_error err;
    struct apapi_scan *scan = apapi_scan_create(&filter, &sink, &err);
    int result = 0;

    if (!scan) {
        command_fail(merging->input->command, err.text);
        return -1;
    }
    for (size_t i = 0; i < merging->input->file_count && result == 0; i++) {
        result = step_read_file(scan, merging, merging->input->files[i]);
    }
    if (result == 0) {
        result = check_skipped(merging, apapi_scan_counts(scan));
    }
    apapi_scan_destroy(scan);
    return result;
}

/* When they began, whatever the nodes' clocks say. */
static int align_parts(struct merging *merging)
{
    struct timing *timings = calloc(merging->count + 1, sizeof *timings);
    int result = timings ? 0 : -1;

    for (size_t i = 0; i < merging->count && result == 0; i++) {
        timings[i] = merging->parts[i].timing;
        timings[i].node = merging->parts[i].node;
        timings[i].step = merging->step;
        timings[i].boot = merging->parts[i].boot;
    }
    result = result ? -1 : timings_align(timings, merging->count);
    for (size_t i = 0; i < merging->count && result == 0; i++) {
        merging->parts[i].timing.start_ns = timings[i].start_ns;
    }
    free(timings);
    return result;
}

/* By node, the best record first: of the latest the longest, then the complete one. */
static int compare_parts(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    int order = strcmp(a->node, b->node);

    order = order ? order : COMPARE(b->timing.start_ns, a->timing.start_ns);
    order = order ? order : COMPARE(b->timing.elapsed_ns, a->timing.elapsed_ns);
    order = order ? order : COMPARE(b->complete, a->complete);
    return order ? order : strcmp(b->line, a->line);
}

static void part_free(struct part *part)
{
    free(part->node);
    free(part->line);
}

static void step_drop_duplicates(struct merging *merging)
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
    if (align_parts(merging)) {
        return -1;
    }
    step_drop_duplicates(merging);
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

static int step_complete(struct merging *merging)
{
    if (merging->duplicates && merge_again(merging)) {
        return -1;
    }
    if (merging->input->nodes ? apapi_merge_expect(merging->merge, merging->input->nodes)
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
                                          .verbose = merging->input->verbose};
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

static int step_run(struct merging *merging)
{
    const char *command = merging->input->command;
    char step[64];

    if (step_read_files(merging)) {
        return EXIT_FAILURE;
    }
    if (merging->count == 0) {
        return command_fail(command, merging->wanted.count > 0
                                         ? "no record of this job in the files"
                                         : "no record in the files");
    }
    snprintf(step, sizeof step, "%u.%s", merging->job, merging->step);
    if (step_complete(merging) ||
        (merging->format == CONFIG_TABLE ? write_table : write_form)(merging, step)) {
        return command_fail(command, "no memory");
    }
    return command_finish(command, EXIT_SUCCESS);
}

int show_step(const struct report_input *input, enum config_format format)
{
    struct merging merging = {.job = APAPI_UNKNOWN, .format = format, .input = input};
    struct apapi_error err;
    int status;

    if (job_list_parse(input->jobs, &merging.wanted, &err)) {
        status = command_refuse(input->command, err.text);
    } else {
        merging.merge = apapi_merge_create();
        status = merging.merge ? step_run(&merging) : command_fail(input->command, "no memory");
    }
    for (size_t i = 0; i < merging.count; i++) {
        part_free(&merging.parts[i]);
    }
    free(merging.parts);
    job_list_free(&merging.wanted);
    apapi_merge_destroy(merging.merge);
    return status;
}
