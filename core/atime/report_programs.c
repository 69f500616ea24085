/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports for programs: JSON and CSV. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "atime/report.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "record/fields.h"
#include "record/record.h"
#include "render/csv.h"
#include "render/regions.h"

/* Put a number as in a record; an unknown number has no key. */
static void put_number(struct json_writer *json, const char *key, double value)
{
    json_put_number(json, key, value, JSON_MEASURED);
}

/* --- one run ---------------------------------------------------------------------------------- */

static void put_program(struct json_writer *json, const struct report *report,
                        const struct run *run)
{
    const struct child_end *end = &run->end;

    json_begin_object(json, "program");
    json_begin_array(json, "command");
    for (char *const *word = report->program; *word; word++) {
        json_put_text(json, NULL, *word);
    }
    json_end(json);
    for (enum figure i = ELAPSED; i <= SYSTEM; i++) {
        put_number(json, figure_names[i].key, run_figure(run, i, WHOLE));
    }
    json_put_integer(json, "max_rss_bytes", (int64_t)end->peak_bytes);
    if (WIFSIGNALED(end->status)) {
        json_put_integer(json, "signal", WTERMSIG(end->status));
    } else {
        json_put_integer(json, "exit_status", WEXITSTATUS(end->status));
    }
    json_end(json);
}

/* Put the values that an event's definition selects; a record does not have them. */
static void put_values(struct json_writer *json, const struct apapi_event_result *event)
{
    static const char *const keys[] = {"value0", "value1"};

    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        const struct apapi_value_result *value = &event->values[i];

        if (value->shown) {
            json_begin_object(json, keys[i]);
            json_put_text(json, "type", value->type);
            json_put_text(json, "unit", value->unit);
            put_number(json, "min", value->shown & APAPI_SHOW_MIN ? value->min : NAN);
            put_number(json, "max", value->shown & APAPI_SHOW_MAX ? value->max : NAN);
            put_number(json, "avg", value->shown & APAPI_SHOW_AVG ? value->avg : NAN);
            put_number(json, "acc", value->shown & APAPI_SHOW_ACC ? value->acc : NAN);
            json_end(json);
        }
    }
}

static void put_run(struct json_writer *json, const struct report *report, const struct run *run)
{
    json_begin_object(json, NULL);
    record_write(json, &run->record, put_values);
    put_program(json, report, run);
    json_end(json);
}

/* --- several runs ----------------------------------------------------------------------------- */

static void put_spread(struct json_writer *json, const char *key, const struct report *report,
                       enum figure figure, struct part part)
{
    const struct spread spread = report_spread(report, figure, part);

    if (spread.count > 0) {
        json_begin_object(json, key);
        put_number(json, "mean", spread.mean);
        put_number(json, "sd", spread.sd);
        put_number(json, "ci95", student_half_width(&spread));
        if (spread.count < report->count) {
            json_put_integer(json, "runs", (int64_t)spread.count);
        }
        json_end(json);
    }
}

static void put_energy(struct json_writer *json, const struct report *report, struct part part)
{
    put_spread(json, "energy_j", report, ENERGY, part);
    put_spread(json, "mean_w", report, POWER, part);
}

static void put_domain(struct json_writer *json, const char *key, const struct report *report,
                       enum apapi_domain domain)
{
    if (report_has_domain(report, domain)) {
        json_begin_object(json, key);
        put_energy(json, report, (struct part){.domain = domain});
        if (domain == APAPI_DOMAIN_NONE) {
            domain_list_write(json, "missing_domains", report_missing_domains(report));
        }
        json_end(json);
    }
}

static int put_regions(struct json_writer *json, const struct report *report)
{
    struct apapi_regions regions;

    if (report_regions(report, &regions)) {
        return -1;
    }
    json_begin_array(json, "regions");
    for (size_t i = 0; i < regions.count; i++) {
        const struct part part = {.region = &regions.list[i]};

        json_begin_object(json, NULL);
        json_put_text(json, "name", table_region_label(part.region));
        put_spread(json, "time_s", report, ELAPSED, part);
        put_energy(json, report, part);
        json_end(json);
    }
    json_end_or_drop(json);
    apapi_regions_clear(&regions);
    return 0;
}

