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
#include "cli/jobs.h"
#include "cli/show/forms.h"
#include "cli/slurm/sacct.h"
#include "cli/totals/row_fields.h"

#define REACH "30d"
#define RECORDED_SHARE 0.99 /* of the job's time: with less, the rest is worth a word ... */
#define RECORDED_S 2        /* ... if it is longer, as Slurm counts whole seconds [s] */
#define CPU_LEAST                                                                                  \
    0.1 /* used, of the core time: with less, idle power would be most of its energy */

/* Energy of jobs with one program. NaN: not known. */
struct brief_median {
    size_t jobs;
    double energy_j, node_w; /* medians: energy; mean power of a node */
};

/* The job's program, and other jobs' with the same name. */
struct brief_program {
    char name[APAPI_TEXT_SIZE]; /* "": not known */
    bool of_job; /* it is the name of the job: it has no steps but batch and extern */
    double energy_j, node_w;
    struct brief_median user, site; /* jobs 0: none, or not looked for */
};

/* A job in a few lines. NaN, "", 0: not known. */
struct brief {
    struct show_options *options;
    const char *since; /* of the jobs to compare with */
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
    struct brief_program program;
};

/* --- energy of other jobs with the same program ----------------------------------------------- */

/* A job that has run the program. */
struct peer {
    uint32_t uid;
    char user[64];
    struct apapi_job *records;
    double energy_j, node_w;
};

struct peers {
    const struct brief *brief;
    uint64_t deadline_ns;
    struct pool keys; /* of jobs, numbered as they are; the first one is the job itself */
    struct peer *list;
    size_t count, room;
};

static bool has_program(const struct brief_program *program, const struct apapi_identity *id)
{
    return strcmp(program->of_job ? id->job_name : id->name, program->name) == 0;
}

/* @return the job of a record; NULL: no memory. */
static struct peer *peer_of(struct peers *peers, const struct apapi_identity *id)
{
    char key[sizeof id->cluster + 16];
    uint32_t number;

    snprintf(key, sizeof key, "%u/%s", id->job, id->cluster);
    number = pool_put(&peers->keys, key);
    if (number == POOL_NONE) {
        return NULL;
    }
    if (number == peers->count) {
        struct peer peer = {.uid = id->uid};

        snprintf(peer.user, sizeof peer.user, "%s", id->user);
        if (array_add(&peers->list, peers->count, &peers->room, sizeof *peers->list) ||
            !(peer.records = apapi_job_create())) {
            return NULL;
        }
        peers->list[peers->count++] = peer;
    }
    return &peers->list[number];
}

static int take_peer(const struct apapi_record *record, const char *line, size_t size,
                     void *context)
{
    struct peers *peers = context;
    struct peer *peer;

    (void)line;
    (void)size;
    if (clock_monotonic_ns() > peers->deadline_ns) {
        errno = ETIMEDOUT;
        return -1;
    }
    if (!has_program(&peers->brief->program, &record->id) || record->id.job == APAPI_UNKNOWN) {
        return 0;
    }
    peer = peer_of(peers, &record->id);
    /* The job's own part is known from its own records, whenever it ran. */
    return peer == peers->list ? 0 : peer ? apapi_job_add(peer->records, record) : -1;
}

static void work_out(struct peer *peer)
{
    struct apapi_job_total total;

    peer->energy_j = peer->node_w = NAN;
    if (apapi_job_total(peer->records, &total) == 0 && total.covered_ns > 0) {
        peer->energy_j = total.energy_j;
        peer->node_w = total.energy_j / (duration(total.covered_ns) / (double)NS_PER_S);
    }
}

static double median(double *numbers, size_t count)
{
    qsort(numbers, count, sizeof *numbers, compare_double);
    return (numbers[(count - 1) / 2] + numbers[count / 2]) / 2;
}

/* @param numbers  room for two of each job */
static struct brief_median median_of(const struct peers *peers, bool of_user, double *numbers)
{
    const struct apapi_identity *id = peers->brief->id;
    struct brief_median result = {0, NAN, NAN};
    double *powers = numbers + peers->count;

