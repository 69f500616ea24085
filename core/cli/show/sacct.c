/* SPDX-License-Identifier: BSD-3-Clause */
/* Understands a line of sacct(1). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/show/forms.h"

/* Of --format in brief.c. */
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

static uint64_t count_of(const char *text)
{
    uint64_t count = 0;
    const char *end = text_digits(text, UINT32_MAX, &count);

    return end && !*end ? count : 0;
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

static double member_of(const struct tree_node *object, const char *key)
{
    const struct tree_node *value = tree_get(object, key);

    return tree_is_number(value) ? amount(tree_number(value)) : NAN;
}

/* The comment is an object with our key, or a text with such an object at its end. The text may
 * look like an object: sacctmgr makes another quotation mark of each. */
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
    char *columns[COLUMNS], *end;
    unsigned long number;

    for (int i = 0; i < COLUMNS; i++) {
        columns[i] = line ? strsep(&line, SACCT_DELIMITER) : NULL;
        if (!columns[i]) {
            return false;
        }
    }
    number = strtoul(columns[JOB], &end, 10);
    if (end == columns[JOB] || *end || number == 0 || number >= APAPI_UNKNOWN) {
        return false;
    }
    *job = (struct sacct_job){.job = (uint32_t)number,
                              .elapsed_s = number_of(columns[ELAPSED]),
                              .nodes = count_of(columns[NODES]),
                              .cores = count_of(columns[CORES]),
                              .core_s = number_of(columns[CORE_TIME]),
                              .cpu_s = cpu_time_of(columns[CPU_TIME])};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        snprintf(texts[i].text, texts[i].size, "%s", columns[texts[i].column]);
    }
    job->state[strcspn(job->state, " ")] = '\0'; /* "CANCELLED by 4001" */
    read_comment(columns[COMMENT], job);
    return true;
}