static int put_statistics(struct json_writer *json, const struct report *report)
{
    int result;

    json_begin_object(json, "statistics");
    for (enum figure i = ELAPSED; i <= SYSTEM; i++) {
        put_spread(json, figure_names[i].key, report, i, WHOLE);
    }
    json_begin_object(json, "domains");
    for (int i = APAPI_DOMAIN_NONE + 1; i < APAPI_DOMAINS; i++) {
        put_domain(json, apapi_domain_name(i), report, i);
    }
    json_end(json);
    put_domain(json, "total", report, APAPI_DOMAIN_NONE);
    result = put_regions(json, report);
    json_end(json);
    return result;
}

static int put_runs(struct json_writer *json, const struct report *report)
{
    int result;

    json_begin_object(json, NULL);
    json_put_integer(json, "apapi", APAPI_RECORD_VERSION);
    json_begin_array(json, "runs");
    for (size_t i = 0; i < report->count; i++) {
        put_run(json, report, &report->runs[i]);
    }
    json_end(json);
    result = put_statistics(json, report);
    json_end(json);
    return result;
}

/* @param result  0: all was written */
static int finish(struct json_writer *json, int result, FILE *out, struct apapi_error *err)
{
    char *line = json_take(json);

    if (line && result == 0) {
        fprintf(out, "%s\n", line);
    }
    free(line);
    return line && result == 0 ? 0 : apapi_fail(err, ENOMEM, "no memory");
}

int report_json(FILE *out, const struct report *report, struct apapi_error *err)
{
    struct json_writer json = {0};
    int result = 0;

    if (report->runs_wanted > 1) {
        result = put_runs(&json, report);
    } else {
        put_run(&json, report, report->runs);
    }
    return finish(&json, result, out, err);
}

/* --- two programs ----------------------------------------------------------------------------- */

int compare_json(FILE *out, const struct report reports[2], struct apapi_error *err)
{
    struct json_writer json = {0};
    int result;

    json_begin_object(&json, NULL);
    json_put_integer(&json, "apapi", APAPI_RECORD_VERSION);
    json_begin_array(&json, "programs");
    result = put_runs(&json, &reports[0]);
    result = result ? result : put_runs(&json, &reports[1]);
    json_end(&json);
    json_begin_object(&json, "difference");
    for (size_t i = 0; i < COUNT_OF(figures_compared); i++) {
        const struct difference difference = report_difference(reports, figures_compared[i]);

        if (!isnan(difference.mean)) {
            json_begin_object(&json, figure_names[figures_compared[i]].key);
            put_number(&json, "mean", difference.mean);
            put_number(&json, "ci95", difference.half_width);
            put_number(&json, "p", difference.p);
            json_end(&json);
        }
    }
    domain_list_write(&json, "missing_domains", report_other_domains(reports));
    json_end(&json);
    json_end(&json);
    return finish(&json, result, out, err);
}

/* --- CSV -------------------------------------------------------------------------------------- */

int report_csv(FILE *out, const struct report *report, struct apapi_error *err)
{
    (void)err;
    fputs("run," CSV_COLUMNS, out);
    for (size_t i = 0; i < report->count; i++) {
        const struct run *run = &report->runs[i];
        bool killed = WIFSIGNALED(run->end.status);
        char number[24];
        const struct csv csv = {.out = out, .leads = {number}};

        snprintf(number, sizeof number, "%zu", i + 1);
        for (enum figure k = ELAPSED; k <= SYSTEM; k++) {
            csv_put_number(&csv, "program", figure_names[k].word, "s", run_figure(run, k, WHOLE));
        }
        csv_put_number(&csv, "program", "max_rss", "B", (double)run->end.peak_bytes);
        csv_put_number(&csv, "program", killed ? "signal" : "exit_status", "",
                       killed ? WTERMSIG(run->end.status) : WEXITSTATUS(run->end.status));
        csv_put_record(&csv, &run->record);
    }
    return 0;
}
