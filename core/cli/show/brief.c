/* SPDX-License-Identifier: BSD-3-Clause */
/* A job in a few lines, as seff prints it; see apapi-show(1). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/names.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/show/forms.h"
#include "sum/members.h"

#define RECORDED_SHARE 0.99 /* of the job's time: with less, the rest is mentioned ... */
#define RECORDED_S 2        /* ... if it is longer than this, as Slurm counts whole seconds [s] */
#define CPU_LEAST                                                                                  \
    0.1 /* share of core time used: with less, most of the energy would be idle power */

/* --- a job in a few lines --------------------------------------------------------------------- */

/*
 * A job in a few lines: times come from Slurm's accounting, energy from records. NaN, "", 0: not
 * known.
 */
struct brief {
    struct show_options *options;
    struct show *show;    /* records of the job; count 0: no record can be read */
    struct sacct_job job; /* job.job is 0 if Slurm's accounting did not answer, or not in time */
    bool several;         /* Slurm knows several jobs of this number */
    char why[SACCT_WHY_SIZE]; /* why Slurm's accounting does not know the job; "": it does */
    double node_w;
    uint64_t gpus;
    double gpu_share; /* share of the time in which a GPU ran a kernel */
    char program[APAPI_TEXT_SIZE];
    char job_name[APAPI_TEXT_SIZE]; /* set instead of `program` if only batch and extern ran */
};

/* --- what a job used -------------------------------------------------------------------------- */

/* Find the program of the step with the highest energy. Slurm's own steps run no program. */
static void find_program(struct brief *brief)
{
    const struct show *show = brief->show;
    double most_j = -1;

    for (size_t i = 0; i < show->step_count; i++) {
        const struct show_part *step = &show->steps[i];

        if (!step_is(step->name, "batch") && !step_is(step->name, "extern") &&
            !step_is(step->name, "interactive") && *step->program && step->used.energy_j > most_j) {
            most_j = step->used.energy_j;
            snprintf(brief->program, sizeof brief->program, "%s", step->program);
        }
    }
    if (!*brief->program) {
        snprintf(brief->job_name, sizeof brief->job_name, "%s",
                 show_record_at(show, 0)->id.job_name);
    }
}

/* @return the GPU utilization, added up over all GPUs of a record [percent] */
static double gpu_percent(const struct apapi_record *record, size_t *gpus)
{
    static const char end[] = ":gpu_utilization";
    const struct apapi_measurement *m = &record->measurement;
    double sum = 0;

    *gpus = 0;
    for (size_t c = 0; c < m->component_count; c++) {
        for (size_t e = 0; e < m->components[c].event_count; e++) {
            const struct apapi_event_result *result = &m->components[c].events[e];
            size_t size = strlen(result->event.name);

            if (size > strlen(end) && strcmp(result->event.name + size - strlen(end), end) == 0 &&
                isfinite(result->summary.mean)) {
                sum += result->summary.mean;
                ++*gpus;
            }
        }
    }
    return sum;
}

/* On each node, the longest record with GPUs counts: the batch script's, or the step's. */
static void find_gpu_share(struct brief *brief)
{
    const struct show *show = brief->show;
    double percent = 0;

    brief->gpus = 0;
    for (size_t i = 0; i < show->entries.count;) {
        const char *node = show->entries.list[i].node;
        uint64_t longest_ns = 0;
        double of_node = 0;
        size_t on_node = 0;

        for (; i < show->entries.count && show->entries.list[i].node == node; i++) {
            const struct apapi_record *record = show_record_at(show, i);
            size_t count;
            double sum = gpu_percent(record, &count);

            if (count > 0 && record->measurement.elapsed_ns > longest_ns) {
                longest_ns = record->measurement.elapsed_ns;
                of_node = sum;
                on_node = count;
            }
        }
        percent += of_node;
        brief->gpus += on_node;
    }
    brief->gpu_share = brief->gpus > 0 ? percent / 100 / (double)brief->gpus : NAN;
}

static void prefer(char *text, size_t size, const char *known)
{
    if (*known) {
        snprintf(text, size, "%s", known);
    }
}

static void use_records(struct brief *brief)
{
    const struct apapi_job_total *total = &brief->show->total;
    const struct apapi_identity *id = &show_record_at(brief->show, 0)->id;
    struct sacct_job *job = &brief->job;

    prefer(job->cluster, sizeof job->cluster, id->cluster);
    prefer(job->user, sizeof job->user, id->user);
    prefer(job->account, sizeof job->account, *job->account ? "" : id->account);
    job->recorded_s = (double)total->elapsed_ns / NS_PER_S;
    job->elapsed_s = isfinite(job->elapsed_s) ? job->elapsed_s : job->recorded_s;
    job->nodes = job->nodes ? job->nodes : total->job_nodes;
    job->cores = job->cores ? job->cores : total->cores;
    job->energy_j = total->energy_j;
    job->lacking = 0;
    job->uncertainty_j = total->uncertainty_j;
    job->mean_w = total->mean_w;
    job->measured = apapi_job_measured(total, 0);
    if (total->covered_ns > 0) {
        brief->node_w = total->energy_j / (duration(total->covered_ns) / (double)NS_PER_S);
    }
    find_program(brief);
    find_gpu_share(brief);
}

/* --- text, in the manner of seff: what is not known has no line ------------------------------- */

static void put(const char *name, const char *value)
{
    char clean[512];

    if (*value) {
        text_clean(clean, sizeof clean, value);
        printf("%s: %s\n", name, clean);
    }
}

