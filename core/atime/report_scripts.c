/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports for scripts: CSV, and the layout of the original atime. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <sys/wait.h>

#include "atime/report.h"
#include "base/clock.h"
#include "base/text.h"
#include "render/csv.h"

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
        csv_put_measurement(&csv, &run->record.measurement);
        csv_put_crossings(&csv, &run->record);
        csv_put_regions(&csv, &run->record.regions);
    }
    return 0;
}

/* --- the original layout ---------------------------------------------------------------------- */

static void classic_clean(FILE *out, const char *text)
{
    char clean[1024];

    text_clean(clean, sizeof clean, text);
    fputs(clean, out);
}

static void classic_setup(FILE *out, const struct apapi_component_result *component)
{
    if (!component->measured) {
        fprintf(out, "ATIME: PAPI component %s not used: ", component->name);
        classic_clean(out, component->reason);
        fputc('\n', out);
        return;
    }
    fprintf(out, "ATIME: Use PAPI component %s\n", component->name);
    fprintf(out, "ATIME: cmp %s event_num %zu interval %" PRIu64 ".%09" PRIu64 "\n",
            component->name, component->event_count, component->interval_ns / NS_PER_S,
            component->interval_ns % NS_PER_S);
}

static void classic_statistic(FILE *out, const char *name, double number)
{
    if (isfinite(number)) {
        fprintf(out, "    %s: %20.1f\n", name, number);
    }
}

/* The latest value in the source's type; "-" if there is none. */
static void classic_newest(FILE *out, enum apapi_type type, const struct apapi_value_result *value)
{
    double newest = value->last * value->factor;

    if (!isfinite(newest)) {
        fputs(" -\n", out);
    } else if (type == APAPI_TYPE_FP64) {
        fprintf(out, " %f\n", newest);
    } else if (type == APAPI_TYPE_BIT64 && newest >= 0) {
        fprintf(out, " %" PRIX64 "\n", (uint64_t)newest);
    } else {
        fprintf(out, " %.0f\n", newest);
    }
}

/* @param newest  with the latest value */
static void classic_value(FILE *out, const struct apapi_value_result *value, bool newest)
{
    if (!value->shown) {
        return;
    }
    fprintf(out, "  %s %s %f", value->type, value->unit, value->factor);
    if (newest && isfinite(value->last)) {
        fprintf(out, " %f", value->last * value->factor);
    }
    fputc('\n', out);
    classic_statistic(out, "min", value->shown & APAPI_SHOW_MIN ? value->min : NAN);
    classic_statistic(out, "max", value->shown & APAPI_SHOW_MAX ? value->max : NAN);
    classic_statistic(out, "avg", value->shown & APAPI_SHOW_AVG ? value->avg : NAN);
    classic_statistic(out, "acc", value->shown & APAPI_SHOW_ACC ? value->acc : NAN);
}

static void classic_event(FILE *out, const struct apapi_event_result *result)
{
    classic_clean(out, result->event.name);
    fputs(result->event.estimated ? "(estimated)" : "", out);
    classic_newest(out, result->event.type, &result->values[0]);
    classic_value(out, &result->values[0], false);
    classic_value(out, &result->values[1], true);
    fputc('\n', out);
}

static void classic_run(FILE *out, const struct report *report, const struct run *run)
{
    const struct child_end *end = &run->end;
    const struct apapi_measurement *m = &run->record.measurement;

    fputs("ATIME: Program: ", out);
    for (char *const *word = report->program; *word; word++) {
        classic_clean(out, *word);
        fputc(' ', out);
    }
    fputc('\n', out);
    for (size_t i = 0; i < m->component_count; i++) {
        classic_setup(out, &m->components[i]);
    }
    fputs("ATIME: papi_start\n", out);
    for (size_t i = 0; i < m->component_count; i++) {
        const struct apapi_component_result *component = &m->components[i];

        if (component->measured) {
            fprintf(out, "%s: %zu events\n------\n", component->name, component->event_count);
            for (size_t k = 0; k < component->event_count; k++) {
                classic_event(out, &component->events[k]);
            }
            fputs("------\n\n", out);
        }
    }
    /* figures that the original did not report */
    fprintf(out, "ATIME: elapsed %.3f s user %.3f s system %.3f s peak memory %" PRIu64 " bytes\n",
            run_figure(run, ELAPSED, WHOLE), end->user_s, end->system_s, end->peak_bytes);
    fprintf(out, "ATIME: %s %d\n", WIFSIGNALED(end->status) ? "killed by signal" : "exit status",
            WIFSIGNALED(end->status) ? WTERMSIG(end->status) : WEXITSTATUS(end->status));
    fputs("ATIME: papi stop\nATIME: done\n", out);
}

int report_classic(FILE *out, const struct report *report, struct apapi_error *err)
{
    (void)err;
    for (size_t i = 0; i < report->count; i++) {
        classic_run(out, report, &report->runs[i]);
    }
    return 0;
}
