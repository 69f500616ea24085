/* SPDX-License-Identifier: BSD-3-Clause */
/* Two programs beside each other. */
#include <math.h>

#include "atime/print.h"
#include "atime/student.h"
#include "base/text.h"
#include "base/units.h"

#define CELL_SIZE (2 * UNITS_SIZE + 8)
#define SIGNIFICANT 0.05

static void print_compare_name(const struct report *report, char *name, size_t size)
{
    text_clean(name, size, report->runs[0].record.id.name);
}

/* "p < 0.001", "p = 0.034" */
static void print_compare_p(FILE *out, double p)
{
    if (p < 0.001) {
        fputs("  p < 0.001\n", out);
    } else {
        fprintf(out, "  p = %.3f\n", p);
    }
}

static struct difference print_compare_line(FILE *out, const char *word, run_value_f value,
                                            const char *unit, const struct report reports[2])
{
    const struct spread one = report_spread(&reports[0], value, APAPI_DOMAIN_NONE);
    const struct spread other = report_spread(&reports[1], value, APAPI_DOMAIN_NONE);
    const struct difference difference = student_difference(&one, &other);
    const struct spread shown = {1, difference.mean, difference.half_width};
    char cell[CELL_SIZE];

    if (isnan(difference.mean)) {
        return difference;
    }
    print_spread(cell, sizeof cell, &shown, unit);
    fprintf(out, "  %-8s  %s", word, cell);
    if (one.mean > 0) {
        fprintf(out, "  (%+.1f %%)", 100 * difference.mean / one.mean);
    }
    if (isnan(difference.p)) {
        fputc('\n', out);
    } else {
        print_compare_p(out, difference.p);
    }
    return difference;
}

static void print_compare_verdict(FILE *out, const struct difference *energy,
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
    print_compare_name(&reports[energy->mean < 0 ? 1 : 0], name, sizeof name);
    fprintf(out, "  the %s program, \"%s\", uses less energy\n",
            energy->mean < 0 ? "second" : "first", name);
}

int compare_table(FILE *out, const struct report reports[2], struct apapi_error *err)
{
    struct difference energy;

    if (report_table(out, &reports[0], err) || report_table(out, &reports[1], err)) {
        return -1;
    }
    fputs("difference: second program - first\n", out);
    energy = print_compare_line(out, "energy", run_energy_j, "J", reports);
    print_compare_line(out, "power", run_mean_w, "W", reports);
    print_compare_line(out, "elapsed", run_elapsed_s, "s", reports);
    print_compare_verdict(out, &energy, reports);
    fprintf(out,
            "  %s: 95 %% confidence; p: how often chance alone gives such a difference (Welch)\n",
            text_plus_minus());
    return 0;
}
