/* SPDX-License-Identifier: BSD-3-Clause */
/* A job in a few lines, as seff, see apapi-show(1). */
#include <errno.h>
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
#include "cli/slurm/sacct.h"
#include "cli/totals/row_fields.h"

#define SLURM_S 2           /* for its accounting */
#define RECORDED_SHARE 0.99 /* of the job's time: with less, the rest is worth a word ... */
#define RECORDED_S 2        /* ... if it is longer, as Slurm counts whole seconds [s] */
#define CPU_LEAST                                                                                  \
    0.1 /* used, of the core time: with less, idle power would be most of its energy */

/* A job in a few lines. NaN, "", 0: not known. */
struct brief {
    struct show_options *options;
    struct show *show; /* its records; count 0: there are none to read */
    char job_id[64];
    const struct apapi_identity *id; /* of a record, or unknown */
    struct sacct_job slurm;          /* job 0: Slurm's accounting does not say, or not in time */
    bool several;                    /* Slurm knows several jobs of this number */
    double energy_j, uncertainty_j, mean_w, node_w, measured;
    double nodes, cores, elapsed_s;
    double recorded_s; /* the time that `measured` is a share of, on each node */
    double cpu_s, core_s;
    double gpus, gpu_share; /* of the time in which a kernel ran */
    char program[APAPI_TEXT_SIZE];
    bool of_job; /* that is the name of the job: it has no steps but batch and extern */
};

/* --- what a job used -------------------------------------------------------------------------- */

/* That of the step with the highest energy. Slurm's own steps run none. */
static void find_program(struct brief *brief)
{
    const struct show *show = brief->show;
    double most_j = -1;

    for (size_t i = 0; i < show->step_count; i++) {
        const struct show_step *step = &show->steps[i];

        if (strcmp(step->step, "batch") != 0 && strcmp(step->step, "extern") != 0 &&
            strcmp(step->step, "interactive") != 0 && *step->name && step->used.energy_j > most_j) {
            most_j = step->used.energy_j;
            snprintf(brief->program, sizeof brief->program, "%s", step->name);
        }
    }
    if (!*brief->program) {
        brief->of_job = true;
        snprintf(brief->program, sizeof brief->program, "%s", show->records[0].id.job_name);
    }
}

/* @return percent, all GPUs of a record added up. */
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

/* Of each node counts the longest record that has it: that of the batch script, or of the step. */
static void find_gpu_share(struct brief *brief)
{
    const struct show *show = brief->show;
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
    brief->gpus = gpus;
    brief->gpu_share = gpus > 0 ? percent / 100 / gpus : NAN;
}

static void use_records(struct brief *brief)
{
    const struct apapi_job_total *total = &brief->show->total;

    brief->id = &brief->show->records[0].id;
    brief->energy_j = total->energy_j;
    brief->uncertainty_j = total->uncertainty_j;
    brief->mean_w = total->mean_w;
    if (total->covered_ns > 0) {
        brief->node_w = total->energy_j / (duration(total->covered_ns) / (double)NS_PER_S);
    }
    brief->nodes = (double)total->job_nodes;
    brief->cores = total->cores > 0 ? (double)total->cores : NAN;
    brief->elapsed_s = brief->recorded_s = (double)total->elapsed_ns / NS_PER_S;
    brief->measured = apapi_job_measured(total, 0);
    find_program(brief);
    find_gpu_share(brief);
}

static void brief_work_out(struct brief *brief)
{
    static const struct apapi_identity none = APAPI_IDENTITY_UNKNOWN;
    const struct sacct_job *slurm = &brief->slurm;

    brief->energy_j = brief->uncertainty_j = brief->mean_w = brief->node_w = NAN;
    brief->measured = brief->nodes = brief->cores = brief->elapsed_s = brief->recorded_s = NAN;
    brief->cpu_s = brief->core_s = brief->gpu_share = NAN;
    brief->id = &none;
    if (brief->show->count > 0) {
        use_records(brief);
    } else {
        snprintf(brief->job_id, sizeof brief->job_id, "%s", slurm->job_id);
    }
    if (!slurm->job) {
        return;
    }
    brief->elapsed_s = isfinite(slurm->elapsed_s) ? slurm->elapsed_s : brief->elapsed_s;
    brief->nodes = slurm->nodes > 0 ? slurm->nodes : brief->nodes;
    brief->cores = slurm->cores > 0 ? slurm->cores : brief->cores;
    /* without jobacct_gather, Slurm says 0 */
    brief->cpu_s = slurm->cpu_s > 0 ? slurm->cpu_s : NAN;
    brief->core_s = slurm->core_s > 0 ? slurm->core_s : NAN;
    if (brief->show->count == 0) {
        brief->energy_j = slurm->energy_j;
        brief->uncertainty_j = slurm->uncertainty_j;
        brief->mean_w = slurm->mean_w;
        brief->measured = slurm->measured_pct / 100;
        brief->recorded_s = slurm->recorded_s;
    }
}

