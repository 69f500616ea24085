/* SPDX-License-Identifier: BSD-3-Clause */
/* The nodes' records of one step as one report, as srun prints it. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "cli/command.h"
#include "cli/jobs.h"
#include "cli/show/forms.h"
#include "record/record.h"
#include "render/step_report.h"
#include "sum/sum.h"

struct merging {
    const struct report_input *input;
    struct job_list wanted;
    uint32_t job; /* of the step found; APAPI_UNKNOWN: none yet */
    char step[32], name[APAPI_TEXT_SIZE];
    struct step_report report; /* its records */
    struct sum_store store;    /* when they ran */
    struct sum sum;
    struct apapi_merge *merge;
    bool duplicates;                /* a node has more than one record */
    char nodelist[APAPI_TEXT_SIZE]; /* of the record that began last; "": none has a list */
    uint32_t node_count;            /* of the step, in that record */
    int64_t listed_ns;
};

/* --- reading -------------------------------------------------------------------------------- */

/* 0; -1: no memory. */
static int keep(struct merging *merging, const struct apapi_record *record, const char *line,
                size_t size)
{
    uint32_t number = (uint32_t)merging->report.lines.count;
    int64_t start_ns = record->measurement.start_unix_ns;

    if (!*merging->name) {
        snprintf(merging->name, sizeof merging->name, "%s", record->id.name);
    }
    if (*record->id.nodelist && (!*merging->nodelist || start_ns > merging->listed_ns)) {
        memcpy(merging->nodelist, record->id.nodelist, sizeof merging->nodelist);
        merging->node_count = record->id.nodes;
        merging->listed_ns = start_ns;
    }
    step_report_keep(&merging->report, line, size);
    if (merging->report.error || sum_add(&merging->store, &merging->sum, record, NULL)) {
        return -1;
    }
    merging->store.pieces[number].mark = number;
    merging->store.pieces[number].digest = record_digest(line, size);
    return 0;
}

/* The record is wanted if it is of the named step or, if none is named, of the first one's. */
static int step_take(const struct apapi_record *record, const char *line, size_t size,
                     void *context)
{
    struct merging *merging = context;
    const struct apapi_identity *id = &record->id;
    struct apapi_error err;

    if (!job_list_has(&merging->wanted, id)) {
        return 0;
    }
    if (merging->report.lines.count == 0) {
        merging->job = id->job;
        snprintf(merging->step, sizeof merging->step, "%s", id->step);
    } else if (id->job != merging->job || strcmp(id->step, merging->step) != 0) {
        apapi_fail(&err, EINVAL, "records of several steps: %u.%s, %u.%s; select one with -j",
                   merging->job, merging->step, id->job, id->step);
        command_fail(merging->input->command, err.text);
        errno = EINVAL;
        return -1;
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
    const struct report_input *input = ((const struct merging *)context)->input;

    if (input->verbose) {
        command_note_skipped(input->command, problem);
    }
}

static int step_read_file(struct apapi_scan *scan, const char *command, const char *path)
{
    struct stat status;
    struct apapi_error err = {""};
    int result;

    if (strcmp(path, "-") == 0) {
        result = apapi_scan_stream(scan, STDIN_FILENO, "standard input", &err);
    } else if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        result = apapi_scan_folder(scan, path, &err);
        if (result && errno == EACCES) {
            command_fail_folder(command, path);
            return result;
        }
    } else {
        result = apapi_scan_file(scan, path, &err);
    }
    if (result && (*err.text || errno == ENOMEM)) {
        command_fail(command, *err.text ? err.text : "no memory");
    }
    return result;
}

/* 0; -1 after a message. */
static int step_read_files(struct merging *merging)
{
    const struct report_input *input = merging->input;
    const struct apapi_scan_filter filter = {.jobs = merging->wanted.jobs,
                                             .job_count = merging->wanted.count,
                                             .job_parts = true,
                                             .nodes = input->nodes};
    const struct apapi_scan_sink sink = {
        .record = step_take, .problem = step_report_problem, .context = merging};
    struct apapi_error err;
    struct apapi_scan *scan = apapi_scan_create(&filter, &sink, &err);
    int result = 0;

    if (!scan) {
        command_fail(input->command, err.text);
        return -1;
    }
    for (size_t i = 0; i < input->file_count && result == 0; i++) {
        result = step_read_file(scan, input->command, input->files[i]);
    }
    if (result == 0) {
        const struct apapi_scan_counts *counts = apapi_scan_counts(scan);
        size_t skipped = counts->skipped + counts->unreadable;

        command_count_skipped(input->command, skipped, input->verbose);
        result = skipped > 0 && input->strict ? -1 : 0;
    }
    apapi_scan_destroy(scan);
    return result;
}

