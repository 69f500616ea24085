/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "atime/print.h"
#include "base/text.h"

#define COMMAND_SIZE 1024

/* The command as words with blanks between them; what would end the cell is replaced. */
static void print_markdown_command(FILE *out, const struct report *report)
{
    char text[COMMAND_SIZE] = "", clean[COMMAND_SIZE];
    size_t size = 0;

    for (char *const *word = report->program; word && *word && size < sizeof text; word++) {
        size += (size_t)snprintf(text + size, sizeof text - size, "%s%s", size ? " " : "", *word);
    }
    if (!report->program) {
        snprintf(text, sizeof text, "%s", report->runs[0].record.id.name);
    }
    text_clean(clean, sizeof clean, text);
    fputs("| `", out);
    for (const char *at = clean; *at; at++) {
        if (*at == '|') {
            fputs("\\|", out);
        } else {
            fputc(*at == '`' ? '\'' : *at, out);
        }
    }
    fputs("` |", out);
}

static void print_markdown_spread(FILE *out, const struct spread *spread, int decimals)
{
    if (spread->count == 0) {
        fputs(" |", out);
    } else if (spread->count == 1) {
        fprintf(out, " %.*f |", decimals, spread->mean);
    } else {
        fprintf(out, " %.*f %s %.*f |", decimals, spread->mean, text_plus_minus(), decimals,
                spread->sd);
    }
}

static void print_markdown_extremes(FILE *out, const struct report *report)
{
    double min = NAN, max = NAN;

    for (size_t i = 0; i < report->count; i++) {
        double energy_j = run_energy_j(&report->runs[i], APAPI_DOMAIN_NONE);

        min = fmin(min, energy_j);
        max = fmax(max, energy_j);
    }
    if (isnan(min)) {
        fputs(" | |", out);
    } else {
        fprintf(out, " %.1f | %.1f |", min, max);
    }
}

static void print_markdown_line(FILE *out, const struct report *report, double least_j)
{
    const struct spread energy_j = report_spread(report, run_energy_j, APAPI_DOMAIN_NONE);
    const struct spread mean_w = report_spread(report, run_mean_w, APAPI_DOMAIN_NONE);
    const struct spread elapsed_s = report_spread(report, run_elapsed_s, APAPI_DOMAIN_NONE);

    print_markdown_command(out, report);
    print_markdown_spread(out, &energy_j, 1);
    print_markdown_extremes(out, report);
    print_markdown_spread(out, &mean_w, 1);
    print_markdown_spread(out, &elapsed_s, 3);
    if (energy_j.count > 0 && least_j > 0) {
        fprintf(out, " %.2f |\n", energy_j.mean / least_j);
    } else {
        fputs(" |\n", out);
    }
}

void report_markdown(FILE *out, const struct report *reports, size_t count)
{
    double least_j = NAN;

    fputs("| Command | Energy [J] | Min [J] | Max [J] | Mean power [W] | Time [s] | Relative |\n"
          "|:---|---:|---:|---:|---:|---:|---:|\n",
          out);
    for (size_t i = 0; i < count; i++) {
        if (reports[i].count > 0) {
            least_j =
                fmin(least_j, report_spread(&reports[i], run_energy_j, APAPI_DOMAIN_NONE).mean);
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (reports[i].count > 0) {
            print_markdown_line(out, &reports[i], least_j);
        }
    }
}
