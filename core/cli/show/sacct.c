/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks sacct(1) about a job. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/array.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/show/forms.h"
#include "record/record.h"
#include "sum/members.h"

/* --- a line --------------------------------------------------------------------------------- */

/* Columns of a line, in the order of --format below. */
enum column {
    JOB,
    JOB_ID,
    CLUSTER,
    USER,
    ACCOUNT,
    STATE,
    EXIT,
    ELAPSED,
    NODES,
    CORES,
    CORE_TIME,
    CPU_TIME,
    COMMENT,
    COLUMNS
};

#define OWN_BEGIN "{\"apapi\":{" /* after other text, or at the start: see apapi-sync(8) */

/* @return `value`, or NaN if it cannot be an amount */
static double amount(double value)
{
    return value >= 0 && isfinite(value) ? value : NAN;
}

static double number_of(const char *text)
{
    struct real_number number = {NAN, ""};

    return *text && real_number_parse(text, &number) == 0 && !*number.rest ? amount(number.value)
                                                                           : NAN;
}

/* Parse "[DD-]HH:MM:SS" or "MM:SS.mmm". */
static double cpu_time_of(const char *text)
{
    const char *dash = strchr(text, '-');
    double seconds = 0, days = 0;
    struct real_number part = {NAN, ""};

    if (dash) {
        days = strtod(text, NULL);
        text = dash + 1;
    }
    for (;; text = part.rest + 1) {
        if (*text < '0' || *text > '9' || real_number_parse(text, &part)) {
            return NAN;
        }
        seconds = 60 * seconds + part.value;
        if (*part.rest != ':') {
            return *part.rest == '\0' ? amount(seconds + 86400 * days) : NAN;
        }
    }
}

static double member_of(const struct tree_node *object, const char *key)
{
    const struct tree_node *value = tree_get(object, key);

    return tree_is_number(value) ? amount(tree_number(value)) : NAN;
}

/* The comment is an object with our key, or a text that ends with such an object. The text may look
 * like an object, too: sacctmgr replaces each of its quotation marks by another character. */
static void read_comment(const char *comment, struct sacct_job *job)
{
    const char *at = *comment == '{' ? comment : strstr(comment, OWN_BEGIN);
    struct tree tree = {0};
    struct tree_problem problem;
    const struct tree_node *own = NULL;

    for (; at && !own; at = strstr(at + 1, OWN_BEGIN)) {
        own = tree_parse(&tree, at, strlen(at), &problem) ? NULL : tree_get(tree.nodes, "apapi");
    }
    job->energy_j = member_of(own, "energy_j");
    job->uncertainty_j = member_of(own, "uncertainty_j");
    job->mean_w = member_of(own, "mean_w");
    job->measured = member_of(own, "measured_pct") / 100;
    job->recorded_s = member_of(own, "elapsed_s");
    tree_free(&tree);
}

bool sacct_line_parse(char *line, struct sacct_job *job)
{
    const struct {
        enum column column;
        char *text;
        size_t size;
    } texts[] = {
        {JOB_ID, job->job_id, sizeof job->job_id}, {CLUSTER, job->cluster, sizeof job->cluster},
        {USER, job->user, sizeof job->user},       {ACCOUNT, job->account, sizeof job->account},
        {STATE, job->state, sizeof job->state},    {EXIT, job->exit, sizeof job->exit}};
    char *columns[COLUMNS];
    unsigned long number;

    for (int i = 0; i < COLUMNS; i++) {
        columns[i] = line ? strsep(&line, SACCT_DELIMITER) : NULL;
        if (!columns[i]) {
            return false;
        }
    }
    number = positive_number(columns[JOB], APAPI_UNKNOWN - 1);
    if (number == 0) {
        return false;
    }
    *job = (struct sacct_job){.job = (uint32_t)number,
                              .elapsed_s = number_of(columns[ELAPSED]),
                              .nodes = positive_number(columns[NODES], UINT32_MAX),
                              .cores = positive_number(columns[CORES], UINT32_MAX),
                              .core_s = number_of(columns[CORE_TIME]),
                              .cpu_s = cpu_time_of(columns[CPU_TIME])};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        snprintf(texts[i].text, texts[i].size, "%s", columns[texts[i].column]);
    }
    job->state[strcspn(job->state, " ")] = '\0'; /* "CANCELLED by 4001" */
    read_comment(columns[COMMENT], job);
    job->components = 1;
    job->lacking = !isfinite(job->energy_j);
    return true;
}

/* --- a job ---------------------------------------------------------------------------------- */

#define SACCT_COMMAND                                                                              \
    "exec timeout -s KILL 2 sacct --noheader --parsable2 --delimiter='" SACCT_DELIMITER            \
    "' --format=JobIDRaw,JobID,Cluster,User,Account,State,ExitCode,ElapsedRaw,NNodes,AllocCPUS,"   \
    "CPUTimeRAW,TotalCPU,AdminComment --jobs=\"$APAPI_JOBS\" "                                     \
    "${APAPI_CLUSTERS:+--clusters=\"$APAPI_CLUSTERS\"} 2>&1 </dev/null"

