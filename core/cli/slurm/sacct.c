/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/slurm/sacct.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

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

/* --- the program ------------------------------------------------------------------------------ */

#define FAILED_LATE 137 /* timeout(1) has killed it */
#define FAILED_NONE 127

/* The output of sacct, also its standard error: that is ours to report. 0; -1 with `err`. */
static int run(const struct sacct_query *query, char **text, struct apapi_error *err)
{
    char command[sizeof SACCT_FORMAT + 256];
    size_t room = 0;
    ssize_t size;
    int status;
    FILE *out;

    snprintf(command, sizeof command,
             "exec timeout -s KILL %u sacct --noheader --parsable2 --delimiter='" SACCT_DELIMITER
             "' --format=" SACCT_FORMAT
             " --jobs=\"$APAPI_JOBS\" ${APAPI_CLUSTERS:+--clusters=\"$APAPI_CLUSTERS\"} 2>&1 "
             "</dev/null",
             query->limit_s);
    setenv("APAPI_JOBS", query->jobs, 1);
    setenv("APAPI_CLUSTERS", query->clusters ? query->clusters : "", 1);
    unsetenv("SACCT_FORMAT");
    out = popen(command, "re"); // NOLINT(cert-env33-c): what users say is in the environment
    if (!out) {
        return apapi_fail(err, errno, "sacct: %s", strerror(errno));
    }
    size = getdelim(text, &room, '\0', out);
    status = pclose(out);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return 0;
    }
    status = WIFEXITED(status) ? WEXITSTATUS(status) : FAILED_LATE;
    if (status == FAILED_LATE || status == FAILED_NONE) {
        status = status == FAILED_LATE ? ETIMEDOUT : ENOENT;
        return apapi_fail(err, status, "sacct: %s", strerror(status));
    }
    return apapi_fail(err, EIO, "%.*s", size > 0 ? (int)strcspn(*text, "\n") : 0,
                      size > 0 ? *text : "");
}

int sacct_read(const struct sacct_query *query, sacct_f take, void *context,
               struct apapi_error *err)
{
    static struct sacct_job job;
    char *text = NULL, *rest, *line;
    int result = run(query, &text, err), code;

    rest = result ? NULL : text;
    while (result == 0 && (line = strsep(&rest, "\n"))) {
        if (sacct_line_parse(line, &job) && take(&job, context)) {
            result = apapi_fail(err, errno, "%s", strerror(errno));
        }
    }
    code = errno;
    free(text);
    errno = code;
    return result;
}
