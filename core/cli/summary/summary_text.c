/* SPDX-License-Identifier: BSD-3-Clause */
/* In the manner of seff: "Name: value". What is not known has no line. */
#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "base/units.h"
#include "cli/summary/summary.h"
#include "cli/totals/row_fields.h"

#define RECORDED_SHARE 0.99 /* of the job's time: with less, the rest is worth a word ... */
#define RECORDED_S 2        /* ... if it is longer, as Slurm counts whole seconds [s] */
#define CPU_LEAST                                                                                  \
    0.1 /* used, of the core time: with less, idle power would be most of its energy */

static void put(const char *name, const char *value)
{
    char clean[512];

    if (*value) {
        text_clean(clean, sizeof clean, value);
        printf("%s: %s\n", name, clean);
    }
}

static void put_count(const char *name, double count)
{
    if (isfinite(count)) {
        printf("%s: %.0f\n", name, count);
    }
}

static const char *either(const char *text, const char *otherwise)
{
    return *text ? text : otherwise;
}

static void summary_text_put_who(const struct summary *summary)
{
    const struct apapi_identity none = APAPI_IDENTITY_UNKNOWN;
    const struct apapi_identity *id = summary->id ? summary->id : &none;
    const char *user = either(id->user, summary->slurm.user);
    const char *account = either(summary->slurm.account, id->account);
    char text[256];

    put("Job ID", summary->job_id);
    put("Cluster", either(id->cluster, summary->slurm.cluster));
    snprintf(text, sizeof text, "%s%s%s", user, *account ? "/" : "", account);
    put(*account ? "User/Account" : "User", text);
    snprintf(text, sizeof text, "%s%s%s%s", summary->slurm.state,
             *summary->slurm.exit ? " (exit code " : "", summary->slurm.exit,
             *summary->slurm.exit ? ")" : "");
    put("State", *summary->slurm.state ? text : "");
}

static void summary_text_put_energy(const struct summary *summary)
{
    char text[UNITS_SIZE], each[UNITS_SIZE], share[UNITS_SHARE_SIZE];

    if (isfinite(summary->energy_j)) {
        report_energy_text(text, sizeof text, summary->energy_j, summary->uncertainty_j,
                           REPORT_UNIT_AUTO);
        units_share(share, sizeof share, summary->uncertainty_j / summary->energy_j);
        printf("Energy: %s%s%s\n", text, *share ? " " : "", share);
    }
    if (isfinite(summary->mean_w)) {
        units_quantity(text, sizeof text, summary->mean_w, "W");
        units_quantity(each, sizeof each, summary->node_w, "W");
        printf("Mean power: %s", text);
        printf(summary->nodes > 1 && isfinite(summary->node_w) ? ", %s a node\n" : "\n", each);
    }
    if (isfinite(summary->measured)) {
        printf("Measured: %.1f %% of the node time", 100 * summary->measured);
        if (summary->recorded_s < RECORDED_SHARE * summary->elapsed_s &&
            summary->elapsed_s - summary->recorded_s > RECORDED_S) {
            units_duration(text, sizeof text, summary->recorded_s);
            printf(" from the first record to the last, %s", text);
        }
        putchar('\n');
    }
}

static void summary_text_put_use(const struct summary *summary)
{
    char used[32], core[32], energy[UNITS_SIZE];

    if (isfinite(summary->cpu_s) && isfinite(summary->core_s)) {
        report_elapsed_text(used, sizeof used, summary->cpu_s);
        report_elapsed_text(core, sizeof core, summary->core_s);
        printf("CPU utilized: %s\n", used);
        printf("CPU efficiency: %.2f %% of %s core time\n", 100 * summary->cpu_s / summary->core_s,
               core);
    }
    if (isfinite(summary->gpu_share)) {
        printf("GPU efficiency: %.2f %% of %.0f GPU%s\n", 100 * summary->gpu_share, summary->gpus,
               summary->gpus > 1 ? "s" : "");
    }
    if (isfinite(summary->energy_j) && summary->cpu_s > CPU_LEAST * summary->core_s) {
        units_quantity(energy, sizeof energy, summary->energy_j / (summary->cpu_s / 3600), "J");
        printf("Energy per CPU hour used: %s\n", energy);
    }
}

/* "is 12 % more than" */
static void compare_to_median(char *text, size_t size, double own, double median)
{
    double percent = 100 * (own / median - 1);

    if (!isfinite(percent)) {
        snprintf(text, size, "is not comparable to");
    } else if (fabs(percent) < 0.5) {
        snprintf(text, size, "equals");
    } else {
        snprintf(text, size, "is %.0f %% %s than", fabs(percent), percent > 0 ? "more" : "less");
    }
}

static void summary_text_put_median(const char *whose, const struct summary_program *program,
                                    const struct summary_median *median)
{
    char energy[UNITS_SIZE], power[UNITS_SIZE], energy_is[40], power_is[40], name[256];

    if (median->jobs == 0) {
        return;
    }
    units_quantity(energy, sizeof energy, median->energy_j, "J");
    units_quantity(power, sizeof power, median->node_w, "W");
    compare_to_median(energy_is, sizeof energy_is, program->energy_j, median->energy_j);
    compare_to_median(power_is, sizeof power_is, program->node_w, median->node_w);
    text_clean(name, sizeof name, program->name);
    printf("Compared with %s %zu job%s of \"%s\": energy %s the median (%s), power per node %s the "
           "median (%s)\n",
           whose, median->jobs, median->jobs == 1 ? "" : "s", name, energy_is, energy, power_is,
           power);
}

void summary_print_text(const struct summary *summary)
{
    char elapsed[32];

    summary_text_put_who(summary);
    put(summary->program.of_job ? "Job name" : "Program", summary->program.name);
    put_count("Nodes", summary->nodes);
    put_count("Cores", summary->cores);
    if (isfinite(summary->elapsed_s)) {
        report_elapsed_text(elapsed, sizeof elapsed, summary->elapsed_s);
        put("Wall-clock time", elapsed);
    }
    summary_text_put_energy(summary);
    summary_text_put_use(summary);
    summary_text_put_median("your", &summary->program, &summary->program.user);
    summary_text_put_median("the site's", &summary->program, &summary->program.site);
}
