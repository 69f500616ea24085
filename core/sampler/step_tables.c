/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/step_tables.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channel/packet.h"
#include "output/step_report.h"

static int step_tables_one(const struct apapi_record *record, bool verbose, char **text,
                           struct apapi_error *err)
{
    char step[64];
    const struct apapi_table_head head = {.step = step,
                                          .name = record->id.name,
                                          .user_s = NAN,
                                          .system_s = NAN,
                                          .elapsed_s = NAN,
                                          .verbose = verbose};
    struct apapi_merge *merge = apapi_merge_create();
    int result;

    if (!merge) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    snprintf(step, sizeof step, "%u.%s", record->id.job, record->id.step);
    result = apapi_merge_add(merge, record) ? -1 : apapi_table_format(merge, &head, text, err);
    apapi_merge_destroy(merge);
    return result;
}

/* The table of the whole job. @return NULL: none. */
static char *step_tables_job(const struct step_tables *tables, const struct apapi_record *record)
{
    const struct step *step = tables->step;

    if (!tables->parts->job || step->job_quiet) {
        return NULL;
    }
    parts_wait(tables->parts, tables->wait_until_ns);
    parts_add(tables->parts, record);
    return parts_table(tables->parts, step->job_nodes == APAPI_UNKNOWN ? 0 : step->job_nodes,
                       step->job_nodelist);
}

/* The table of the batch step, followed by the job's. */
static char *step_tables_all(const struct step_tables *tables, const struct apapi_record *record)
{
    char *job = step_tables_job(tables, record), *step = NULL, *both = NULL;

    if (job && (tables->step->job_only || tables->step->job_one)) {
        return job;
    }
    if (step_tables_one(record, packet_is_verbose(tables->step->rules), &step, NULL)) {
        return job;
    }
    if (job && asprintf(&both, "%s%s", step, job) >= 0) {
        free(step);
        step = both;
    }
    free(job);
    return step;
}

char *step_tables_text(const struct step_tables *tables, const struct apapi_record *record,
                       const char *line)
{
    struct step_report step_report = {0};
    char step[64], *text = NULL;
    size_t size;
    FILE *out;

    if (tables->step->format == CONFIG_TABLE) {
        return step_tables_all(tables, record);
    }
    out = open_memstream(&text, &size);
    if (out) {
        snprintf(step, sizeof step, "%u.%s", record->id.job, record->id.step);
        step_report_keep(&step_report, line, strlen(line));
        step_report_write(&step_report, tables->step->format, step, NULL, out);
        step_report_clear(&step_report);
        fclose(out);
    }
    return text;
}