    for (size_t i = 1; i < peers->count; i++) {
        const struct peer *peer = &peers->list[i];
        bool same_user = peer->uid != APAPI_UNKNOWN && id->uid != APAPI_UNKNOWN
                             ? peer->uid == id->uid
                             : *peer->user && strcmp(peer->user, id->user) == 0;

        if (isfinite(peer->energy_j) && (same_user || !of_user)) {
            numbers[result.jobs] = peer->energy_j;
            powers[result.jobs++] = peer->node_w;
        }
    }
    if (result.jobs > 0) {
        result.energy_j = median(numbers, result.jobs);
        result.node_w = median(powers, result.jobs);
    }
    return result;
}

static void compare_peers(struct peers *peers, struct brief_program *program,
                          struct report_input *input)
{
    const struct show *show = peers->brief->show;
    struct peer *own = peer_of(peers, peers->brief->id);
    double *numbers;

    for (size_t i = 0; i < show->count && own; i++) {
        if (has_program(program, &show->records[i].id) &&
            apapi_job_add(own->records, &show->records[i])) {
            return;
        }
    }
    if (!own) {
        return;
    }
    work_out(own);
    program->energy_j = own->energy_j;
    program->node_w = own->node_w;
    if (report_input_read(input, take_peer, peers) == EXIT_SUCCESS &&
        (numbers = calloc(2 * peers->count, sizeof *numbers))) {
        for (size_t i = 1; i < peers->count; i++) {
            work_out(&peers->list[i]);
        }
        program->user = median_of(peers, true, numbers);
        if (!input->own) {
            program->site = median_of(peers, false, numbers);
        }
        free(numbers);
    }
}

/* Without FILEs only jobs of these days; what a pipe had is gone. */
static void compare(struct brief *brief)
{
    struct report_input input = brief->options->input;
    struct peers peers = {.brief = brief,
                          .deadline_ns = clock_monotonic_ns() + brief->options->limit_ns};

    for (size_t i = 0; i < input.file_count; i++) {
        if (strcmp(input.files[i], "-") == 0) {
            return;
        }
    }
    input.jobs = NULL;
    input.quiet = 2;
    input.from_text = brief->since || input.file_count > 0 ? brief->since : REACH;
    if (*brief->program.name) {
        brief->program.energy_j = brief->program.node_w = NAN;
        compare_peers(&peers, &brief->program, &input);
    }
    for (size_t i = 0; i < peers.count; i++) {
        apapi_job_destroy(peers.list[i].records);
    }
    free(peers.list);
    pool_free(&peers.keys);
}

/* --- what a job used -------------------------------------------------------------------------- */

