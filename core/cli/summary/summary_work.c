/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/summary/summary.h"

static double known(double value, double otherwise)
{
    return isfinite(value) ? value : otherwise;
}

/* Steps of Slurm's own; they run no program that would compare. */
static bool is_around(const char *step)
{
    return strcmp(step, "batch") == 0 || strcmp(step, "extern") == 0 ||
           strcmp(step, "interactive") == 0;
}

/* That of the step with the highest energy. */
static void find_program(struct summary *summary)
{
    const struct show *show = &summary->show;
    struct summary_program *program = &summary->program;
    double most_j = -1;

    for (size_t i = 0; i < show->step_count; i++) {
        const struct show_step *step = &show->steps[i];

        if (!is_around(step->step) && *step->name && step->energy_j > most_j) {
            most_j = step->energy_j;
            snprintf(program->name, sizeof program->name, "%s", step->name);
        }
    }
    if (!*program->name && show->count > 0) {
        program->of_job = true;
        snprintf(program->name, sizeof program->name, "%s", show->records[0].id.job_name);
    }
}

static bool is_gpu_share(const struct apapi_event_result *result)
{
    static const char end[] = ":gpu_utilization";
    size_t size = strlen(result->event.name);

    return size > strlen(end) && strcmp(result->event.name + size - strlen(end), end) == 0;
}

/* @return percent, all GPUs of a record added up. */
static double gpu_percent(const struct apapi_record *record, size_t *gpus)
{
    const struct apapi_measurement *m = &record->measurement;
    double sum = 0;

    *gpus = 0;
    for (size_t c = 0; c < m->component_count; c++) {
        for (size_t e = 0; e < m->components[c].event_count; e++) {
            const struct apapi_event_result *result = &m->components[c].events[e];

            if (is_gpu_share(result) && isfinite(result->summary.mean)) {
                sum += result->summary.mean;
                ++*gpus;
            }
        }
    }
    return sum;
}

/* Of each node counts the longest record that has it: that of the batch script, or of the step. */
static void find_gpu_share(struct summary *summary)
{
    const struct show *show = &summary->show;
    double percent = 0, gpus = 0;

    for (size_t i = 0; i < show->count;) {
        const char *node = show->records[i].id.node;
        uint64_t longest_ns = 0;
        double of_node = 0, on_node = 0;

        for (; i < show->count && strcmp(show->records[i].id.node, node) == 0; i++) {
            const struct apapi_record *record = &show->records[i];
            size_t count;
            double sum = gpu_percent(record, &count);

            if (count > 0 && record->measurement.elapsed_ns > longest_ns) {
                longest_ns = record->measurement.elapsed_ns;
                of_node = sum;
                on_node = (double)count;
            }
        }
        percent += of_node;
        gpus += on_node;
    }
    summary->gpus = gpus;
    summary->gpu_share = gpus > 0 ? percent / 100 / gpus : NAN;
}

static void use_slurm(struct summary *summary)
{
    const struct sacct_job *slurm = &summary->slurm;

    summary->elapsed_s = known(slurm->elapsed_s, summary->elapsed_s);
    summary->nodes = slurm->nodes > 0 ? slurm->nodes : summary->nodes;
    summary->cores = slurm->cores > 0 ? slurm->cores : summary->cores;
    /* without jobacct_gather, Slurm says 0 */
    summary->cpu_s = slurm->cpu_s > 0 ? slurm->cpu_s : NAN;
    summary->core_s = slurm->core_s > 0 ? slurm->core_s : NAN;
    if (summary->show.count == 0) {
        summary->energy_j = slurm->energy_j;
        summary->uncertainty_j = slurm->uncertainty_j;
        summary->mean_w = slurm->mean_w;
        summary->measured = slurm->measured_pct / 100;
        summary->recorded_s = slurm->recorded_s;
    }
}

static void use_records(struct summary *summary)
{
    const struct apapi_job_total *total = &summary->show.total;

    summary->energy_j = total->energy_j;
    summary->uncertainty_j = total->uncertainty_j;
    summary->mean_w = total->mean_w;
    summary->node_w = total->covered_ns > 0
                          ? total->energy_j / (duration(total->covered_ns) / (double)NS_PER_S)
                          : NAN;
    summary->nodes = (double)total->job_nodes;
    summary->cores = total->cores > 0 ? (double)total->cores : NAN;
    summary->elapsed_s = summary->recorded_s = (double)total->elapsed_ns / NS_PER_S;
    summary->measured = apapi_job_measured(total, 0);
}

void summary_work_out(struct summary *summary)
{
    summary->energy_j = summary->uncertainty_j = summary->mean_w = summary->node_w = NAN;
    summary->measured = summary->nodes = summary->cores = summary->elapsed_s = NAN;
    summary->recorded_s = NAN;
    summary->cpu_s = summary->core_s = summary->gpu_share = NAN;
    summary->id = summary->show.count > 0 ? &summary->show.records[0].id : NULL;
    if (summary->show.count > 0) {
        use_records(summary);
        find_program(summary);
        find_gpu_share(summary);
    } else {
        snprintf(summary->job_id, sizeof summary->job_id, "%s", summary->slurm.job_id);
    }
    if (summary->slurm.job) {
        use_slurm(summary);
    }
}
