/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports for people. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "atime/report.h"
#include "base/array.h"
#include "base/text.h"
#include "base/units.h"
#include "record/record.h"
#include "render/regions.h"
#include "render/table.h"
#include "sum/members.h"
#include "sum/merge.h"

#define DOMAIN_CELL_WIDTH 24
#define REGION_LABEL_WIDTH 16
#define REGION_LABEL_TAIL 10
#define REGION_CELL_WIDTH 22
#define MORE_DECIMALS 3
#define SIGNIFICANT 0.05

/* --- cells ------------------------------------------------------------------------------------ */

/* @return decimals for two digits of the standard deviation; at most three more than the mean's. */
static int spread_decimals(const struct units_scale *scale, double sd)
{
    int wanted = sd > 0 ? 1 - (int)floor(log10(sd / scale->factor)) : 0;

    if (wanted > scale->decimals + MORE_DECIMALS) {
        return scale->decimals + MORE_DECIMALS;
    }
    return wanted > scale->decimals ? wanted : scale->decimals;
}

/* "480.5 ± 0.9 J", both in the scale of the mean; without `sd` "480.5 J"; without values "-". */
static struct units_text spread_text(const struct spread *spread, const char *unit)
{
    struct units_scale scale = units_scale(spread->mean);

    scale.decimals = spread_decimals(&scale, spread->sd);
    return isnan(spread->sd) || spread->count == 0
               ? units_part(true, spread->count > 0 ? "%s %s%s" : "-",
                            units_number(spread->mean, &scale).text, scale.prefix, unit)
               : units_part(true, "%s %s %s %s%s", units_number(spread->mean, &scale).text,
                            text_plus_minus(), units_number(spread->sd, &scale).text, scale.prefix,
                            unit);
}