static void brief_put_job(const struct brief *brief)
{
    const struct sacct_job *job = &brief->job;
    char text[256];

    put("Job ID", job->job_id);
    put("Cluster", job->cluster);
    snprintf(text, sizeof text, "%s%s%s", job->user, *job->account ? "/" : "", job->account);
    put(*job->account ? "User/Account" : "User", text);
    snprintf(text, sizeof text,
             sacct_goes_on(job) ? "%s: the figures are of its steps that have ended"
             : *job->exit       ? "%s (exit code %s)"
                                : "%s",
             job->state, job->exit);
    put("State", *job->state ? text : "");
    put("Program", brief->program);
    put("Job name", brief->job_name);
    if (job->nodes > 0) {
        printf("Nodes: %" PRIu64 "\n", job->nodes);
    }
    if (job->cores > 0) {
        printf("Cores: %" PRIu64 "\n", job->cores);
    }
    put("Wall-clock time", isfinite(job->elapsed_s) ? elapsed_text(job->elapsed_s).text : "");
}

static void brief_put_energy(const struct brief *brief)
{
    const struct sacct_job *job = &brief->job;
    /* without jobacct_gather, Slurm reports a CPU time of 0 */
    double efficiency = job->cpu_s > 0 ? job->cpu_s / job->core_s : (double)NAN;
    size_t runs = brief->show->total.runs;

    if (isfinite(job->energy_j)) {
        printf("Energy: %s", units_energy(job->energy_j, job->uncertainty_j, false).text);
        if (job->lacking > 0) {
            printf(" of %u of %u components", job->components - job->lacking, job->components);
        }
        printf(runs > 1 ? " of %zu runs, %s\n" : "\n", runs, elapsed_text(job->recorded_s).text);
    }
    if (isfinite(job->mean_w)) {
        printf("Mean power: %s", units_quantity(job->mean_w, "W").text);
        printf(job->nodes > 1 && isfinite(brief->node_w) ? ", %s a node\n" : "\n",
               units_quantity(brief->node_w, "W").text);
    }
    if (isfinite(job->measured)) {
        printf("Measured: %.1f %% of the node time", floor(job->measured * 1000 + 1e-6) / 10);
        if (job->recorded_s < RECORDED_SHARE * job->elapsed_s &&
            job->elapsed_s - job->recorded_s > RECORDED_S) {
            printf(" from the first record to the last, %s", units_duration(job->recorded_s).text);
        }
        putchar('\n');
    }
    if (isfinite(efficiency)) {
        printf("CPU utilized: %s\nCPU efficiency: %.2f %% of %s core time\n",
               elapsed_text(job->cpu_s).text, 100 * efficiency, elapsed_text(job->core_s).text);
    }
    if (isfinite(brief->gpu_share)) {
        printf("GPU efficiency: %.2f %% of %" PRIu64 " GPU%s\n", 100 * brief->gpu_share,
               brief->gpus, text_plural(brief->gpus));
    }
    if (isfinite(job->energy_j) && efficiency > CPU_LEAST && runs <= 1 && job->lacking == 0) {
        printf("Energy per CPU hour used: %s\n",
               units_quantity(job->energy_j / job->cpu_s * 3600, "J").text);
    }
}

/* --- records and Slurm ------------------------------------------------------------------------ */

/* Read records, and ask Slurm. @return 0; the exit status after a message: then do not wait. */
static int look(struct brief *brief)
{
    struct query *query = &brief->options->query;
    struct show *show = brief->show;
    struct sacct_job *job = &brief->job;

    show_free(show);
    show->job = query->job_list.jobs[0];
    query->quiet = true; /* Slurm's accounting may know the job */
    records_read(query, show_add, show);
    if (show->count > 0 && show_choose(show, query)) {
        return EXIT_FAILURE;
    }
    brief->several = sacct_ask(query, show, job, brief->why);
    brief->node_w = brief->gpu_share = NAN;
    if (show->count > 0) {
        strcpy(job->job_id, show->id);
        use_records(brief);
    }
    return 0;
}

int show_fail_going(const char *command, const struct sacct_job *job)
{
    return command_fail(
        command, "no record of this job found: it is %s, and a step has its record at its end",
        job->state);
}

int show_brief(struct show_options *options)
{
    struct query *query = &options->query;
    struct brief brief = {.options = options, .show = &options->show};
    const struct timespec pause = {.tv_sec = 1};
    uint64_t end_ns = clock_monotonic_ns() + options->wait_ns;
    int status;

    if (query->job_list.count > 1 || *query->job_list.requests->step) {
        return command_refuse(query->command, "JOB is one job, as 17, 17_3 of an array or 17+1");
    }
    status = look(&brief);
    /* Slurm's accounting hears of a job's end, and gets its energy, later: see apapi-sync(8). */
    while (status == 0 && (!isfinite(brief.job.energy_j) || sacct_goes_on(&brief.job)) &&
           !brief.several && clock_monotonic_ns() < end_ns) {
        nanosleep(&pause, NULL);
        status = look(&brief);
    }
    if (status) {
        return status;
    }
    if (query->verbose && *brief.why && !brief.several) {
        command_fail(query->command, "%s", brief.why);
    }
    if (options->show.count == 0 && brief.several) {
        return command_fail(query->command, "several jobs match: name one, as 17_3 of an array");
    }
    if (options->show.count == 0 &&
        !isfinite(brief.job.energy_j)) { /* say why there is no record */
        if (sacct_goes_on(&brief.job)) {
            return show_fail_going(query->command, &brief.job);
        }
        query->quiet = false;
        status = records_read(query, show_add, &options->show);
        return status ? status : command_fail(query->command, "no record of this job found");
    }
    brief_put_job(&brief);
    brief_put_energy(&brief);
    return command_finish(query->command, EXIT_SUCCESS);
}
