/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/slurm/sacct_line.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/record.h"
#include "base/array.h"
#include "base/json.h"
#include "base/text.h"

enum column {
    JOB,
    JOB_ID,
    CLUSTER,
    USER,
    ACCOUNT,
    PARTITION,
    QOS,
    JOB_NAME,
    STATE,
    EXIT,
    START,
    END,
    ELAPSED,
    NODES,
    CORES,
    CORE_TIME,
    CPU_TIME,
    COMMENT,
    COLUMNS
};

#define OWN_BEGIN "{\"apapi\":{" /* after other text, or as the whole: see apapi-sync(8) */

/* @return NaN for what no amount can be */
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

static int64_t moment_of(const char *text)
{
    double seconds = number_of(text);

    return seconds > 0 && seconds < 1e11 ? (int64_t)seconds : 0;
}

/* "[DD-]HH:MM:SS", "MM:SS.mmm" */
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

static double member_of(const struct tree_node *object, const char *key, double otherwise)
{
    const struct tree_node *value = tree_get(object, key);

    return tree_is_number(value) ? amount(tree_number(value)) : otherwise;
}

/* The comment is an object with our key, or a text with such an object at its end. */
static void read_comment(const char *comment, struct sacct_job *job)
{
    const char *begin = *comment == '{' ? comment : strstr(comment, OWN_BEGIN);
    struct tree tree = {0};
    struct tree_problem problem;
    const struct tree_node *own = NULL;

    if (begin && tree_parse(&tree, begin, strlen(begin), &problem) == 0) {
        own = tree_get(tree.nodes, "apapi");
    }
    job->energy_j = member_of(own, "energy_j", NAN);
    job->uncertainty_j = member_of(own, "uncertainty_j", NAN);
    job->mean_w = member_of(own, "mean_w", NAN);
    job->measured_pct = member_of(own, "measured_pct", NAN);
    job->recorded_s = member_of(own, "elapsed_s", NAN);
    job->incomplete = member_of(own, "incomplete", 0);
    tree_free(&tree);
}

static void read_texts(char *const columns[COLUMNS], struct sacct_job *job)
{
    const struct {
        enum column column;
        char *text;
        size_t size;
    } texts[] = {{JOB_ID, job->job_id, sizeof job->job_id},
                 {CLUSTER, job->cluster, sizeof job->cluster},
                 {USER, job->user, sizeof job->user},
                 {ACCOUNT, job->account, sizeof job->account},
                 {PARTITION, job->partition, sizeof job->partition},
                 {QOS, job->qos, sizeof job->qos},
                 {JOB_NAME, job->job_name, sizeof job->job_name},
                 {STATE, job->state, sizeof job->state},
                 {EXIT, job->exit, sizeof job->exit}};

    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        snprintf(texts[i].text, texts[i].size, "%s", columns[texts[i].column]);
    }
    job->state[strcspn(job->state, " ")] = '\0'; /* "CANCELLED by 4001" */
}

static bool cut(char *line, char *columns[COLUMNS])
{
    for (int i = 0; i < COLUMNS; i++) {
        columns[i] = line ? strsep(&line, SACCT_DELIMITER) : NULL;
        if (!columns[i]) {
            return false;
        }
    }
    return true;
}

bool sacct_line_parse(char *line, bool steps, struct sacct_job *job)
{
    char *columns[COLUMNS], *end;
    unsigned long number;

    if (!cut(line, columns)) {
        return false;
    }
    number = strtoul(columns[JOB], &end, 10);
    if (end == columns[JOB] || *end || number == 0 || number >= APAPI_UNKNOWN) {
        return false;
    }
    *job = (struct sacct_job){.job = (uint32_t)number,
                              .start_s = moment_of(columns[START]),
                              .end_s = moment_of(columns[END]),
                              .elapsed_s = number_of(columns[ELAPSED]),
                              .nodes = number_of(columns[NODES]),
                              .cores = number_of(columns[CORES]),
                              .core_s = number_of(columns[CORE_TIME]),
                              .cpu_s = steps ? cpu_time_of(columns[CPU_TIME]) : NAN};
    read_texts(columns, job);
    read_comment(columns[COMMENT], job);
    return true;
}
