/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi plot: power over time as a picture or a page. apapi-plot(1) is for people. */
#include "apapi/plot.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "apapi/command.h"
#include "apapi/jobs.h"
#include "apapi/report_input.h"
#include "apapi/report_ledger.h"
#include "record/replace.h"

#define COMMAND "plot"

static const char usage[] =
    "usage: apapi plot [OPTION]... JOB[.STEP]... -o FILE.{svg,png,html} [RECORDS]...\n"
    "Power over time of jobs side by side, from the accounting folder, or from files of RECORDS; "
    "-\n"
    "is a pipe. JOB is 17, 17_3 of an array, or 17+1 of a heterogeneous job. A file whose name\n"
    "begins with a digit is written ./17.jsonl.\n"
    "  -o, --output=FILE   what to write: a picture (svg, png), or a page to zoom in (html)\n"
    "      --by=WHAT       a line for each domain (default) or node\n"
    "      --acct-dir=DIR  accounting folder, in the place of acct_dir of apapi.conf\n"
    "      --strict        exit status 1 if a line is skipped; the picture is drawn all the same\n"
    "  -v, --verbose       which lines are skipped, and why\n"
    "  -h, --help          this text\n"
    "Exit status: 0 done, 1 no record is found, or failure, 2 wrong usage.\n";

static const char *const forms[] = {"svg", "png", "html"};

struct request {
    struct report_input input;
    const char *output, *form, *by;
    char *jobs;   /* joined by commas */
    char **words; /* of the jobs */
    size_t word_count;
    struct plot plot;
    bool crowded; /* more jobs than have room */
};

/* --- records -------------------------------------------------------------------------------- */

static bool is_job(const struct plot_job *job, const struct apapi_identity *id)
{
    const struct apapi_identity *own = &job->show.records[0].id;

    return own->job == id->job && strcmp(own->cluster, id->cluster) == 0;
}

static struct plot_job *find_job(struct request *request, const struct apapi_identity *id)
{
    struct plot *plot = &request->plot;

