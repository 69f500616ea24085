/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi plot: power over time as a picture or a page, see apapi-plot(1). */
#include "cli/plot/plot_figures.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static size_t find_word(const struct request *request, const struct apapi_identity *id)
{
    size_t index = 0;

    while (index < request->word_count && !job_list_has(&request->words[index].jobs, id)) {
        index++;
    }
    return index;
}

static struct plot_job *find_job(struct request *request, const struct apapi_identity *id)
{
    struct plot *plot = &request->plot;

    for (size_t i = 0; i < plot->job_count; i++) {
        const struct apapi_identity *known = &plot->jobs[i]->show.records[0].id;

        if (known->job == id->job && strcmp(known->cluster, id->cluster) == 0) {
            return plot->jobs[i];
        }
    }
    if (plot->job_count == PLOT_JOBS_MAX) {
        request->crowded = true;
        return NULL;
    }
    plot->jobs[plot->job_count] = calloc(1, sizeof(struct plot_job));
    if (!plot->jobs[plot->job_count]) {
        return NULL;
    }
    job_id_text(id, plot->jobs[plot->job_count]->id, sizeof plot->jobs[0]->id);
    plot->jobs[plot->job_count]->order = find_word(request, id);
    return plot->jobs[plot->job_count++];
}

static int plot_command_take_record(const struct apapi_record *record, const char *line,
                                    size_t size, void *context)
{
    struct request *request = context;
    struct plot_job *job = find_job(request, &record->id);

    if (!job) {
        return request->crowded ? 0 : -1;
    }
    if (show_add(record, line, size, &job->show)) {
        return -1;
    }
    return 0;
}

/* In the order of their words; for one word, by number. */
static int plot_command_compare_jobs(const void *left, const void *right)
{
    const struct plot_job *one = *(struct plot_job *const *)left,
                          *other = *(struct plot_job *const *)right;
    const struct apapi_identity *a = &one->show.records[0].id, *b = &other->show.records[0].id;

    if (one->order != other->order) {
        return one->order < other->order ? -1 : 1;
    }
    return a->job != b->job ? (a->job < b->job ? -1 : 1) : strcmp(a->cluster, b->cluster);
}

