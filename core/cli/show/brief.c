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
#include "cli/job/job.h"
#include "cli/jobs.h"
#include "cli/records/input.h"
#include "cli/show/forms.h"
#include "cli/slurm/sacct.h"
#include "cli/totals/row_fields.h"

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
    struct show show; /* its records; count 0: there are none to read */
    char job_id[64];
    const struct apapi_identity *id; /* of a record; NULL: none */
    struct sacct_job slurm;          /* job 0: Slurm's accounting does not say, or not in time */
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
    uint32_t job, uid;
    char cluster[64], user[64];
    struct apapi_job *records;
    double energy_j, node_w;
};

struct peers {
    const struct brief *brief;
    uint64_t deadline_ns;
    struct peer *list;
    size_t count, room;
    size_t *slots; /* a hash table of indices + 1; 0: free */
    size_t slot_count;
};

static bool has_program(const struct brief_program *program, const struct apapi_identity *id)
{
    return strcmp(program->of_job ? id->job_name : id->name, program->name) == 0;
}

static bool is_job(const struct peer *peer, uint32_t job, const char *cluster)
{
    return peer->job == job && strcmp(peer->cluster, cluster) == 0;
}

static size_t slot_of(const struct peers *peers, uint32_t job, const char *cluster)
{
    size_t slot = (job * (size_t)2654435761U) & (peers->slot_count - 1);

    while (peers->slots[slot] && !is_job(&peers->list[peers->slots[slot] - 1], job, cluster)) {
        slot = (slot + 1) & (peers->slot_count - 1);
    }
    return slot;
}

static int grow_slots(struct peers *peers)
{
    size_t count = peers->slot_count ? 2 * peers->slot_count : 1024;
    size_t *slots = calloc(count, sizeof *slots);

    if (!slots) {
        return -1;
    }
    free(peers->slots);
    peers->slots = slots;
    peers->slot_count = count;
    for (size_t i = 0; i < peers->count; i++) {
        peers->slots[slot_of(peers, peers->list[i].job, peers->list[i].cluster)] = i + 1;
    }
    return 0;
}

/* @return the job of a record; NULL: no memory. */
static struct peer *peer_of(struct peers *peers, const struct apapi_identity *id)
{
    size_t slot;

    if (2 * peers->count >= peers->slot_count && grow_slots(peers)) {
        return NULL;
    }
    slot = slot_of(peers, id->job, id->cluster);
    if (!peers->slots[slot]) {
        struct apapi_job *records = NULL;

        if (array_add(&peers->list, peers->count, &peers->room, sizeof *peers->list) ||
            !(records = apapi_job_create())) {
            return NULL;
        }
        peers->list[peers->count] =
            (struct peer){.job = id->job, .uid = id->uid, .records = records};
        strcpy(peers->list[peers->count].cluster, id->cluster);
        strcpy(peers->list[peers->count].user, id->user);
        peers->slots[slot] = ++peers->count;
    }
    return &peers->list[peers->slots[slot] - 1];
}

static int take(const struct apapi_record *record, const char *line, size_t size, void *context)
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
    return peer ? apapi_job_add(peer->records, record) : -1;
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

static bool is_same_user(const struct peer *a, const struct apapi_identity *b)
{
    return a->uid != APAPI_UNKNOWN && b->uid != APAPI_UNKNOWN
               ? a->uid == b->uid
               : *a->user && strcmp(a->user, b->user) == 0;
}