/* That of the step with the highest energy. Slurm's own steps run none that would compare. */
static void find_program(struct brief *brief)
{
    const struct show *show = brief->show;
    struct brief_program *program = &brief->program;
    double most_j = -1;

    for (size_t i = 0; i < show->step_count; i++) {
        const struct show_step *step = &show->steps[i];

        if (strcmp(step->step, "batch") != 0 && strcmp(step->step, "extern") != 0 &&
            strcmp(step->step, "interactive") != 0 && *step->name && step->energy_j > most_j) {
            most_j = step->energy_j;
            snprintf(program->name, sizeof program->name, "%s", step->name);
        }
    }
    if (!*program->name) {
        program->of_job = true;
        snprintf(program->name, sizeof program->name, "%s", show->records[0].id.job_name);
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
    put(brief->program.of_job ? "Job name" : "Program", brief->program.name);
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

static void brief_put_median(const char *whose, const struct brief_program *program,
                             const struct brief_median *median)
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
           whose, median->jobs, text_plural(median->jobs), name, energy_is, energy, power_is,
           power);
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

static void brief_json_median(struct json_writer *json, const char *key,
                              const struct brief_median *median)
{
    if (median->jobs > 0) {
        json_begin_object(json, key);
        json_put_count(json, "jobs", median->jobs);
        json_put_number(json, "energy_j", median->energy_j, JSON_MEASURED);
        json_put_number(json, "node_w", median->node_w, JSON_MEASURED);
        json_end(json);
    }
}

static int brief_print(const struct brief *brief)
{
    struct json_writer json = {.out = stdout};
    const struct brief_program *program = &brief->program;

    if (!brief->options->json) {
        brief_put_job(brief);
        brief_put_energy(brief);
        brief_put_median("your", program, &program->user);
        brief_put_median("the site's", program, &program->site);
        return 0;
    }
    json_begin_object(&json, NULL);
    brief_json_job(&json, brief);
    if (*program->name) {
        json_begin_object(&json, program->of_job ? "job_name" : "program");
        json_put_text(&json, "name", program->name);
        json_put_number(&json, "energy_j", program->energy_j, JSON_MEASURED);
        json_put_number(&json, "node_w", program->node_w, JSON_MEASURED);
        brief_json_median(&json, "user_median", &program->user);
        brief_json_median(&json, "site_median", &program->site);
        json_end(&json);
    }
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
    const struct report_input *input = &brief->options->input;
    const struct sacct_query query = {.jobs = input->jobs,
                                      .clusters = input->clusters,
                                      .steps = true,
                                      .deadline_ns =
                                          clock_monotonic_ns() + brief->options->limit_ns};
    struct apapi_error err;

    brief->slurm.job = 0;
    if (sacct_read(&query, take_slurm, brief, &err)) {
        brief->slurm.job = 0;
        if (errno == E2BIG) {
            brief->several = true;
        } else if (errno != ENOENT && input->verbose) {
            command_fail(input->command, err.text);
        }
    }
}

/* @return 0; the exit status after a message: then there is nothing to wait for. */
static int look(struct brief *brief)
{
    struct show_options *options = brief->options;
    struct report_input input = options->input;
    int status;

    options->show.job = (uint32_t)strtoul(input.jobs, NULL, 10);
    input.quiet = 1; /* Slurm's accounting may know the job */
    status = report_input_read(&input, show_add, &options->show);
    if (status == USAGE_ERROR) {
        return report_input_read(&options->input, show_add, &options->show);
    }
    if (options->show.count > 0) {
        if (show_choose(&options->show, input.command, brief->job_id, sizeof brief->job_id)) {
            return EXIT_FAILURE;
        }
        if (show_work_out(&options->show)) {
            return command_fail(input.command, "no memory");
        }
    }
    ask_slurm(brief);
    brief_work_out(brief);
    return 0;
}

static int brief_run(void *context)
{
    struct brief *brief = context;
    struct show_options *options = brief->options;
    const char *command = options->input.command;
    const struct timespec pause = {.tv_sec = 1};
    uint64_t end_ns = clock_monotonic_ns() + options->wait_ns;
    int status = look(brief);

    /* Slurm's accounting gets the energy of a job some time after its end: see apapi-sync(8). */
    while (status == 0 && !isfinite(brief->energy_j) && !brief->several &&
           clock_monotonic_ns() < end_ns) {
        nanosleep(&pause, NULL);
        show_free(&options->show);
        status = look(brief);
    }
    if (status) {
        return status;
    }
    if (options->show.count == 0 && brief->several) {
        return command_fail(command, "several jobs match: name one, as 17_3 of an array");
    }
    if (options->show.count == 0 && !isfinite(brief->energy_j)) { /* say why there is no record */
        status = report_input_read(&options->input, show_add, &options->show);
        return status ? status : command_fail(command, "no record of this job found");
    }
    if (!options->alone && options->show.count > 0) {
        compare(brief);
    }
    return brief_print(brief) ? command_fail(command, "no memory")
                              : command_finish(command, EXIT_SUCCESS);
}

int show_brief(struct show_options *options)
{
    struct report_input *input = &options->input;
    struct brief brief = {.options = options, .show = &options->show, .since = input->from_text};
    struct apapi_error err;
    struct job_list jobs;
    int status = 0;

    input->from_text = NULL;
    if (strpbrk(input->jobs, ",._*") && !strchr(input->jobs, '_')) {
        return command_refuse(input->command, "JOB is one job, as 17, 17_3 of an array or 17+1");
    }
    if (job_list_parse(input->jobs, &jobs, &err)) {
        status = command_refuse(input->command, err.text);
    }
    job_list_free(&jobs);
    return status ? status : report_input_run(input, brief_run, &brief);
}