/* --- the step ------------------------------------------------------------------------------- */

/* Keep the latest record of each node, whatever the nodes' clocks say; of one start the longest. */
static int drop_duplicates(struct merging *merging)
{
    struct step_report kept = {0};
    struct sum_entries entries = {NULL, 0};
    struct sum_total total;
    int result = sum_gather(&merging->store, &merging->sum, &entries) ||
                         sum_total(&merging->store, &entries, &total)
                     ? -1
                     : 0;

    for (size_t i = 0, best = 0; i < entries.count && result == 0; i++) {
        const struct sum_entry *entry = &entries.list[i];
        const char *line;

        best = entry->start_ns > entries.list[best].start_ns ? i : best;
        if (i + 1 == entries.count || entry[1].piece->node != entry->piece->node) {
            line = merging->report.lines.names[entries.list[best].piece->mark];
            step_report_keep(&kept, line, strlen(line));
            best = i + 1;
        }
    }
    free(entries.list);
    step_report_clear(&merging->report);
    merging->report = kept;
    return result || kept.error ? -1 : 0;
}

static int merge_again(struct merging *merging)
{
    if (drop_duplicates(merging)) {
        return -1;
    }
    apapi_merge_destroy(merging->merge);
    merging->merge = apapi_merge_create();
    for (size_t i = 0; merging->merge && i < merging->report.lines.count; i++) {
        const char *line = merging->report.lines.names[i];
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
    struct sum_entries entries = {NULL, 0};
    int result = 0;

    if (*merging->nodelist && merging->report.lines.count < merging->node_count) {
        result = sum_gather(&merging->store, &merging->sum, &entries) || sum_nodes(&entries, &own)
                     ? -1
                     : lacking_nodes(merging->nodelist, merging->node_count, &own, &lacking);
    }
    if (result > 0) {
        result = apapi_merge_expect(merging->merge, merging->nodelist);
    }
    free(entries.list);
    namelist_free(&own);
    namelist_free(&lacking);
    return result;
}

/* --- output --------------------------------------------------------------------------------- */

static int step_write(const struct merging *merging, enum config_format format)
{
    struct apapi_table_head head = {.name = merging->name,
                                    .user_s = NAN,
                                    .system_s = NAN,
                                    .elapsed_s = NAN,
                                    .verbose = merging->input->verbose};
    char step[64], *text;

    snprintf(step, sizeof step, "%u.%s", merging->job, merging->step);
    if (format == CONFIG_TABLE) {
        head.step = merging->job == APAPI_UNKNOWN ? NULL : step;
        if (apapi_table_format(merging->merge, &head, &text, NULL)) {
            return -1;
        }
        fputs(text, stdout);
        free(text);
        return 0;
    }
    return step_report_write(&merging->report, format, step, merging->merge, stdout);
}

static int step_run(struct merging *merging, enum config_format format)
{
    const struct report_input *input = merging->input;

    if (step_read_files(merging)) {
        return EXIT_FAILURE;
    }
    if (merging->report.lines.count == 0) {
        return command_fail(input->command, merging->wanted.count > 0
                                                ? "no record of this job in the files"
                                                : "no record in the files");
    }
    return (merging->duplicates && merge_again(merging)) ||
                   (input->nodes ? apapi_merge_expect(merging->merge, input->nodes)
                                 : await_listed(merging)) ||
                   apapi_merge_give_up(merging->merge, "no record in the files") ||
                   step_write(merging, format)
               ? command_fail(input->command, "no memory")
               : command_finish(input->command, EXIT_SUCCESS);
}

int show_step(const struct report_input *input, enum config_format format)
{
    struct merging merging = {.job = APAPI_UNKNOWN,
                              .input = input,
                              .store.curveless = true,
                              .sum = SUM_EMPTY,
                              .merge = apapi_merge_create()};
    struct apapi_error err;
    int status;

    if (job_list_parse(input->jobs, &merging.wanted, &err)) {
        status = command_refuse(input->command, err.text);
    } else if (!merging.merge) {
        status = command_fail(input->command, "no memory");
    } else {
        status = step_run(&merging, format);
    }
    step_report_clear(&merging.report);
    sum_free(&merging.store);
    job_list_free(&merging.wanted);
    apapi_merge_destroy(merging.merge);
    return status;
}