static const char *either(const char *text, const char *otherwise)
{
    return *text ? text : otherwise;
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
    const struct sacct_job *slurm = &brief->slurm;
    const char *user = either(brief->id->user, slurm->user);
    const char *account = either(slurm->account, brief->id->account);
    char text[256];

    put("Job ID", brief->job_id);
    put("Cluster", either(brief->id->cluster, slurm->cluster));
    snprintf(text, sizeof text, "%s%s%s", user, *account ? "/" : "", account);
    put(*account ? "User/Account" : "User", text);
    snprintf(text, sizeof text, "%s%s%s%s", slurm->state, *slurm->exit ? " (exit code " : "",
             slurm->exit, *slurm->exit ? ")" : "");
    put("State", *slurm->state ? text : "");
    put(brief->of_job ? "Job name" : "Program", brief->program);
    if (isfinite(brief->nodes)) {
        printf("Nodes: %.0f\n", brief->nodes);
    }
    if (isfinite(brief->cores)) {
        printf("Cores: %.0f\n", brief->cores);
    }
    if (isfinite(brief->elapsed_s)) {
        report_elapsed_text(text, sizeof text, brief->elapsed_s);
        put("Wall-clock time", text);
    }
}

static void brief_put_energy(const struct brief *brief)
{
    char text[UNITS_SIZE + UNITS_SHARE_SIZE], each[UNITS_SIZE];

    if (isfinite(brief->energy_j)) {
        units_known_quantity(text, sizeof text, brief->energy_j, brief->uncertainty_j, "J");
        units_beside(text, sizeof text, brief->uncertainty_j / brief->energy_j, false);
        printf("Energy: %s\n", text);
    }
    if (isfinite(brief->mean_w)) {
        units_quantity(text, sizeof text, brief->mean_w, "W");
        units_quantity(each, sizeof each, brief->node_w, "W");
        printf("Mean power: %s", text);
        printf(brief->nodes > 1 && isfinite(brief->node_w) ? ", %s a node\n" : "\n", each);
    }
    if (isfinite(brief->measured)) {
        printf("Measured: %.1f %% of the node time", 100 * brief->measured);
        if (brief->recorded_s < RECORDED_SHARE * brief->elapsed_s &&
            brief->elapsed_s - brief->recorded_s > RECORDED_S) {
            units_duration(text, sizeof text, brief->recorded_s);
            printf(" from the first record to the last, %s", text);
        }
        putchar('\n');
    }
    if (isfinite(brief->cpu_s) && isfinite(brief->core_s)) {
        report_elapsed_text(text, sizeof text, brief->cpu_s);
        report_elapsed_text(each, sizeof each, brief->core_s);
        printf("CPU utilized: %s\nCPU efficiency: %.2f %% of %s core time\n", text,
               100 * brief->cpu_s / brief->core_s, each);
    }
    if (isfinite(brief->gpu_share)) {
        printf("GPU efficiency: %.2f %% of %.0f GPU%s\n", 100 * brief->gpu_share, brief->gpus,
               brief->gpus > 1 ? "s" : "");
    }
    if (isfinite(brief->energy_j) && brief->cpu_s > CPU_LEAST * brief->core_s) {
        units_quantity(text, sizeof text, brief->energy_j / (brief->cpu_s / 3600), "J");
        printf("Energy per CPU hour used: %s\n", text);
    }
}

/* --- JSON, described in apapi-show(1) --------------------------------------------------------- */

static void brief_json_whole(struct json_writer *json, const char *key, double count)
{
    if (isfinite(count)) {
        json_put_count(json, key, (uint64_t)count);
    }
}

static void brief_json_job(struct json_writer *json, const struct brief *brief)
{
    const struct sacct_job *slurm = &brief->slurm;

    json_put_text(json, "job", brief->job_id);
    json_put_word(json, "cluster", either(brief->id->cluster, slurm->cluster));
    json_put_word(json, "user", either(brief->id->user, slurm->user));
    json_put_word(json, "account", either(slurm->account, brief->id->account));
    json_put_word(json, "state", slurm->state);
    json_put_word(json, "exit", slurm->exit);
    brief_json_whole(json, "nodes", brief->nodes);
    brief_json_whole(json, "cores", brief->cores);
    json_put_number(json, "elapsed_s", brief->elapsed_s, JSON_MEASURED);
    json_put_number(json, "energy_j", brief->energy_j, JSON_MEASURED);
    json_put_number(json, "uncertainty_j", brief->uncertainty_j, JSON_MEASURED);
    json_put_number(json, "mean_w", brief->mean_w, JSON_MEASURED);
    json_put_number(json, "node_w", brief->node_w, JSON_MEASURED);
    json_put_number(json, "measured", brief->measured, JSON_MEASURED);
    json_put_number(json, "recorded_s", brief->recorded_s, JSON_MEASURED);
    if (isfinite(brief->cpu_s) && isfinite(brief->core_s)) {
        json_begin_object(json, "cpu");
        json_put_number(json, "used_s", brief->cpu_s, JSON_MEASURED);
        json_put_number(json, "core_s", brief->core_s, JSON_MEASURED);
        json_put_number(json, "efficiency", brief->cpu_s / brief->core_s, JSON_MEASURED);
        json_put_number(json, "j_per_used_hour", brief->energy_j / brief->cpu_s * 3600,
                        JSON_MEASURED);
        json_end(json);
    }
    if (isfinite(brief->gpu_share)) {
        json_begin_object(json, "gpu");
        brief_json_whole(json, "gpus", brief->gpus);
        json_put_number(json, "efficiency", brief->gpu_share, JSON_MEASURED);
        json_end(json);
    }
}

