/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi plot: power over time as a picture or a page, see apapi-plot(1). */
#include "cli/plot/plot_figures.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/jobs.h"
#include "cli/records/input.h"
#include "config/config.h"

#define COMMAND "plot"

static const char *const formats[] = {"svg", "png", "pdf", "html"};

/* A word that selects jobs. */
struct word {
    const char *text;
    struct job_list jobs;
};

struct request {
    struct report_input input;
    const char *output, *form, *by;
    char *joined, *parts; /* the words joined by commas; a copy that is cut up */
    struct word *words;
    size_t word_count;
    struct plot plot;
    bool crowded; /* more jobs than allowed */
};

static const struct option_row rows[] = {
    {'o', "output", "=FILE",
     "the output: a picture (svg, png, pdf), or a page with zoom (html);\n"
     "- is standard output",
     TO_TEXT(struct request, output)},
    {'f', "format", "=FORM", "svg, png, pdf or html, whatever the name; default for -: svg",
     TO_TEXT(struct request, form)},
    {0, "by", "=WHAT", "a line for each domain (default) or node", TO_TEXT(struct request, by)},
    {0, "same-scale", NULL, "one scale of time and power for all jobs",
     TO_FLAG(struct request, plot.same_scale)},
    {'j', "jobs", "=JOB[.STEP],...", "the jobs; then all arguments are RECORDS",
     TO_TEXT(struct request, input.jobs)},
    {OPTION_ROWS_OF(struct request, input, input_filter_rows)},
    {OPTION_ROWS_OF(struct request, input, input_source_rows)},
    {0}};

static const struct option_table table = {
    .program = "apapi " COMMAND,
    .head = "usage: apapi plot [OPTION]... JOB[.STEP]... -o FILE.{svg,png,pdf,html} [RECORDS]...\n"
            "Draw the power of jobs over time, side by side, from the accounting folder, from\n"
            "files of RECORDS (-: a pipe) or --db. JOB is 17, 17_3 of an array, or 17+1 of a\n"
            "heterogeneous job. Write ./17.jsonl for a file whose name begins with a digit.\n",
    .foot = "Exit status: 0 done, 1 no record found, or failure, 2 wrong usage.\n",
    .column = 23,
    .rows = rows};

/* --- records ---------------------------------------------------------------------------------- */

static struct plot_job *find_job(struct request *request, const struct apapi_identity *id)
{
    struct plot *plot = &request->plot;
    struct plot_job *job;

    for (size_t i = 0; i < plot->job_count; i++) {
        const struct apapi_identity *known = &plot->jobs[i]->show.records[0].id;

        if (known->job == id->job && strcmp(known->cluster, id->cluster) == 0) {
            return plot->jobs[i];
        }
    }
    request->crowded = request->crowded || plot->job_count == PLOT_JOBS_MAX;
    job = request->crowded ? NULL : calloc(1, sizeof *job);
    if (job) {
        plot->jobs[plot->job_count++] = job;
        job_id_text(id, job->id, sizeof job->id);
        while (job->order < request->word_count &&
               !job_list_has(&request->words[job->order].jobs, id)) {
            job->order++;
        }
    }
    return job;
}

static int take_record(const struct apapi_record *record, const char *line, size_t size,
                       void *context)
{
    struct request *request = context;
    struct plot_job *job = find_job(request, &record->id);

    return job ? show_add(record, line, size, &job->show) : request->crowded ? 0 : -1;
}

/* In the order of their words; for one word, by number. */
static int compare_jobs(const void *left, const void *right)
{
    const struct plot_job *one = *(struct plot_job *const *)left,
                          *other = *(struct plot_job *const *)right;
    const struct apapi_identity *a = &one->show.records[0].id, *b = &other->show.records[0].id;
    int order = COMPARE(one->order, other->order);

    order = order ? order : COMPARE(a->job, b->job);
    return order ? order : strcmp(a->cluster, b->cluster);
}

static void free_job(struct plot_job *job)
{
    show_free(&job->show);
    free(job);
}

/* Drop another user's job that claims to be part of this one. */
static void drop_strangers(struct plot *plot, const char *word)
{
    struct claims claims = {.job = (uint32_t)strtoul(word, NULL, 10)};
    size_t kept = 0;

    for (size_t i = 0; i < plot->job_count; i++) {
        claims_learn(&claims, &plot->jobs[i]->show.records[0].id);
    }
    for (size_t i = 0; i < plot->job_count; i++) {
        const struct apapi_identity *id = &plot->jobs[i]->show.records[0].id;
        bool part = id->array_job == claims.job || id->het_job == claims.job;

        if (id->job != claims.job && part && !claims_hold(&claims, id)) {
            free_job(plot->jobs[i]);
        } else {
            plot->jobs[kept++] = plot->jobs[i];
        }
    }
    plot->job_count = kept;
}