#define FAILED_LATE 137 /* timeout(1) has killed sacct */
#define FAILED_NONE 127

/*
 * Run sacct(1) as the caller, so that Slurm decides what he may see. It is a separate program,
 * because apapi is not linked with Slurm's library. Its standard output and error are both read
 * here.
 * @param why  result: why there is no answer
 * @return the output, for free(); NULL: no answer
 */
static char *run_sacct(const struct query *query, char why[SACCT_WHY_SIZE])
{
    char *text = NULL;
    size_t room = 0;
    ssize_t size;
    int status;
    FILE *out;

    setenv("APAPI_JOBS", query->jobs, 1);
    setenv("APAPI_CLUSTERS", query->wanted.cluster ? query->wanted.cluster : "", 1);
    unsetenv("SACCT_FORMAT");
    signal(SIGCHLD, SIG_DFL);         /* while SIGCHLD is ignored, no exit status is known */
    out = popen(SACCT_COMMAND, "re"); // NOLINT(cert-env33-c): what users say is in the environment
    if (!out) {
        return NULL;
    }
    size = getdelim(&text, &room, '\0', out);
    status = pclose(out);
    status = WIFEXITED(status) ? WEXITSTATUS(status) : FAILED_LATE;
    if (status == 0) {
        return text;
    }
    if (status == FAILED_LATE || status == FAILED_NONE) {
        snprintf(why, SACCT_WHY_SIZE, "sacct: %s",
                 strerror(status == FAILED_LATE ? ETIMEDOUT : ENOENT));
    } else {
        snprintf(why, SACCT_WHY_SIZE, "%.*s", size > 0 ? (int)strcspn(text, "\n") : 0,
                 size > 0 ? text : "");
    }
    free(text);
    return NULL;
}

/* The job in Slurm's accounting may be of another cluster than the records. */
static bool is_of_records(const struct show *show, const struct sacct_job *job)
{
    for (size_t i = 0; i < show->entries.count; i++) {
        const struct apapi_identity *id = &show_record_at(show, i)->id;

        if (id->job == job->job && (!*id->cluster || strcmp(id->cluster, job->cluster) == 0) &&
            (!*id->user || strcmp(id->user, job->user) == 0)) {
            return true;
        }
    }
    return show->count == 0;
}

/* Components of a heterogeneous job begin at the same time. Without a record, one has no energy. */
static void add_component(struct sacct_job *sum, const struct sacct_job *job)
{
    double recorded_s = fmax(sum->recorded_s, job->recorded_s);

    if (sacct_goes_on(job)) {
        memcpy(sum->state, job->state, sizeof sum->state);
    }
    sum->elapsed_s = fmax(sum->elapsed_s, job->elapsed_s);
    sum->nodes += job->nodes;
    sum->cores += job->cores;
    sum->core_s += job->core_s;
    sum->cpu_s += job->cpu_s;
    sum->components += job->components;
    sum->lacking += job->lacking;
    sum_plus(job->energy_j, job->uncertainty_j, &sum->energy_j, &sum->uncertainty_j);
    sum->mean_w =
        known_plus(sum->mean_w * sum->recorded_s, job->mean_w * job->recorded_s) / recorded_s;
    sum->recorded_s = recorded_s;
    sum->measured = sum->lacking > 0 ? NAN : fmin(sum->measured, job->measured);
}

bool sacct_ask(const struct query *query, const struct show *show, struct sacct_job *known,
               char why[SACCT_WHY_SIZE])
{
    char *text, *rest, *line;
    struct sacct_job job;
    bool several = false, whole = false; /* whole: a heterogeneous job */

    *why = '\0';
    *known = SACCT_JOB_UNKNOWN;
    rest = text = run_sacct(query, why);
    while (!several && (line = strsep(&rest, "\n"))) {
        if (!sacct_line_parse(line, &job) || !is_of_records(show, &job)) {
            continue;
        }
        if (known->job == 0) {
            *known = job;
        } else if (strchr(known->job_id, '+') && strchr(job.job_id, '+')) {
            add_component(known, &job);
            whole = true;
        } else {
            several = true; /* tasks of an array */
            *known = SACCT_JOB_UNKNOWN;
        }
    }
    if (whole) {
        known->job_id[strcspn(known->job_id, "+")] = '\0';
    }
    if (text && show->count == 0 && !isfinite(known->energy_j)) {
        snprintf(why, SACCT_WHY_SIZE, "sacct: %s",
                 known->job ? "the job has no energy of apapi-sync in Slurm's accounting"
                            : "no such job that you may see");
    }
    free(text);
    return several;
}

bool sacct_goes_on(const struct sacct_job *job)
{
    return *job->state && text_names_have("PENDING,RUNNING,SUSPENDED", job->state);
}
