/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "atime/print.h"
#include "atime/print_regions.h"
#include "atime/student.h"
#include "base/text.h"
#include "base/units.h"
#include "record/record.h"

#define CELL_SIZE (2 * UNITS_SIZE + 8)
#define TABLE_CELL_WIDTH 24
#define TEXT_SIZE 512

/* "exit status 3", "killed by signal 9 (Killed)"; "" for a success. */
static void print_table_describe_end(char *text, size_t size, int status)
{
    text[0] = '\0';
    if (WIFSIGNALED(status)) {
        snprintf(text, size, "killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    } else if (WEXITSTATUS(status)) {
        snprintf(text, size, "exit status %d", WEXITSTATUS(status));
    }
}

static int print_table_put_run(FILE *out, const struct report *report, const struct run *run,
                               struct apapi_error *err)
{
    char end[128];
    struct apapi_table_head head = {
        .name = run->record.id.name,
        .user_s = report->program ? child_user_s(&run->end) : NAN,
        .system_s = child_system_s(&run->end),
        .elapsed_s = run_elapsed_s(run, APAPI_DOMAIN_NONE),
        .peak_bytes = child_peak_bytes(&run->end),
        .verbose = report->verbose,
    };
    struct apapi_merge *merge = apapi_merge_create();
    char *text = NULL;
    int result = -1;

    print_table_describe_end(end, sizeof end, run->end.status);
    head.end = *end ? end : NULL;
    if (!merge || apapi_merge_add(merge, &run->record)) {
        apapi_fail(err, ENOMEM, "no memory");
    } else {
        result = apapi_table_format(merge, &head, &text, err);
    }
    if (result == 0) {
        fputs(text, out);
    }
    free(text);
    apapi_merge_destroy(merge);
    return result;
}

static void print_table_put_headline(FILE *out, const struct report *report)
{
    const struct apapi_record *record = &report->runs[0].record;
    struct text_line line = {out, strlen("apapi:")};
    char clean[TEXT_SIZE];
    char text[TEXT_SIZE + 16];

    fputs("apapi:", out);
    text_clean(clean, sizeof clean, record->id.name);
    snprintf(text, sizeof text, "\"%s\"", clean);
    text_item(&line, 1, text);
    snprintf(text, sizeof text, "%zu runs", report->count);
    text_item(&line, 2, text);
    for (size_t i = 0; i < record->measurement.component_count; i++) {
        const struct apapi_component_result *component = &record->measurement.components[i];

        if (component->measured) {
            snprintf(text, sizeof text, "%s (%s)", component->name, component->source);
            text_clean(clean, sizeof clean, text);
            text_item(&line, 2, clean);
        }
    }
    fputc('\n', out);
}

static void print_table_put_cell(FILE *out, const char *cell)
{
    int columns = (int)text_columns(cell);

    fprintf(out, "  %*s%s", columns < TABLE_CELL_WIDTH ? TABLE_CELL_WIDTH - columns : 0, "", cell);
}

static int label_width(const struct report *report)
{
    return (int)strlen(report_missing_domains(report) ? "partial total" : "(package)");
}

static void print_table_put_domain(FILE *out, const struct report *report, enum apapi_domain domain,
                                   const char *label)
{
    const struct spread energy_j = report_spread(report, run_energy_j, domain);
    const struct spread mean_w = report_spread(report, run_mean_w, domain);
    char cell[CELL_SIZE];

    fprintf(out, "  %-*s", label_width(report), label);
    print_spread(cell, sizeof cell, &energy_j, "J");
    print_table_put_cell(out, cell);
    print_spread(cell, sizeof cell, &mean_w, "W");
    print_table_put_cell(out, cell);
    if (energy_j.count < report->count) {
        fprintf(out, "  in %zu of %zu runs", energy_j.count, report->count);
    }
    fputc('\n', out);
}

/* @return whether there is any. */
static bool put_domains_that(FILE *out, const struct report *report, bool add_up)
{
    bool any = false;

    for (int domain = APAPI_DOMAIN_NONE + 1; domain < APAPI_DOMAINS; domain++) {
        char label[32];

        if (apapi_domain_adds_up(domain) == add_up && report_has_domain(report, domain)) {
            snprintf(label, sizeof label, add_up ? "%s" : "(%s)", apapi_domain_name(domain));
            print_table_put_domain(out, report, domain, label);
            any = true;
        }
    }
    return any;
}

static void put_coverage(FILE *out, const struct report *report)
{
    for (int domain = APAPI_DOMAIN_NONE + 1; domain < APAPI_DOMAINS; domain++) {
        double covered = report_coverage(report, domain);

        if (coverage_is_low(covered)) {
            fprintf(out, "  %s: energy of the covered %.1f %% in the worst run\n",
                    apapi_domain_name(domain), coverage_pct(covered));
        }
    }
}

static void print_table_put_domains(FILE *out, const struct report *report)
{
    uint32_t missing = report_missing_domains(report);
    char names[DOMAIN_LIST_SIZE];
    bool any = false;

    for (int domain = APAPI_DOMAIN_NONE + 1; domain < APAPI_DOMAINS; domain++) {
        any |= report_has_domain(report, domain);
    }
    if (!any) {
        return;
    }
    fprintf(out, "  %-*s", label_width(report), "domain");
    print_table_put_cell(out, "energy");
    print_table_put_cell(out, "mean power");
    fputc('\n', out);
    if (put_domains_that(out, report, true)) {
        print_table_put_domain(out, report, APAPI_DOMAIN_NONE, missing ? "partial total" : "total");
    }
    if (put_domains_that(out, report, false)) {
        fputs("  in brackets: inside package or around other domains, not to be added\n", out);
    }
    put_coverage(out, report);
    if (missing) {
        domain_list_text(missing, ", ", names);
        fprintf(out, "  total without %s, whose energy is not known\n", names);
    }
}

static void put_unmeasured(FILE *out, const struct report *report)
{
    const struct apapi_measurement *m = &report->runs[report->count - 1].record.measurement;
    char text[TEXT_SIZE];

    for (size_t i = 0; i < m->component_count; i++) {
        if (!m->components[i].measured) {
            snprintf(text, sizeof text, "%s: not measured (%s)", m->components[i].name,
                     m->components[i].reason);
            text_wrap(out, text);
        }
    }
}

/* In how many runs it did not move. */
static size_t count_still(const struct report *report, size_t component, size_t event, bool *stuck)
{
    size_t count = 0;

    for (size_t i = 0; i < report->count; i++) {
        const struct apapi_measurement *m = &report->runs[i].record.measurement;

        if (component < m->component_count && event < m->components[component].event_count) {
            const struct apapi_event_result *one = &m->components[component].events[event];

            count += one->stuck || one->still;
            *stuck |= one->stuck;
        }
    }
    return count;
}

/* All runs have the same events. */
static void put_still(FILE *out, const struct report *report)
{
    const struct apapi_measurement *m = &report->runs[report->count - 1].record.measurement;
    char text[TEXT_SIZE];

    for (size_t i = 0; i < m->component_count; i++) {
        for (size_t k = 0; k < m->components[i].event_count; k++) {
            bool stuck = false;
            size_t count = count_still(report, i, k, &stuck);

            if (count > 0) {
                snprintf(text, sizeof text,
                         "%s: counter did not move in %zu of %zu runs, not counted%s",
                         m->components[i].events[k].event.name, count, report->count,
                         stuck ? "" : " (too short a time to tell whether it is stuck)");
                text_wrap(out, text);
            }
        }
    }
}

static void put_time(struct text_line *line, const char *word, const struct spread *spread)
{
    char mean[UNITS_SIZE];
    char sd[UNITS_SIZE];
    char cell[CELL_SIZE];
    char text[TEXT_SIZE];

    if (spread->mean < 60) {
        print_spread(cell, sizeof cell, spread, "s");
    } else {
        units_duration(mean, sizeof mean, spread->mean);
        units_duration(sd, sizeof sd, spread->sd);
        snprintf(cell, sizeof cell, "%s %s %s", mean, text_plus_minus(), sd);
    }
    snprintf(text, sizeof text, "%s %s", word, cell);
    text_item(line, line->column ? 3 : 2, text);
}

static void print_table_put_times(FILE *out, const struct report *report)
{
    const struct spread elapsed_s = report_spread(report, run_elapsed_s, APAPI_DOMAIN_NONE);
    const struct spread user_s = report_spread(report, run_user_s, APAPI_DOMAIN_NONE);
    const struct spread system_s = report_spread(report, run_system_s, APAPI_DOMAIN_NONE);
    struct text_line line = {out, 0};
    uint64_t peak_bytes = 0;
    char size[UNITS_SIZE];

    for (size_t i = 0; i < report->count; i++) {
        uint64_t one = child_peak_bytes(&report->runs[i].end);

        peak_bytes = one > peak_bytes ? one : peak_bytes;
    }
    put_time(&line, "elapsed", &elapsed_s);
    put_time(&line, "user", &user_s);
    put_time(&line, "system", &system_s);
    units_bytes(size, sizeof size, peak_bytes);
    fprintf(out, "\n  peak memory %s\n", size);
}

/* With half of the confidence interval in place of the standard deviation. */
static struct spread print_table_confidence(const struct report *report, run_value_f value)
{
    struct spread spread = report_spread(report, value, APAPI_DOMAIN_NONE);

    spread.sd = student_half_width(&spread);
    return spread;
}

static void put_confidence(struct text_line *line, const char *word, const struct spread *spread,
                           const char *unit)
{
    char cell[CELL_SIZE], text[TEXT_SIZE];

    if (spread->count > 1) {
        print_spread(cell, sizeof cell, spread, unit);
        snprintf(text, sizeof text, "%s %s", word, cell);
        text_item(line, 3, text);
    }
}

static void print_table_put_confidence(FILE *out, const struct report *report)
{
    const struct spread energy_j = print_table_confidence(report, run_energy_j);
    const struct spread mean_w = print_table_confidence(report, run_mean_w);
    const struct spread elapsed_s = print_table_confidence(report, run_elapsed_s);
    struct text_line line = {out, 0};

    if (report->count > 1) {
        text_item(&line, 2, "95 % confidence:");
        put_confidence(&line, "energy", &energy_j, "J");
        put_confidence(&line, "power", &mean_w, "W");
        put_time(&line, "elapsed", &elapsed_s);
        fputc('\n', out);
    }
}

/* "3 times each", "3.3 ± 0.6 times" */
static void print_table_describe_count(char *text, size_t size, const struct spread *count)
{
    if (count->sd > 0) {
        print_spread(text, size, count, "times");
    } else {
        snprintf(text, size, "%g time%s each", count->mean, count->mean > 1 ? "s" : "");
    }
}

/* In how many runs, how often, and when for the first time. */
static void print_table_put_crossings(FILE *out, const struct report *report)
{
    struct runs_crossed rows[LIMITS_MAX];
    size_t count = runs_crossed(report, rows);
    char times[CELL_SIZE], first[CELL_SIZE], text[2 * TEXT_SIZE];

    for (size_t i = 0; i < count; i++) {
        print_table_describe_count(times, sizeof times, &rows[i].count);
        print_spread(first, sizeof first, &rows[i].first_s, "s");
        snprintf(text, sizeof text, "%s: crossed in %zu of %zu runs (%s, first at %s)",
                 rows[i].threshold, rows[i].count.count, report->count, times, first);
        text_wrap(out, text);
    }
}

static void put_ends(FILE *out, const struct report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        char end[128];

        print_table_describe_end(end, sizeof end, report->runs[i].end.status);
        if (*end) {
            fprintf(out, "  run %zu: %s\n", i + 1, end);
        }
    }
    if (report->count < report->runs_wanted) {
        fprintf(out, "  %zu of %u runs\n", report->count, report->runs_wanted);
    }
}

static int put_each(FILE *out, const struct report *report, struct apapi_error *err)
{
    for (size_t i = 0; i < report->count; i++) {
        fprintf(out, "run %zu:\n", i + 1);
        if (print_table_put_run(out, report, &report->runs[i], err)) {
            return -1;
        }
    }
    return 0;
}

int report_table(FILE *out, const struct report *report, struct apapi_error *err)
{
    if (report->count == 1) {
        return print_table_put_run(out, report, report->runs, err);
    }
    if (report->verbose && put_each(out, report, err)) {
        return -1;
    }
    print_table_put_headline(out, report);
    print_table_put_domains(out, report);
    if (print_regions(out, report)) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    put_unmeasured(out, report);
    put_still(out, report);
    print_table_put_times(out, report);
    print_table_put_confidence(out, report);
    print_table_put_crossings(out, report);
    put_ends(out, report);
    return 0;
}
