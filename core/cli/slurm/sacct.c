/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/slurm/sacct.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "apapi/record.h"
#include "base/array.h"
#include "base/clock.h"
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
    job->measured_pct = member_of(own, "measured_pct");
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
                              .nodes = number_of(columns[NODES]),
                              .cores = number_of(columns[CORES]),
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

#define READ_SIZE 65536
#define OUTPUT_MAX (1 << 28) /* bytes */

/* A running sacct, and what it has written. */
struct run {
    pid_t pid;
    int out;
    char *text;
    size_t size, room;
};

static int start(const struct sacct_query *query, posix_spawn_file_actions_t *actions, pid_t *pid)
{
    static char jobs_word[2048], clusters_word[2048]; /* cut if they are too long */
    static char *words[] = {"sacct",
                            "--noheader",
                            "--parsable2",
                            "--delimiter=" SACCT_DELIMITER,
                            "--format=" SACCT_FORMAT,
                            jobs_word,
                            clusters_word,
                            NULL};

    snprintf(jobs_word, sizeof jobs_word, "--jobs=%s", query->jobs);
    snprintf(clusters_word, sizeof clusters_word, "--clusters=%s",
             query->clusters ? query->clusters : "");
    words[COUNT_OF(words) - 2] = query->clusters ? clusters_word : NULL;
    unsetenv("SACCT_FORMAT");
    return posix_spawnp(pid, "sacct", actions, NULL, words, environ);
}

/* Its standard error is ours to report: it goes where its output goes. */
static int run_begin(struct run *run, const struct sacct_query *query, struct apapi_error *err)
{
    posix_spawn_file_actions_t actions;
    int ends[2], code;

    if (pipe2(ends, O_CLOEXEC)) {
        return apapi_fail(err, errno, "%s", strerror(errno));
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    code = start(query, &actions, &run->pid);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    run->out = ends[0];
    if (code) {
        close(ends[0]);
        return apapi_fail(err, code, "sacct: %s", strerror(code));
    }
    return 0;
}

/* @return 1; 0 at the end; -1 with errno. */
static int run_read(struct run *run, uint64_t deadline_ns)
{
    struct pollfd out = {.fd = run->out, .events = POLLIN};
    ssize_t got;

    if (poll(&out, 1, clock_left_ms(deadline_ns)) == 0) {
        errno = ETIMEDOUT;
        return -1;
    }
    if (run->size > OUTPUT_MAX ||
        array_extend(&run->text, run->size, READ_SIZE + 1, &run->room, 1)) {
        errno = ENOMEM;
        return -1;
    }
    got = read(run->out, run->text + run->size, READ_SIZE);
    if (got < 0) {
        return errno == EINTR ? 1 : -1;
    }
    run->size += (size_t)got;
    run->text[run->size] = '\0';
    return got > 0;
}

/* @return 0; -1 with errno: its output is not complete. */
static int run_end(struct run *run, int result, struct apapi_error *err)
{
    int status = 0, code = errno;

    if (result) {
        kill(run->pid, SIGKILL);
    }
    close(run->out);
    while (waitpid(run->pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (result) {
        return apapi_fail(err, code, "sacct: %s", strerror(code));
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status)) {
        return apapi_fail(err, EIO, "%.*s", (int)strcspn(run->text ? run->text : "", "\n"),
                          run->text ? run->text : "");
    }
    return 0;
}

int sacct_read(const struct sacct_query *query, sacct_f take, void *context,
               struct apapi_error *err)
{
    static struct sacct_job job;
    struct run run = {.out = -1};
    char *rest, *line;
    int got = 1, result;

    if (run_begin(&run, query, err)) {
        return -1;
    }
    while (got > 0) {
        got = run_read(&run, query->deadline_ns);
    }
    result = run_end(&run, got, err);
    rest = result ? NULL : run.text;
    while (result == 0 && (line = strsep(&rest, "\n"))) {
        if (sacct_line_parse(line, &job) && take(&job, context)) {
            result = apapi_fail(err, errno, "%s", strerror(errno));
        }
    }
    got = errno;
    free(run.text);
    errno = got;
    return result;
}