/* "exit status 3", "killed by signal 9 (Killed)"; "" for a success. */
static void table_end_text(char *text, size_t size, int status)
{
    text[0] = '\0';
    if (WIFSIGNALED(status)) {
        snprintf(text, size, "killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    } else if (WEXITSTATUS(status)) {
        snprintf(text, size, "exit status %d", WEXITSTATUS(status));
    }
}

/* --- one run: as a step on one node ----------------------------------------------------------- */

static int table_run(FILE *out, const struct report *report, const struct run *run,
                     struct apapi_error *err)
{
    char end[128];
    struct apapi_table_head head = {
        .name = run->record.id.name,
        .user_s = run->end.user_s,
        .system_s = run->end.system_s,
        .elapsed_s = run_figure(run, ELAPSED, WHOLE),
        .peak_bytes = run->end.peak_bytes,
        .verbose = report->verbose,
    };
    struct apapi_merge *merge = apapi_merge_create();
    char *text = NULL;
    int result = -1;

    table_end_text(end, sizeof end, run->end.status);
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

/* --- several runs: domains -------------------------------------------------------------------- */

static void table_headline(FILE *out, const struct report *report)
{
    const struct apapi_record *record = &report->runs[0].record;
    struct text_line line = {out, strlen("apapi:")};

    fputs("apapi:", out);
    text_item(&line, 1, "\"%s\"", record->id.name);
    text_item(&line, 2, "%zu runs", report->count);
    for (size_t i = 0; i < record->measurement.component_count; i++) {
        const struct apapi_component_result *component = &record->measurement.components[i];

        if (component->measured) {
            text_item(&line, 2, "%s (%s)", component->name, component->source);
        }
    }
    fputc('\n', out);
}

/* Energy and power of a domain or region. */
static void table_part(const struct table *table, const struct report *report, struct part part,
                       const char *label, const char *note)
{
    const struct spread energy_j = report_spread(report, ENERGY, part);
    const struct spread mean_w = report_spread(report, POWER, part);

    table_put(table,
              (struct table_cell[]){CELL_TEXT(label), CELL_TEXT(spread_text(&energy_j, "J").text),
                                    CELL_TEXT(spread_text(&mean_w, "W").text), CELL_TEXT(note)});
}

static void table_domain(const struct table *table, const struct report *report,
                         enum apapi_domain domain, const char *label)
{
    struct part part = {.domain = domain};
    size_t count = report_spread(report, ENERGY, part).count;

    table_part(table, report, part, label,
               units_part(count < report->count, "in %zu of %zu runs", count, report->count).text);
}

/* @return whether there is any such domain. */
static bool table_domains_that(const struct table *table, const struct report *report, bool add_up)
{
    bool any = false;

    for (int domain = APAPI_DOMAIN_NONE + 1; domain < APAPI_DOMAINS; domain++) {
        char label[32];

        if (apapi_domain_adds_up(domain) == add_up && report_has_domain(report, domain)) {
            snprintf(label, sizeof label, add_up ? "%s" : "(%s)", apapi_domain_name(domain));
            table_domain(table, report, domain, label);
            any = true;
        }
    }
    return any;
}

static int table_domains(FILE *out, const struct report *report)
{
    uint32_t missing = report_missing_domains(report);
    const struct table_column columns[] = {
        {.title = "domain", .width = strlen(missing ? "partial total" : "(package)")},
        {.title = "energy", .form = TABLE_RIGHT, .width = DOMAIN_CELL_WIDTH},
        {.title = "mean power", .form = TABLE_RIGHT, .width = DOMAIN_CELL_WIDTH},
        {.title = ""}};
    struct table table = table_begin(columns, COUNT_OF(columns), TABLE_FOR_PEOPLE, true, out);
    char names[DOMAIN_LIST_SIZE];
    bool total = table_domains_that(&table, report, true), others;

    if (total) {
        table_domain(&table, report, APAPI_DOMAIN_NONE, missing ? "partial total" : "total");
    }
    others = table_domains_that(&table, report, false);
    table.width = 0;
    if (table_end(&table, NULL)) {
        return -1;
    }
    if (others) {
        fputs("  in brackets: inside package or around other domains, not to be added\n", out);
    }
    for (int domain = APAPI_DOMAIN_NONE + 1; domain < APAPI_DOMAINS; domain++) {
        double least = NAN; /* least part of a run's time that the energy covers */

        for (size_t i = 0; i < report->count; i++) {
            const struct apapi_domain_result *one =
                &report->runs[i].record.measurement.domains[domain];

            least = one->measured && one->covered > 0 ? fmin(least, one->covered) : least;
        }
        if (coverage_is_low(least)) {
            fprintf(out, "  %s: energy of the covered %.1f %% in the worst run\n",
                    apapi_domain_name(domain), coverage_pct(least));
        }
    }
    if (missing && (total || others)) {
        domain_list_text(missing, ", ", names);
        fprintf(out, "  total without %s, whose energy is not known\n", names);
    }
    return 0;
}

/* --- several runs: regions -------------------------------------------------------------------- */

static void table_region(const struct table *table, const struct report *report,
                         const struct apapi_region_result *region)
{
    struct part part = {.region = region};
    size_t count = report_spread(report, ELAPSED, part).count;
    char label[4 * REGION_LABEL_WIDTH + 1];

    text_shorten(label, sizeof label, table_region_label(region), REGION_LABEL_WIDTH,
                 REGION_LABEL_TAIL);
    table_part(table, report, part, label,
               units_part(true, count < report->count ? "%s, %zu of %zu runs" : "%s",
                          apapi_region_method_name(region->method), count, report->count)
                   .text);
}

/* Print a row for each region of the highest energies, and the mean figures of merit of a run. */
static int table_regions(FILE *out, const struct report *report)
{
    static const struct table_column columns[] = {
        {.title = "region", .width = REGION_LABEL_WIDTH},
        {.title = "energy", .form = TABLE_RIGHT, .width = REGION_CELL_WIDTH},
        {.title = "mean", .form = TABLE_RIGHT, .width = REGION_CELL_WIDTH},
        {.title = "method"}};
    const struct spread energy_j = report_spread(report, ENERGY, WHOLE);
    struct table table;
    struct apapi_regions regions;
    size_t named = 0;
    int result;

    if (report_regions(report, &regions)) {
        return -1;
    }
    table = table_begin(columns, COUNT_OF(columns), TABLE_FOR_PEOPLE, true, out);
    table.width = 0;
    for (; named < regions.count && regions.list[named].kind == APAPI_REGION_NAMED; named++) {
        if (named < TABLE_REGIONS) {
            table_region(&table, report, &regions.list[named]);
        }
    }
    result = table_end(&table, NULL);
    if (named > TABLE_REGIONS) {
        fprintf(out, "  %zu more region%s\n", named - TABLE_REGIONS,
                text_plural(named - TABLE_REGIONS));
    }
    for (size_t i = 0; i < regions.fom_count; i++) {
        struct apapi_fom fom = regions.foms[i];

        fom.value /= (double)report->count;
        text_wrap(out, "%s", table_fom_text(&fom, energy_j.mean).text);
    }
    apapi_regions_clear(&regions);
    return result;
}

/* --- several runs: notes ---------------------------------------------------------------------- */

/* @return the runs, merged like nodes of a step, with numbers as names; NULL: out of memory. */
static struct apapi_merge *merge_runs(const struct report *report)
{
    struct apapi_merge *merge = apapi_merge_create();
    bool failed = !merge;

    for (size_t i = 0; i < report->count && !failed; i++) {
        struct apapi_record record = report->runs[i].record;

        snprintf(record.id.node, sizeof record.id.node, "%zu", i);
        failed = apapi_merge_add(merge, &record) != 0;
    }
    if (failed) {
        apapi_merge_destroy(merge);
    }
    return failed ? NULL : merge;
}

static int table_notes(FILE *out, const struct report *report)
{
    struct apapi_merge *merge = merge_runs(report);
    bool failed = !merge;
    double share = NAN; /* the greatest uncertainty of a run */

    for (size_t i = 0; i < report->count; i++) {
        share = fmax(share, run_uncertainty(&report->runs[i], WHOLE));
    }
    if (merge) {
        table_put_doubt(merge, false, share, out);
    }
    for (size_t i = 0; merge && i < merge->note_rows.keys.count; i++) {
        const struct merge_note *note = &merge->notes[i];
        const char *subject = pool_text(&merge->store.texts, note->subject_text);
        const char *reason = pool_text(&merge->store.texts, note->reason_text);

        if (note->kind != MERGE_NOTE_CROSSING) {
            text_wrap(out, "%s%s%zu of %zu runs: %s%s%s%s", subject, *subject ? " in " : "",
                      note->nodes, report->count, note->verdict, *reason ? " (" : "", reason,
                      *reason ? ")" : "");
        }
    }
    for (size_t i = 0; merge && i < merge->crossing_rows.keys.count; i++) {
        text_wrap(out, "%s: crossed in %zu of %zu runs", merge->crossings[i].first.threshold,
                  merge->crossings[i].nodes, report->count);
    }
    apapi_merge_destroy(merge);
    return failed ? -1 : 0;
}

/* Print mean and standard deviation, or mean and half of the 95 % confidence interval. */
static void table_figure(struct text_line *line, const struct report *report, enum figure figure,
                         bool confidence)
{
    struct spread spread = report_spread(report, figure, WHOLE);
    const char *word = figure_names[figure].word;
    size_t gap = line->column ? 3 : 2;

    if (confidence && spread.count < 2) {
        return;
    }
    spread.sd = confidence ? student_half_width(&spread) : spread.sd;
    if (figure > SYSTEM || spread.mean < 60) {
        text_item(line, gap, "%s %s", word, spread_text(&spread, figure_names[figure].unit).text);
    } else {
        text_item(line, gap, "%s %s %s %s", word, units_duration(spread.mean).text,
                  text_plus_minus(), units_duration(spread.sd).text);
    }
}

static void table_times(FILE *out, const struct report *report)
{
    struct text_line line = {out, 0};
    uint64_t peak_bytes = 0;

    for (size_t i = 0; i < report->count; i++) {
        uint64_t one = report->runs[i].end.peak_bytes;

        peak_bytes = one > peak_bytes ? one : peak_bytes;
    }
    for (enum figure i = ELAPSED; i <= SYSTEM; i++) {
        table_figure(&line, report, i, false);
    }
    fprintf(out, "\n  peak memory %s\n", units_bytes(peak_bytes).text);
    if (report->count > 1) {
        line.column = 0;
        text_item(&line, 2, "95 %% confidence:");
        for (size_t i = 0; i < COUNT_OF(figures_compared); i++) {
            table_figure(&line, report, figures_compared[i], true);
        }
        fputc('\n', out);
    }
}

static void table_ends(FILE *out, const struct report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        char end[128];

        table_end_text(end, sizeof end, report->runs[i].end.status);
        if (*end) {
            fprintf(out, "  run %zu: %s\n", i + 1, end);
        }
    }
    if (report->count < report->runs_wanted) {
        fprintf(out, "  %zu of %zu runs\n", report->count, report->runs_wanted);
    }
}

int report_table(FILE *out, const struct report *report, struct apapi_error *err)
{
    if (report->count == 1) {
        return table_run(out, report, report->runs, err);
    }
    for (size_t i = 0; report->verbose && i < report->count; i++) {
        fprintf(out, "run %zu:\n", i + 1);
        if (table_run(out, report, &report->runs[i], err)) {
            return -1;
        }
    }
    table_headline(out, report);
    if (table_domains(out, report) || table_regions(out, report) || table_notes(out, report)) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    table_times(out, report);
    table_ends(out, report);
    return 0;
}

/* --- two programs ----------------------------------------------------------------------------- */

static void table_difference(FILE *out, enum figure figure, const struct difference *difference,
                             double first)
{
    const struct spread shown = {1, difference->mean, difference->half_width};

    if (isnan(difference->mean)) {
        return;
    }
    fprintf(out, "  %-8s  %s", figure_names[figure].word,
            spread_text(&shown, figure_names[figure].unit).text);
    if (first > 0) {
        double pct = round(1000 * difference->mean / first) / 10;

        fprintf(out, pct != 0 ? "  (%+.1f %%)" : "  (0.0 %%)", pct);
    }
    if (difference->p < 0.001) {
        fputs("  p < 0.001", out);
    } else if (!isnan(difference->p)) {
        fprintf(out, "  p = %.3f", difference->p);
    }
    fputc('\n', out);
}

static void table_verdict(FILE *out, const struct difference *energy,
                          const struct report reports[2])
{
    char name[APAPI_TEXT_SIZE];

    if (isnan(energy->p)) {
        return;
    }
    if (energy->p >= SIGNIFICANT) {
        fputs("  no significant difference in energy\n", out);
        return;
    }
    text_clean(name, sizeof name, reports[energy->mean < 0 ? 1 : 0].runs[0].record.id.name);
    fprintf(out, "  the %s program, \"%s\", uses less energy\n",
            energy->mean < 0 ? "second" : "first", name);
}

int compare_table(FILE *out, const struct report reports[2], struct apapi_error *err)
{
    const struct difference energy = report_difference(reports, ENERGY);
    char names[DOMAIN_LIST_SIZE];

    if (report_table(out, &reports[0], err) || report_table(out, &reports[1], err)) {
        return -1;
    }
    fputs("difference: second program - first\n", out);
    for (size_t i = 0; i < COUNT_OF(figures_compared); i++) {
        const struct difference difference = report_difference(reports, figures_compared[i]);

        table_difference(out, figures_compared[i], &difference,
                         report_spread(&reports[0], figures_compared[i], WHOLE).mean);
    }
    table_verdict(out, &energy, reports);
    domain_list_text(report_other_domains(reports), ", ", names);
    if (*names) {
        text_wrap(out, "energy and power are not compared: only one program's total has %s", names);
    }
    fprintf(out,
            "  %s: 95 %% confidence; p: how often chance alone gives such a difference (Welch)\n",
            text_plus_minus());
    return 0;
}
