/* SPDX-License-Identifier: BSD-3-Clause */
/* The nodes' records of one step as one report, as srun prints it. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cli/command.h"
#include "cli/records/input.h"
#include "cli/show/forms.h"
#include "record/record.h"
#include "render/step_report.h"
#include "sum/sum.h"

struct merging {
    const struct query *query;
    enum config_format format;
    uint32_t job; /* of the step found; APAPI_UNKNOWN: none yet */
    char step[32], name[APAPI_TEXT_SIZE];
    char other[64];            /* another step that has a record; "": none */
    struct step_report report; /* its records */
    struct sum_store store;    /* when they ran */
    struct sum sum;
    struct apapi_merge *merge;
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

/* The step is that of the first record. */
static int step_take(const struct apapi_record *record, const char *line, size_t size,
                     void *context)
{
    struct merging *merging = context;
    const struct apapi_identity *id = &record->id;

    if (merging->report.lines.count == 0) {
        merging->job = id->job;
        snprintf(merging->step, sizeof merging->step, "%s", id->step);
    } else if (id->job != merging->job || strcmp(id->step, merging->step) != 0) {
        if (!*merging->other) {
            snprintf(merging->other, sizeof merging->other, "%u.%s", id->job, id->step);
        }
        return 0;
    }
    return keep(merging, record, line, size);
}

/* --- the step ------------------------------------------------------------------------------- */

/* Of each node the latest record counts, whatever the nodes' clocks say; of one start the longest.
 */
static int choose_latest(struct merging *merging, struct sum_entries *entries)
{
    struct sum_total total;
    size_t kept = 0;

    if (sum_gather(&merging->store, &merging->sum, entries) ||
        sum_total(&merging->store, entries, &total)) {
        return -1;
    }
    for (size_t i = 0; i < entries->count; i++) {
        struct sum_entry *list = entries->list;

        if (kept > 0 && list[kept - 1].piece->node == list[i].piece->node) {
            list[kept - 1] = list[i].start_ns > list[kept - 1].start_ns ? list[i] : list[kept - 1];
        } else {
            list[kept++] = list[i];
        }
    }
    entries->count = kept;
    return 0;
}

static int by_arrival(const void *left, const void *right)
{
    return COMPARE(((const struct sum_entry *)left)->piece->mark,
                   ((const struct sum_entry *)right)->piece->mark);
}

/* Add up the records that count, and forget the others. */
static int merge_latest(struct merging *merging)
{
    struct sum_entries entries = {NULL, 0};
    struct step_report kept = {0};
    int result = choose_latest(merging, &entries);

    if (result == 0) {
        qsort(entries.list, entries.count, sizeof *entries.list, by_arrival);
    }
    for (size_t i = 0; i < entries.count && result == 0; i++) {
        const char *line = merging->report.lines.names[entries.list[i].piece->mark];

        step_report_keep(&kept, line, strlen(line));
        result = step_report_add(merging->merge, line);
    }
    free(entries.list);
    step_report_clear(&merging->report);
    merging->report = kept;
    return result || kept.error ? -1 : 0;
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
                                    .verbose = merging->query->verbose};
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

static int step_print(struct merging *merging)
{
    const struct query *query = merging->query;

    if (*merging->other) {
        return command_fail(query->command,
                            "records of several steps: %u.%s, %s; select one with -j", merging->job,
                            merging->step, merging->other);
    }
    if (merging->report.lines.count == 0) {
        return command_fail(query->command, query->jobs ? "no record of this job in the files"
                                                        : "no record in the files");
    }
    return command_end(query->command,
                       merge_latest(merging) ||
                           (query->nodes ? apapi_merge_expect(merging->merge, query->nodes)
                                         : await_listed(merging)) ||
                           apapi_merge_give_up(merging->merge, "no record in the files") ||
                           step_write(merging, merging->format));
}

int show_step(struct query *query, enum config_format format)
{
    struct merging merging = {.job = APAPI_UNKNOWN,
                              .query = query,
                              .format = format,
                              .store.curveless = true,
                              .sum = SUM_EMPTY,
                              .merge = apapi_merge_create()};
    int status = merging.merge ? records_read(query, step_take, &merging)
                               : command_fail(query->command, "no memory");

    status = status ? status : step_print(&merging);
    step_report_clear(&merging.report);
    sum_free(&merging.store);
    apapi_merge_destroy(merging.merge);
    return status;
}
