/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/step_report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "record/record.h"
#include "render/csv.h"
#include "sum/merge.h"

void step_report_keep(struct apapi_merge *merge, const char *line, size_t size)
{
    merge->no_memory |= namelist_add_part(&merge->lines, line, size) != 0;
}

/* The output in progress. */
struct writing {
    FILE *out;
    bool csv; /* else JSON */
    const char *step;
    bool begun; /* JSON: the array has an element */
    int error;
};

/* Write an element: a record as this version writes it, or a node without a record. */
static void put_json(struct writing *writing, const struct apapi_record *record, const char *node,
                     const char *reason)
{
    struct json_writer json = {.out = writing->out};

    fputs(writing->begun ? ",\n" : "\n", writing->out);
    writing->begun = true;
    json_begin_object(&json, NULL);
    if (record) {
        record_write(&json, record, NULL);
    } else {
        json_put_count(&json, "apapi", APAPI_RECORD_VERSION);
        json_put_text(&json, "node", node);
        json_put_flag(&json, "complete", false);
        json_put_text(&json, "reason", reason);
    }
    json_end(&json);
    if (json_flush(&json) && errno == ENOMEM) {
        writing->error = ENOMEM;
    }
}

static void put_absent(const char *node, const char *reason, void *context)
{
    struct writing *writing = context;
    const struct csv csv = {.out = writing->out, .leads = {writing->step, node}};

    if (writing->csv) {
        csv_put_number(&csv, "absent", reason, "", NAN);
    } else {
        put_json(writing, NULL, node, reason);
    }
}

static void put_records(const struct apapi_merge *merge, struct writing *writing)
{
    fputs(writing->csv ? "step,node," CSV_COLUMNS : "[", writing->out);
    for (size_t i = 0; i < merge->lines.count; i++) {
        const char *line = merge->lines.names[i];
        struct apapi_record record;

        if (apapi_record_decode(line, strlen(line), &record, NULL)) {
            writing->error = errno;
            continue;
        }
        if (writing->csv) {
            const struct csv csv = {.out = writing->out, .leads = {writing->step, record.id.node}};

            csv_put_number(&csv, "step", "elapsed", "s",
                           (double)record.measurement.elapsed_ns / 1e9);
            csv_put_record(&csv, &record);
        } else {
            put_json(writing, &record, NULL, NULL);
        }
        apapi_record_clear(&record);
    }
    apapi_merge_absentees(merge, put_absent, writing);
    fputs(writing->csv ? "" : "\n]\n", writing->out);
}

int step_report_add(struct apapi_merge *merge, const char *line)
{
    struct apapi_record record;
    int result;

    if (apapi_record_decode(line, strlen(line), &record, NULL)) {
        return -1;
    }
    result = apapi_merge_add(merge, &record);
    apapi_record_clear(&record);
    if (result == 0) {
        step_report_keep(merge, line, strlen(line));
    }
    return result;
}

bool step_report_needs_lines(enum config_format format)
{
    return format == CONFIG_JSON || format == CONFIG_CSV;
}

int step_report_write(const struct apapi_merge *merge, enum config_format format,
                      const struct apapi_table_head *head, FILE *out)
{
    struct writing writing = {.out = out,
                              .csv = format == CONFIG_CSV,
                              .step = head->step,
                              .error = merge->no_memory ? ENOMEM : 0};
    bool table = format == CONFIG_TABLE;
    char *text;

    if (step_report_needs_lines(format)) {
        put_records(merge, &writing);
    } else if (table ? apapi_table_format(merge, head, &text, NULL)
                     : apapi_merge_encode(merge, head->step, &text, NULL)) {
        writing.error = errno;
    } else {
        fprintf(out, table ? "%s" : "%s\n", text);
        free(text);
    }
    errno = writing.error;
    return writing.error ? -1 : 0;
}