static int brief_print(const struct brief *brief)
{
    struct json_writer json = {.out = stdout};

    if (!brief->options->json) {
        brief_put_job(brief);
        brief_put_energy(brief);
        return 0;
    }
    json_begin_object(&json, NULL);
    brief_json_job(&json, brief);
    json_put_word(&json, brief->of_job ? "job_name" : "program", brief->program);
    json_end(&json);
    return json_finish(&json);
}

/* --- records and Slurm ------------------------------------------------------------------------ */

/* Records and Slurm's accounting may be of different clusters. */
static bool is_of_records(const struct show *show, const struct sacct_job *job)
{
    for (size_t i = 0; i < show->count; i++) {
        const struct apapi_identity *id = &show->records[i].id;

        if (id->job == job->job && (!*id->cluster || strcmp(id->cluster, job->cluster) == 0) &&
            (!*id->user || strcmp(id->user, job->user) == 0)) {
            return true;
        }
    }
    return show->count == 0;
}

static int take_slurm(const struct sacct_job *job, void *context)
{
    struct brief *brief = context;
    struct sacct_job *sum = &brief->slurm;

    if (!is_of_records(brief->show, job)) {
        return 0;
    }
    if (!sum->job) {
        *sum = *job;
        return 0;
    }
    if (!strchr(job->job_id, '+') || !strchr(sum->job_id, '+')) {
        errno = E2BIG; /* tasks of an array */
        return -1;
    }
    /* Components of a heterogeneous job run at the same time. */
    sum->elapsed_s = fmax(sum->elapsed_s, job->elapsed_s);
    sum->nodes += job->nodes;
    sum->cores += job->cores;
    sum->core_s += job->core_s;
    sum->cpu_s += job->cpu_s;
    sum->energy_j += job->energy_j;
    sum->uncertainty_j += job->uncertainty_j;
    sum->mean_w += job->mean_w;
    sum->measured_pct = fmin(sum->measured_pct, job->measured_pct);
    return 0;
}

static void ask_slurm(struct brief *brief)
{
    const struct query *query = &brief->options->query;
    const struct sacct_query wanted = {query->jobs, query->clusters, SLURM_S};
    struct apapi_error err;

    brief->slurm.job = 0;
    if (sacct_read(&wanted, take_slurm, brief, &err)) {
        brief->slurm.job = 0;
        if (errno == E2BIG) {
            brief->several = true;
        } else if (errno != ENOENT && query->verbose) {
            command_fail(query->command, "%s", err.text);
        }
    }
}

/* @return 0; the exit status after a message: then there is nothing to wait for. */
static int look(struct brief *brief)
{
    struct query *query = &brief->options->query;
    struct show *show = brief->show;

    show_free(show);
    show->job = query->job_list.jobs[0];
    query->quiet = true; /* Slurm's accounting may know the job */
    records_read(query, show_add, show);
    if (show->count > 0) {
        if (show_choose(show, query->command, brief->job_id, sizeof brief->job_id)) {
            return EXIT_FAILURE;
        }
        if (show_work_out(show)) {
            return command_fail(query->command, "no memory");
        }
    }
    ask_slurm(brief);
    brief_work_out(brief);
    return 0;
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
    /* Slurm's accounting gets the energy of a job some time after its end: see apapi-sync(8). */
    while (status == 0 && !isfinite(brief.energy_j) && !brief.several &&
           clock_monotonic_ns() < end_ns) {
        nanosleep(&pause, NULL);
        status = look(&brief);
    }
    if (status) {
        return status;
    }
    if (options->show.count == 0 && brief.several) {
        return command_fail(query->command, "several jobs match: name one, as 17_3 of an array");
    }
    if (options->show.count == 0 && !isfinite(brief.energy_j)) { /* say why there is no record */
        query->quiet = false;
        status = records_read(query, show_add, &options->show);
        return status ? status : command_fail(query->command, "no record of this job found");
    }
    return command_end(query->command, brief_print(&brief));
}