static bool is_found(const struct plot *plot, const struct word *word)
{
    for (size_t i = 0; i < plot->job_count; i++) {
        const struct show *show = &plot->jobs[i]->show;

        for (size_t k = 0; k < show->count; k++) {
            if (job_list_has(&word->jobs, &show->records[k].id)) {
                return true;
            }
        }
    }
    return false;
}

/* --- a page or a picture ---------------------------------------------------------------------- */

#define PROGRAM "apapi-plot"
#define MARK "@MODEL@"

/* The page with the model. In a <script>, only "</script" and "<!--" are special: every '<' is
 * escaped.
 */
static char *page_of(const char *model, size_t *size)
{
    const char *mark = strstr(plot_page_text, MARK);
    char *page = NULL;
    FILE *out = open_memstream(&page, size);

    if (out) {
        fwrite(plot_page_text, 1, (size_t)(mark - plot_page_text), out);
        for (; *model; model++) {
            if (*model == '<') {
                fputs("\\u003c", out);
            } else {
                fputc(*model, out);
            }
        }
        fputs(mark + strlen(MARK), out);
    }
    return text_of_stream(out, &page, 0);
}

/* 0: it was successful. */
static int run_program(const char *libexec_dir, const char *form, const int ends[2],
                       struct apapi_error *err)
{
    char path[PATH_MAX], program[] = PROGRAM, argument[8];
    char *argv[] = {program, argument, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int result, status = 0;

    snprintf(argument, sizeof argument, "%s", form);
    snprintf(path, sizeof path, "%s/" PROGRAM, libexec_dir);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    result = posix_spawn(&pid, path, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (result) {
        return apapi_fail(err, result, "%s: %s%s", path, strerror(result),
                          result == ENOENT ? "; package apapi-plot has it; .html needs none" : "");
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status == 0 ? 0 : apapi_fail(err, EIO, "%s could not draw", path);
}

/* The picture drawn by apapi-plot; NULL with `err`. */
static char *draw_picture(const struct request *request, const char *model, size_t *size,
                          struct apapi_error *err)
{
    const int ends[] = {memfd_create("model", MFD_CLOEXEC), memfd_create("picture", MFD_CLOEXEC)};
    char *picture = NULL;
    struct stat status;

    if (ends[0] < 0 || ends[1] < 0 || write_all(ends[0], model, strlen(model)) ||
        lseek(ends[0], 0, SEEK_SET)) {
        apapi_fail(err, errno, "a temporary file: %s", strerror(errno));
    } else if (run_program(request->input.config->libexec_dir, request->form, ends, err) == 0 &&
               fstat(ends[1], &status) == 0) {
        *size = (size_t)status.st_size;
        picture = malloc(*size + 1);
        if (!picture || pread(ends[1], picture, *size, 0) != status.st_size) {
            free(picture);
            picture = NULL;
            apapi_fail(err, ENOMEM, "no memory");
        }
    }
    folder_close(ends[0]);
    folder_close(ends[1]);
    return picture;
}

/* --- what is drawn ---------------------------------------------------------------------------- */

static int fail_job(const char *before, const char *job, const char *behind)
{
    struct apapi_error err;

    apapi_fail(&err, ENOENT, "%s job %.60s %s", before, job, behind);
    return command_fail(COMMAND, err.text);
}

static int work_out(struct request *request)
{
    struct plot *plot = &request->plot;

    if (request->crowded) {
        return command_fail(COMMAND, "more than 24 jobs match; name fewer");
    }
    for (size_t i = 0; i < request->word_count; i++) {
        drop_strangers(plot, request->words[i].text);
        if (!is_found(plot, &request->words[i])) {
            return fail_job("no record of", request->words[i].text, "found");
        }
    }
    qsort(plot->jobs, plot->job_count, sizeof(struct plot_job *), compare_jobs);
    for (size_t i = 0; i < plot->job_count; i++) {
        struct show *show = &plot->jobs[i]->show;

        show_drop_earlier(show, show->records[0].id.job, COMMAND);
        if (plot_work_out(plot->jobs[i], plot->by_node)) {
            return command_fail(COMMAND, "no memory");
        }
        if (plot->jobs[i]->series_count == 0) {
            return fail_job("the records of", plot->jobs[i]->id, "have no power over time");
        }
    }
    return EXIT_SUCCESS;
}

static int draw(const struct request *request)
{
    char *model = plot_model(&request->plot), *text = NULL;
    struct apapi_error err = {.text = "no memory"};
    mode_t mask = umask(0);
    size_t size = 0;
    int failed;

    umask(mask);
    if (model && strcmp(request->form, "html") == 0) {
        text = page_of(model, &size);
    } else if (model) {
        text = draw_picture(request, model, &size, &err);
    }
    failed = !text;
    if (text && strcmp(request->output, "-") == 0) {
        fwrite(text, 1, size, stdout);
    } else if (text) {
        failed = replace_file(request->output, 0666 & ~mask, text, size, &err);
    }
    free(text);
    free(model);
    return failed ? command_fail(COMMAND, err.text) : command_finish(COMMAND, EXIT_SUCCESS);
}

static int print(void *context)
{
    struct request *request = context;
    int status = work_out(request);

    return status == EXIT_SUCCESS ? draw(request) : status;
}

/* --- the command line ------------------------------------------------------------------------- */

static const char *find_form(const char *name)
{
    for (size_t i = 0; name && i < COUNT_OF(formats); i++) {
        if (strcasecmp(name, formats[i]) == 0) {
            return formats[i];
        }
    }
    return NULL;
}

static int check_form(struct request *request)
{
    struct apapi_error err;
    const char *dot;

    if (!request->output) {
        return command_refuse(COMMAND,
                              "which file? -o FILE.svg, FILE.png, FILE.pdf or FILE.html; or -o -");
    }
    if (request->form) {
        apapi_fail(&err, EINVAL, "--format=%.60s: it is svg, png, pdf or html", request->form);
        request->form = find_form(request->form);
    } else {
        apapi_fail(
            &err, EINVAL,
            "%.200s: its name must end with .svg, .png, .pdf or .html, or -f say which it is",
            request->output);
        dot = strrchr(request->output, '.');
        request->form = strcmp(request->output, "-") == 0 ? "svg" : find_form(dot ? dot + 1 : NULL);
    }
    return request->form ? EXIT_SUCCESS : command_refuse(COMMAND, err.text);
}

static int check(struct request *request)
{
    struct apapi_error err;

    if (!*request->joined) {
        return command_refuse(COMMAND, "which JOB? See 'apapi help plot'");
    }
    request->plot.by_node = strcmp(request->by, "node") == 0;
    if (!request->plot.by_node && strcmp(request->by, "domain") != 0) {
        apapi_fail(&err, EINVAL, "--by=%.60s: it is domain or node", request->by);
        return command_refuse(COMMAND, err.text);
    }
    return check_form(request);
}

/*
 * Words that begin with a digit and are not paths select jobs, up to the first other word. That and
 * all following ones are files. A word that is not a job is refused with the rest of the input.
 */
static int take_words(struct request *request, char **words, size_t count)
{
    FILE *out = open_memstream(&request->joined, &(size_t){0});
    size_t jobs = 0;
    char *rest;

    if (out && request->input.jobs) {
        fputs(request->input.jobs, out);
    } else {
        for (; out && jobs < count && isdigit((unsigned char)*words[jobs]) &&
               !strchr(words[jobs], '/');
             jobs++) {
            fprintf(out, "%s%s", jobs ? "," : "", words[jobs]);
        }
    }
    request->joined = text_of_stream(out, &request->joined, 0);
    request->parts = rest = request->joined ? strdup(request->joined) : NULL;
    request->words = rest ? calloc(strlen(rest) + 1, sizeof *request->words) : NULL;
    while (request->words && rest) {
        struct word *next = &request->words[request->word_count];

        next->text = strsep(&rest, ",");
        if (job_list_parse(next->text, &next->jobs, NULL)) {
            job_list_free(&next->jobs);
        } else {
            request->word_count++;
        }
    }
    request->input.jobs = request->joined;
    request->input.files = words + jobs;
    request->input.file_count = count - jobs;
    return request->words ? 0 : -1;
}

int plot_command(int argc, char **argv)
{
    static struct request request = {.input = {.command = COMMAND}, .by = "domain"};
    int status = command_options(&table, argc, argv, &request);

    if (status >= 0) {
        return status;
    }
    status = take_words(&request, argv + optind, (size_t)(argc - optind))
                 ? command_fail(COMMAND, "no memory")
                 : check(&request);
    if (status == EXIT_SUCCESS) {
        status = report_input_print(&request.input, take_record, print, &request);
    }
    for (size_t i = 0; i < request.plot.job_count; i++) {
        free_job(request.plot.jobs[i]);
    }
    for (size_t i = 0; i < request.word_count; i++) {
        job_list_free(&request.words[i].jobs);
    }
    free(request.words);
    free(request.parts);
    free(request.joined);
    return status;
}