static bool is_stranger(const struct claims *claims, const struct apapi_identity *id)
{
    return id->job != claims->job && (id->array_job == claims->job || id->het_job == claims->job) &&
           !claims_hold(claims, id);
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
        struct plot_job *job = plot->jobs[i];

        if (is_stranger(&claims, &job->show.records[0].id)) {
            show_free(&job->show);
            free(job);
        } else {
            plot->jobs[kept++] = job;
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
static char *plot_page(const char *model, size_t *size)
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

static char *plot_read_all(FILE *file, size_t *size)
{
    char *text = NULL, buffer[16384];
    FILE *out = open_memstream(&text, size);
    size_t got;

    rewind(file);
    while (out && (got = fread(buffer, 1, sizeof buffer, file)) > 0) {
        fwrite(buffer, 1, got, out);
    }
    return text_of_stream(out, &text, 0);
}

static FILE *open_temporary(void)
{
    FILE *file = tmpfile();

    if (file) {
        fcntl(fileno(file), F_SETFD, FD_CLOEXEC);
    }
    return file;
}

/* 0: it was successful. */
static int plot_run_program(const char *form, int in, int out, struct apapi_error *err)
{
    char path[PATH_MAX], program[] = PROGRAM, argument[8];
    char *argv[] = {program, argument, NULL};
    posix_spawn_file_actions_t actions;
    struct config config;
    pid_t pid;
    int result, status = 0;

    snprintf(argument, sizeof argument, "%s", form);
    config_defaults(&config);
    config_read(&config, config_path(), &(struct config_sink){0});
    snprintf(path, sizeof path, "%s/" PROGRAM, config.libexec_dir);
    config_clear(&config);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
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
static char *plot_draw(const char *model, const char *form, size_t *size, struct apapi_error *err)
{
    FILE *in = open_temporary(), *out = open_temporary();
    char *picture = NULL;

    if (!in || !out || fputs(model, in) == EOF || fflush(in)) {
        apapi_fail(err, errno, "a temporary file: %s", strerror(errno));
    } else {
        rewind(in);
        if (plot_run_program(form, fileno(in), fileno(out), err) == 0) {
            picture = plot_read_all(out, size);
            if (!picture) {
                apapi_fail(err, ENOMEM, "no memory");
            }
        }
    }
    if (in) {
        fclose(in);
    }
    if (out) {
        fclose(out);
    }
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
    qsort(plot->jobs, plot->job_count, sizeof(struct plot_job *), plot_command_compare_jobs);
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

static mode_t usual_mode(void)
{
    mode_t mask = umask(0);

    umask(mask);
    return 0666 & ~mask;
}

static int plot_command_deliver(const struct request *request, const char *text, size_t size)
{
    struct apapi_error err;

    if (strcmp(request->output, "-") == 0) {
        fwrite(text, 1, size, stdout);
        return command_finish(COMMAND, EXIT_SUCCESS);
    }
    return replace_file(request->output, usual_mode(), text, size, &err)
               ? command_fail(COMMAND, err.text)
               : EXIT_SUCCESS;
}

static int plot_command_draw(const struct request *request)
{
    char *model = plot_model(&request->plot);
    struct apapi_error err = {.text = "no memory"};
    char *text = NULL;
    size_t size = 0;
    int status;

    if (model && strcmp(request->form, "html") == 0) {
        text = plot_page(model, &size);
    } else if (model) {
        text = plot_draw(model, request->form, &size, &err);
    }
    status = text ? plot_command_deliver(request, text, size) : command_fail(COMMAND, err.text);
    free(text);
    free(model);
    return status;
}

static int plot_command_print(void *request)
{
    int status = work_out(request);

    return status == EXIT_SUCCESS ? plot_command_draw(request) : status;
}

static int plot_command_run(struct request *request)
{
    int status =
        report_input_print(&request->input, plot_command_take_record, plot_command_print, request);

    for (size_t i = 0; i < request->plot.job_count; i++) {
        show_free(&request->plot.jobs[i]->show);
        free(request->plot.jobs[i]);
    }
    return status;
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

static const char *form_of(const char *output)
{
    const char *dot = strrchr(output, '.');

    return strcmp(output, "-") == 0 ? "svg" : find_form(dot ? dot + 1 : NULL);
}

static int check_form(struct request *request)
{
    struct apapi_error err;

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
        request->form = form_of(request->output);
    }
    return request->form ? EXIT_SUCCESS : command_refuse(COMMAND, err.text);
}

static int plot_command_check(struct request *request)
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
 * all following ones are files.
 */
static size_t count_jobs(char **words, size_t count)
{
    size_t jobs = 0;

    while (jobs < count && isdigit((unsigned char)*words[jobs]) && !strchr(words[jobs], '/')) {
        jobs++;
    }
    return jobs;
}

static char *plot_command_join(char **words, size_t count)
{
    size_t size = 1;
    char *joined;

    for (size_t i = 0; i < count; i++) {
        size += strlen(words[i]) + 1;
    }
    joined = calloc(size, 1);
    for (size_t i = 0; joined && i < count; i++) {
        strcat(strcat(joined, i ? "," : ""), words[i]);
    }
    return joined;
}

/* A word that is not a job is refused with the rest of the input. */
static int plot_command_cut(struct request *request)
{
    char *rest;

    request->words = calloc(strlen(request->joined) + 1, sizeof *request->words);
    request->parts = rest = strdup(request->joined);
    if (!request->words || !request->parts) {
        return -1;
    }
    for (const char *word; (word = strsep(&rest, ","));) {
        struct word *next = &request->words[request->word_count];

        next->text = word;
        if (job_list_parse(word, &next->jobs, NULL)) {
            job_list_free(&next->jobs);
        } else {
            request->word_count++;
        }
    }
    return 0;
}

static int plot_command_take_words(struct request *request, char **words, size_t count)
{
    size_t jobs = request->input.jobs ? 0 : count_jobs(words, count);

    request->input.files = words + jobs;
    request->input.file_count = count - jobs;
    request->joined =
        request->input.jobs ? strdup(request->input.jobs) : plot_command_join(words, jobs);
    if (!request->joined || plot_command_cut(request)) {
        return -1;
    }
    request->input.jobs = request->joined;
    return 0;
}

int plot_command(int argc, char **argv)
{
    static struct request request = {.input = {.command = COMMAND}, .by = "domain"};
    int status = command_options(&table, argc, argv, &request);

    if (status >= 0) {
        return status;
    }
    status = plot_command_take_words(&request, argv + optind, (size_t)(argc - optind))
                 ? command_fail(COMMAND, "no memory")
                 : plot_command_check(&request);
    if (status == EXIT_SUCCESS) {
        status = plot_command_run(&request);
    }
    for (size_t i = 0; i < request.word_count; i++) {
        job_list_free(&request.words[i].jobs);
    }
    free(request.words);
    free(request.parts);
    free(request.joined);
    return status;
}