/* @param numbers  room for two of each job */
static struct brief_median median_of(const struct peers *peers, const struct apapi_identity *id,
                                     bool of_user, double *numbers)
{
    struct brief_median result = {0, NAN, NAN};
    double *powers = numbers + peers->count;

    for (size_t i = 0; i < peers->count; i++) {
        const struct peer *peer = &peers->list[i];

        if (isfinite(peer->energy_j) && !is_job(peer, id->job, id->cluster) &&
            (!of_user || is_same_user(peer, id))) {
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

static void evaluate(struct peers *peers, struct brief *brief, bool site)
{
    double *numbers = calloc(2 * peers->count + 1, sizeof *numbers);

    for (size_t i = 0; i < peers->count; i++) {
        work_out(&peers->list[i]);
    }
    if (numbers) {
        brief->program.user = median_of(peers, brief->id, true, numbers);
        brief->program.site =
            site ? median_of(peers, brief->id, false, numbers) : (struct brief_median){0};
    }
    free(numbers);
}

/* The job's own part is known from its own records, whenever it ran. */
static void work_out_own(struct brief *brief)
{
    struct peer own = {.records = apapi_job_create()};
    int failed = own.records ? 0 : -1;

    for (size_t i = 0; i < brief->show.count && !failed; i++) {
        if (has_program(&brief->program, &brief->show.records[i].id)) {
            failed = apapi_job_add(own.records, &brief->show.records[i]);
        }
    }
    brief->program.energy_j = brief->program.node_w = NAN;
    if (!failed) {
        work_out(&own);
        brief->program.energy_j = own.energy_j;
        brief->program.node_w = own.node_w;
    }
    apapi_job_destroy(own.records);
}

/*
 * Compare the job's program with that of other jobs.
 * @param input        where these are read; whose are left out is up to it
 * @param deadline_ns  CLOCK_MONOTONIC: if they are not read then, nothing is known of them
 */
static void brief_compare(struct brief *brief, const struct report_input *input,
                          uint64_t deadline_ns)
{
    struct peers peers = {.brief = brief, .deadline_ns = deadline_ns};
    size_t left_out;

    if (!*brief->program.name) {
        return;
    }
    work_out_own(brief);
    if (report_input_read(input, take, &peers, &left_out) == EXIT_SUCCESS) {
        evaluate(&peers, brief, !input->own);
    }
    for (size_t i = 0; i < peers.count; i++) {
        apapi_job_destroy(peers.list[i].records);
    }
    free(peers.list);
    free(peers.slots);
}

#define REACH "30d"
#define RECORDED_SHARE 0.99 /* of the job's time: with less, the rest is worth a word ... */
#define RECORDED_S 2        /* ... if it is longer, as Slurm counts whole seconds [s] */
#define CPU_LEAST                                                                                  \
    0.1 /* used, of the core time: with less, idle power would be most of its energy */

/* --- what a job used -------------------------------------------------------------------------- */

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
static void find_program(struct brief *brief)
{
    const struct show *show = &brief->show;
    struct brief_program *program = &brief->program;
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
static void find_gpu_share(struct brief *brief)
{
    const struct show *show = &brief->show;
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

static void use_slurm(struct brief *brief)
{
    const struct sacct_job *slurm = &brief->slurm;

    brief->elapsed_s = known(slurm->elapsed_s, brief->elapsed_s);
    brief->nodes = slurm->nodes > 0 ? slurm->nodes : brief->nodes;
    brief->cores = slurm->cores > 0 ? slurm->cores : brief->cores;
    /* without jobacct_gather, Slurm says 0 */
    brief->cpu_s = slurm->cpu_s > 0 ? slurm->cpu_s : NAN;
    brief->core_s = slurm->core_s > 0 ? slurm->core_s : NAN;
    if (brief->show.count == 0) {
        brief->energy_j = slurm->energy_j;
        brief->uncertainty_j = slurm->uncertainty_j;
        brief->mean_w = slurm->mean_w;
        brief->measured = slurm->measured_pct / 100;
        brief->recorded_s = slurm->recorded_s;
    }
}

static void use_records(struct brief *brief)
{
    const struct apapi_job_total *total = &brief->show.total;

    brief->energy_j = total->energy_j;
    brief->uncertainty_j = total->uncertainty_j;
    brief->mean_w = total->mean_w;
    brief->node_w = total->covered_ns > 0
                        ? total->energy_j / (duration(total->covered_ns) / (double)NS_PER_S)
                        : NAN;
    brief->nodes = (double)total->job_nodes;
    brief->cores = total->cores > 0 ? (double)total->cores : NAN;
    brief->elapsed_s = brief->recorded_s = (double)total->elapsed_ns / NS_PER_S;
    brief->measured = apapi_job_measured(total, 0);
}

static void brief_work_out(struct brief *brief)
{
    brief->energy_j = brief->uncertainty_j = brief->mean_w = brief->node_w = NAN;
    brief->measured = brief->nodes = brief->cores = brief->elapsed_s = NAN;
    brief->recorded_s = NAN;
    brief->cpu_s = brief->core_s = brief->gpu_share = NAN;
    brief->id = brief->show.count > 0 ? &brief->show.records[0].id : NULL;
    if (brief->show.count > 0) {
        use_records(brief);
        find_program(brief);
        find_gpu_share(brief);
    } else {
        snprintf(brief->job_id, sizeof brief->job_id, "%s", brief->slurm.job_id);
    }
    if (brief->slurm.job) {
        use_slurm(brief);
    }
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

static void brief_put_who(const struct brief *brief)
{
    const struct apapi_identity none = APAPI_IDENTITY_UNKNOWN;
    const struct apapi_identity *id = brief->id ? brief->id : &none;
    const char *user = either(id->user, brief->slurm.user);
    const char *account = either(brief->slurm.account, id->account);
    char text[256];

    put("Job ID", brief->job_id);
    put("Cluster", either(id->cluster, brief->slurm.cluster));
    snprintf(text, sizeof text, "%s%s%s", user, *account ? "/" : "", account);
    put(*account ? "User/Account" : "User", text);
    snprintf(text, sizeof text, "%s%s%s%s", brief->slurm.state,
             *brief->slurm.exit ? " (exit code " : "", brief->slurm.exit,
             *brief->slurm.exit ? ")" : "");
    put("State", *brief->slurm.state ? text : "");
}

static void brief_put_energy(const struct brief *brief)
{
    char text[UNITS_SIZE], each[UNITS_SIZE], share[UNITS_SHARE_SIZE];

    if (isfinite(brief->energy_j)) {
        report_energy_text(text, sizeof text, brief->energy_j, brief->uncertainty_j,
                           REPORT_UNIT_AUTO);
        units_share(share, sizeof share, brief->uncertainty_j / brief->energy_j);
        printf("Energy: %s%s%s\n", text, *share ? " " : "", share);
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
}

static void brief_put_use(const struct brief *brief)
{
    char used[32], core[32], energy[UNITS_SIZE];

    if (isfinite(brief->cpu_s) && isfinite(brief->core_s)) {
        report_elapsed_text(used, sizeof used, brief->cpu_s);
        report_elapsed_text(core, sizeof core, brief->core_s);
        printf("CPU utilized: %s\n", used);
        printf("CPU efficiency: %.2f %% of %s core time\n", 100 * brief->cpu_s / brief->core_s,
               core);
    }
    if (isfinite(brief->gpu_share)) {
        printf("GPU efficiency: %.2f %% of %.0f GPU%s\n", 100 * brief->gpu_share, brief->gpus,
               brief->gpus > 1 ? "s" : "");
    }
    if (isfinite(brief->energy_j) && brief->cpu_s > CPU_LEAST * brief->core_s) {
        units_quantity(energy, sizeof energy, brief->energy_j / (brief->cpu_s / 3600), "J");
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
           whose, median->jobs, median->jobs == 1 ? "" : "s", name, energy_is, energy, power_is,
           power);
}

static void brief_print_text(const struct brief *brief)
{
    char elapsed[32];

    brief_put_who(brief);
    put(brief->program.of_job ? "Job name" : "Program", brief->program.name);
    put_count("Nodes", brief->nodes);
    put_count("Cores", brief->cores);
    if (isfinite(brief->elapsed_s)) {
        report_elapsed_text(elapsed, sizeof elapsed, brief->elapsed_s);
        put("Wall-clock time", elapsed);
    }
    brief_put_energy(brief);
    brief_put_use(brief);
    brief_put_median("your", &brief->program, &brief->program.user);
    brief_put_median("the site's", &brief->program, &brief->program.site);
}

/* --- JSON, described in apapi-show(1) --------------------------------------------------------- */

static void brief_json_whole(struct json_writer *json, const char *key, double count)
{
    if (isfinite(count)) {
        json_put_count(json, key, (uint64_t)count);
    }
}

static void brief_json_who(struct json_writer *json, const struct brief *brief)
{
    const struct apapi_identity none = APAPI_IDENTITY_UNKNOWN;
    const struct apapi_identity *id = brief->id ? brief->id : &none;
    const struct sacct_job *slurm = &brief->slurm;

    json_put_text(json, "job", brief->job_id);
    json_put_word(json, "cluster", either(id->cluster, slurm->cluster));
    json_put_word(json, "user", either(id->user, slurm->user));
    json_put_word(json, "account", either(slurm->account, id->account));
    json_put_word(json, "state", slurm->state);
    json_put_word(json, "exit", slurm->exit);
    brief_json_whole(json, "nodes", brief->nodes);
    brief_json_whole(json, "cores", brief->cores);
    json_put_number(json, "elapsed_s", brief->elapsed_s, JSON_MEASURED);
}

static void brief_json_use(struct json_writer *json, const struct brief *brief)
{
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

static int brief_print_json(const struct brief *brief)
{
    struct json_writer json = {.out = stdout};

    json_begin_object(&json, NULL);
    brief_json_who(&json, brief);
    json_put_number(&json, "energy_j", brief->energy_j, JSON_MEASURED);
    json_put_number(&json, "uncertainty_j", brief->uncertainty_j, JSON_MEASURED);
    json_put_number(&json, "mean_w", brief->mean_w, JSON_MEASURED);
    json_put_number(&json, "node_w", brief->node_w, JSON_MEASURED);
    json_put_number(&json, "measured", brief->measured, JSON_MEASURED);
    json_put_number(&json, "recorded_s", brief->recorded_s, JSON_MEASURED);
    brief_json_use(&json, brief);
    if (*brief->program.name) {
        json_begin_object(&json, brief->program.of_job ? "job_name" : "program");
        json_put_text(&json, "name", brief->program.name);
        json_put_number(&json, "energy_j", brief->program.energy_j, JSON_MEASURED);
        json_put_number(&json, "node_w", brief->program.node_w, JSON_MEASURED);
        brief_json_median(&json, "user_median", &brief->program.user);
        brief_json_median(&json, "site_median", &brief->program.site);
        json_end(&json);
    }
    json_end(&json);
    return json_finish(&json);
}

/* --- records and Slurm ------------------------------------------------------------------------ */

struct options {
    struct report_input input;
    struct brief brief;
    struct config config;
    const char *since; /* of the jobs to compare with */
    uint64_t limit_ns, wait_ns;
    bool json, alone;
    bool several; /* Slurm knows several jobs of this number */
};

static int brief_take(const struct apapi_record *record, const char *line, size_t size,
                      void *options)
{
    return show_add(&((struct options *)options)->brief.show, record, line, size);
}

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

/* Components of a heterogeneous job run at the same time. */
static void add_component(struct sacct_job *sum, const struct sacct_job *job)
{
    sum->elapsed_s = fmax(sum->elapsed_s, job->elapsed_s);
    sum->nodes += job->nodes;
    sum->cores += job->cores;
    sum->core_s += job->core_s;
    sum->cpu_s += job->cpu_s;
    sum->energy_j += job->energy_j;
    sum->uncertainty_j += job->uncertainty_j;
    sum->mean_w += job->mean_w;
    sum->measured_pct = fmin(sum->measured_pct, job->measured_pct);
}

static int brief_take_slurm(const struct sacct_job *job, void *context)
{
    struct brief *brief = context;

    if (!is_of_records(&brief->show, job)) {
        return 0;
    }
    if (!brief->slurm.job) {
        brief->slurm = *job;
    } else if (strchr(job->job_id, '+') && strchr(brief->slurm.job_id, '+')) {
        add_component(&brief->slurm, job);
    } else {
        errno = E2BIG; /* tasks of an array */
        return -1;
    }
    return 0;
}

static void ask_slurm(struct options *options)
{
    const struct sacct_query query = {.jobs = options->input.jobs,
                                      .clusters = options->input.clusters,
                                      .steps = true,
                                      .deadline_ns = clock_monotonic_ns() + options->limit_ns};
    struct apapi_error err;

    options->brief.slurm.job = 0;
    if (sacct_read(&query, brief_take_slurm, &options->brief, &err)) {
        options->brief.slurm.job = 0;
        if (errno == E2BIG) {
            options->several = true;
        } else if (errno != ENOENT && options->input.verbose) {
            command_fail(options->input.command, err.text);
        }
    }
}

/* Without FILEs only jobs of these days; what a pipe had is gone. */
static void compare(struct options *options)
{
    struct report_input input = options->input;

    input.jobs = NULL;
    input.quiet = 2;
    input.from_text = options->since;
    if (!options->since && input.file_count == 0) {
        input.from_text = REACH;
    }
    for (size_t i = 0; i < input.file_count; i++) {
        if (strcmp(input.files[i], "-") == 0) {
            return;
        }
    }
    brief_compare(&options->brief, &input, clock_monotonic_ns() + options->limit_ns);
}

/* @return 0; 1: there is no record; the exit status + 2. */
static int read_records(struct options *options)
{
    struct brief *brief = &options->brief;
    struct report_input input = options->input;
    size_t left_out;
    int status;

    input.quiet = 1; /* Slurm's accounting may know the job */
    status = report_input_read(&input, brief_take, options, &left_out);
    if (status == USAGE_ERROR) {
        return report_input_read(&options->input, brief_take, options, &left_out);
    }
    if (brief->show.count == 0) {
        return 0;
    }
    if (show_choose(&brief->show, options->input.command, brief->job_id, sizeof brief->job_id)) {
        return EXIT_FAILURE;
    }
    return show_work_out(&brief->show) ? command_fail(options->input.command, "no memory") : 0;
}

/* Neither records nor Slurm know anything: say why there are no records. */
static int fail_none(struct options *options)
{
    size_t left_out;
    int status = report_input_read(&options->input, brief_take, options, &left_out);

    return status ? status : command_fail(options->input.command, "no record of this job found");
}

/* @return 0; the exit status after a message: then nobody needs to wait. */
static int look(struct options *options)
{
    int status = read_records(options);

    if (status == 0) {
        ask_slurm(options);
        brief_work_out(&options->brief);
    }
    return status;
}

/* Slurm's accounting gets the energy of a job some time after its end: see apapi-sync(8). */
static int look_until_known(struct options *options)
{
    const struct timespec pause = {.tv_sec = 1};
    uint64_t end_ns = clock_monotonic_ns() + options->wait_ns;
    int status = look(options);

    while (status == 0 && !isfinite(options->brief.energy_j) && !options->several &&
           clock_monotonic_ns() < end_ns) {
        nanosleep(&pause, NULL);
        show_free(&options->brief.show);
        options->brief.show.job = (uint32_t)strtoul(options->input.jobs, NULL, 10);
        status = look(options);
    }
    return status;
}

static int brief_run(struct options *options)
{
    struct brief *brief = &options->brief;
    int status = report_input_complete(&options->input, &options->config);

    if (status == 0) {
        status = look_until_known(options);
    }
    if (status) {
        return status;
    }
    if (brief->show.count == 0 && options->several) {
        return command_fail(options->input.command,
                            "several jobs match: name one, as 17_3 of an array");
    }
    if (brief->show.count == 0 && !isfinite(brief->energy_j)) {
        return fail_none(options);
    }
    if (!options->alone && brief->show.count > 0) {
        compare(options);
    }
    if (options->json) {
        return brief_print_json(brief) ? command_fail(options->input.command, "no memory")
                                       : command_finish(options->input.command, EXIT_SUCCESS);
    }
    brief_print_text(brief);
    return command_finish(options->input.command, EXIT_SUCCESS);
}

int show_brief(const struct show_options *given)
{
    struct options options = {.input = given->input,
                              .since = given->input.from_text,
                              .json = given->json,
                              .alone = given->alone,
                              .limit_ns = given->limit_ns,
                              .wait_ns = given->wait_ns};
    struct job_list jobs;
    struct apapi_error err;
    int status = 0;

    options.input.from_text = NULL;
    if (strpbrk(options.input.jobs, ",._*") && !strchr(options.input.jobs, '_')) {
        return command_refuse(options.input.command,
                              "JOB is one job, as 17, 17_3 of an array or 17+1");
    }
    if (job_list_parse(options.input.jobs, &jobs, &err)) {
        status = command_refuse(options.input.command, err.text);
    }
    job_list_free(&jobs);
    if (status) {
        return status;
    }
    options.brief.show.job = (uint32_t)strtoul(options.input.jobs, NULL, 10);
    config_defaults(&options.config);
    config_read(&options.config, config_path(), NULL);
    status = brief_run(&options);
    show_free(&options.brief.show);
    config_clear(&options.config);
    return status;
}