    for (size_t i = 0; i < plot->job_count; i++) {
        if (is_job(plot->jobs[i], id)) {
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
    return plot->jobs[plot->job_count++];
}

static int take_record(const struct apapi_record *record, const char *line, size_t size,
                       void *context)
{
    struct request *request = context;
    struct plot_job *job = find_job(request, &record->id);

    if (!job) {
        return request->crowded ? 0 : -1;
    }
    return show_add(&job->show, record, line, size);
}

static int compare_jobs(const void *left, const void *right)
{
    const struct apapi_identity *a = &(*(struct plot_job *const *)left)->show.records[0].id,
                                *b = &(*(struct plot_job *const *)right)->show.records[0].id;

    return a->job != b->job ? (a->job < b->job ? -1 : 1) : strcmp(a->cluster, b->cluster);
}

static bool is_found(const struct plot *plot, const char *word)
{
    uint32_t number = (uint32_t)strtoul(word, NULL, 10);

    for (size_t i = 0; i < plot->job_count; i++) {
        const struct apapi_identity *id = &plot->jobs[i]->show.records[0].id;

        if (id->job == number || id->array_job == number || id->het_job == number) {
            return true;
        }
    }
    return false;
}

/* --- the picture ---------------------------------------------------------------------------- */

static int fail_job(const char *before, const char *job, const char *behind)
{
    struct apapi_error err;

    apapi_fail(&err, ENOENT, "%s job %.60s %s", before, job, behind);
    return command_fail(COMMAND, err.text);
}

static int work_out(struct request *request)
{
    struct plot *plot = &request->plot;

    for (size_t i = 0; i < request->word_count; i++) {
        if (!is_found(plot, request->words[i])) {
            return fail_job("no record of", request->words[i], "is found");
        }
    }
    if (request->crowded) {
        return command_fail(COMMAND, "these are more than 24 jobs; name fewer");
    }
    qsort(plot->jobs, plot->job_count, sizeof(struct plot_job *), compare_jobs);
    for (size_t i = 0; i < plot->job_count; i++) {
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

static int draw(const struct request *request)
{
    json_t *model = plot_model(&request->plot);
    struct apapi_error err = {.text = "no memory"};
    char *text = NULL;
    size_t size = 0;
    int status = EXIT_SUCCESS;

    if (model && strcmp(request->form, "html") == 0) {
        text = plot_page(model, &size);
    } else if (model) {
        text = plot_draw(model, request->form, &size, &err);
    }
    if (!text || replace_file(request->output, usual_mode(), text, size, &err)) {
        status = command_fail(COMMAND, err.text);
    }
    free(text);
    json_decref(model);
    return status;
}

static int run(struct request *request)
{
    struct config config;
    size_t left_out;
    int status;

    config_defaults(&config);
    config_read(&config, config_path(), NULL);
    if (!request->input.dir) {
        request->input.dir = config.acct_dir;
    }
    status = report_input_read(&request->input, take_record, request, &left_out);
    if (status == EXIT_SUCCESS) {
        status = work_out(request);
    }
    if (status == EXIT_SUCCESS) {
        status = draw(request);
    }
    if (status == EXIT_SUCCESS && request->input.strict && left_out > 0) {
        status = EXIT_FAILURE;
    }
    for (size_t i = 0; i < request->plot.job_count; i++) {
        show_free(&request->plot.jobs[i]->show);
        free(request->plot.jobs[i]);
    }
    config_clear(&config);
    return status;
}

/* --- the command line ----------------------------------------------------------------------- */

static const char *form_of(const char *output)
{
    const char *dot = strrchr(output, '.');

    for (size_t i = 0; dot && i < sizeof forms / sizeof *forms; i++) {
        if (strcasecmp(dot + 1, forms[i]) == 0) {
            return forms[i];
        }
    }
    return NULL;
}

static int check(struct request *request)
{
    struct apapi_error err;

    if (request->word_count == 0) {
        return command_refuse(COMMAND, "which JOB? See 'apapi help plot'");
    }
    if (!request->output) {
        return command_refuse(COMMAND, "which file? -o FILE.svg, FILE.png or FILE.html");
    }
    request->form = form_of(request->output);
    if (!request->form) {
        apapi_fail(&err, EINVAL, "%.200s: its name must end with .svg, .png or .html",
                   request->output);
        return command_refuse(COMMAND, err.text);
    }
    request->plot.by_node = strcmp(request->by, "node") == 0;
    if (!request->plot.by_node && strcmp(request->by, "domain") != 0) {
        apapi_fail(&err, EINVAL, "--by=%.60s: it is domain or node", request->by);
        return command_refuse(COMMAND, err.text);
    }
    return EXIT_SUCCESS;
}

/* Jobs first, as far as they begin with a digit and are no path; all others are files. */
static int take_words(struct request *request, char **words, size_t count)
{
    size_t size = 1;

    request->words = words;
    while (request->word_count < count && isdigit((unsigned char)*words[request->word_count]) &&
           !strchr(words[request->word_count], '/')) {
        size += strlen(words[request->word_count++]) + 1;
    }
    request->input.files = words + request->word_count;
    request->input.file_count = count - request->word_count;
    request->jobs = calloc(size, 1);
    if (!request->jobs) {
        return -1;
    }
    for (size_t i = 0; i < request->word_count; i++) {
        strcat(strcat(request->jobs, i ? "," : ""), words[i]);
    }
    request->input.jobs = request->jobs;
    return 0;
}

static int take_options(int argc, char **argv, struct request *request)
{
    static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                            {"by", required_argument, NULL, 'b'},
                                            {"acct-dir", required_argument, NULL, 'd'},
                                            {"verbose", no_argument, NULL, 'v'},
                                            {"strict", no_argument, NULL, 's'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    int letter;

    while ((letter = command_option(argc, argv, "o:vh", options)) != -1) {
        switch (letter) {
        case 'o':
            request->output = optarg;
            break;
        case 'b':
            request->by = optarg;
            break;
        case 'd':
            request->input.dir = optarg;
            break;
        case 's':
            request->input.strict = true;
            break;
        case 'v':
            request->input.verbose = true;
            break;
        default:
            return letter;
        }
    }
    return 0;
}

int plot_command(int argc, char **argv)
{
    static struct request request;
    int letter, status;

    request.input.command = COMMAND;
    request.by = "domain";
    letter = take_options(argc, argv, &request);
    if (letter == 'h') {
        fputs(usage, stdout);
        return command_finish(COMMAND, EXIT_SUCCESS);
    }
    if (letter) {
        return USAGE_ERROR;
    }
    if (take_words(&request, argv + optind, (size_t)(argc - optind))) {
        return command_fail(COMMAND, "no memory");
    }
    status = check(&request);
    if (status == EXIT_SUCCESS) {
        status = run(&request);
    }
    free(request.jobs);
    return status;
}
