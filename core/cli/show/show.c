/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi show, and its old words merge and summary; see apapi-show(1). */
#include "cli/show/forms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/jobs.h"
#include "cli/records/input.h"
#include "config/values.h"

#define LIMIT_NS (2 * (uint64_t)NS_PER_S)

static int show_set_format(void *target, const char *text, struct apapi_error *err)
{
    struct show_options *options = target;

    return value_format(text, &options->format, NULL) || options->format == CONFIG_NONE
               ? apapi_fail(err, EINVAL, "-f takes table, json, csv or merged")
               : 0;
}

#define FORMAT_ROW(text)                                                                           \
    {                                                                                              \
        'f', "format", "=FORM", text, TO_CALL(show_set_format)                                     \
    }

/* Options of --brief. */
static const struct option_row brief_rows[] = {
    {0, "no-compare", NULL, "not with other jobs of the same program",
     TO_FLAG(struct show_options, alone)},
    {0, "limit", "=DURATION",
     "give up Slurm's accounting, and the comparison, after\nthis time each; default: 2s",
     TO_TEXT(struct show_options, limit)},
    {0, "wait", "=DURATION", "wait so long for the energy of the job; default: not at all",
     TO_TEXT(struct show_options, wait)},
    {0}};

static const struct option_row rows[] = {
    {'j', "jobs", "=JOB[.STEP]", "the job; then all arguments are FILEs",
     TO_TEXT(struct show_options, input.jobs)},
    {OPTION_ROWS_OF(struct show_options, input, input_filter_rows)},
    {0, "json", NULL, "for programs", TO_FLAG(struct show_options, json)},
    FORMAT_ROW("one step of FILEs as srun prints it: table (default\nwithout JOB), json, csv or "
               "merged; -N has its nodes"),
    {0, "brief", NULL,
     "in a few lines, as seff, and compared with other jobs\nof the last 30 days, or since -S",
     TO_FLAG(struct show_options, brief)},
    {.name = "", .kind = OPTION_ROWS, .rows = brief_rows},
    {OPTION_ROWS_OF(struct show_options, input, input_source_rows)},
    {0}};

static const struct option_table table = {
    .program = "apapi show",
    .head = "usage: apapi show [OPTION]... JOB[.STEP] [FILE]...\n"
            "       apapi show [OPTION]... FILE...\n"
            "Show one job in full: domains, steps, nodes, power over time, how far it can be\n"
            "trusted, and anything unusual; from the accounting folder, FILEs of records (-: a\n"
            "pipe) or --db. JOB is 17, 17_3 of an array, 17+1 of a heterogeneous job, or 17 for\n"
            "all of its components. With FILEs alone: the nodes' records of one step as one\n"
            "report, as srun prints it; then FILE may be an accounting folder.\n",
    .foot = "Exit status: 0 done, 1 no record found, or failure, 2 wrong usage.\n",
    .column = 25,
    .rows = rows};

static const struct option_row merge_rows[] = {
    {'j', "jobs", "=JOB[.STEP]",
     "the step, as 17.0, 17_3.0, 17+1.batch; needed if the files have\n"
     "records of several steps",
     TO_TEXT(struct show_options, input.jobs)},
    {'N', "nodelist", "=NODES",
     "the nodes of the step, n[1-4,7]; the report names those without a record",
     TO_TEXT(struct show_options, input.nodes)},
    {'n', "nodes", "=NODES", NULL, TO_TEXT(struct show_options, input.nodes)}, /* old name */
    FORMAT_ROW("table (default), json, csv or merged"),
    {'v', "verbose", NULL, "show all events, and which lines were skipped and why",
     TO_FLAG(struct show_options, input.verbose)},
    {0, "strict", NULL, "lines that are not records are an error",
     TO_FLAG(struct show_options, input.strict)},
    {0}};

static const struct option_table merge_table = {
    .program = "apapi merge",
    .head = "usage: apapi merge [OPTION]... FILE...\n"
            "The old word for 'apapi show FILE...': the nodes' records of one job step as one\n"
            "report, as srun prints it.\n",
    .foot = "Of several records of a node the latest is used, and of those the longest.\n"
            "Exit status: 0 done, 1 no record or another failure, 2 wrong usage.\n",
    .column = 25,
    .rows = merge_rows};

static const struct option_row summary_rows[] = {
    {'M', "clusters", "=CLUSTER", "", TO_TEXT(struct show_options, input.clusters)},
    {'S', "starttime", "=TIME", "compare with jobs that ended then or later; default: 30d ago",
     TO_TEXT(struct show_options, input.from_text)},
    {.name = "", .kind = OPTION_ROWS, .rows = brief_rows},
    {0, "json", NULL, "for programs", TO_FLAG(struct show_options, json)},
    {OPTION_ROWS_OF(struct show_options, input, input_source_rows)},
    {0}};

static const struct option_table summary_table = {
    .program = "apapi summary",
    .head = "usage: apapi summary [OPTION]... JOB [FILE]...\n"
            "The old word for 'apapi show --brief JOB': a job in a few lines, and compared with\n"
            "others.\n",
    .foot = "TIME is written as for 'apapi report'.\n"
            "Exit status: 0 done, 1 nothing known of the job, or failure, 2 wrong usage.\n",
    .column = 25,
    .rows = summary_rows};

/* --- one job in full ------------------------------------------------------------------------ */

struct full {
    struct show_options *options;
    struct show show;
};

static int show_take(const struct apapi_record *record, const char *line, size_t size, void *full)
{
    return show_add(&((struct full *)full)->show, record, line, size);
}

static int show_print(void *context)
{
    struct full *full = context;
    const struct show_options *options = full->options;
    const char *command = options->input.command;
    char job_id[32];
    int result = show_choose(&full->show, command, job_id, sizeof job_id);

    if (result) {
        return result;
    }
    result = show_work_out(&full->show);
    if (result == 0) {
        result = (options->json ? show_print_json : show_print_text)(&full->show, job_id);
    }
    return result ? command_fail(command, "no memory") : command_finish(command, EXIT_SUCCESS);
}

static int show_full(struct show_options *options)
{
    struct full full = {.options = options};
    int status;

    full.show.job = (uint32_t)strtoul(options->input.jobs, NULL, 10);
    status = report_input_print(&options->input, show_take, show_print, &full);
    show_free(&full.show);
    return status;
}

/* --- which of them -------------------------------------------------------------------------- */

static bool names_job(const char *word)
{
    struct job_list list;
    bool result = job_list_parse(word, &list, NULL) == 0;

    job_list_free(&list);
    return result;
}

/* Use -j, or the first word. Without JOB, words that are files are of one step. */
static void show_take_words(struct show_options *options, char **words, size_t count)
{
    struct report_input *input = &options->input;
    bool files = options->format != CONFIG_NONE ||
                 (count > 0 && !options->brief && !names_job(words[0]) &&
                  (strcmp(words[0], "-") == 0 || access(words[0], F_OK) == 0));

    if (!input->jobs && count > 0 && !files) {
        input->jobs = *words++;
        count--;
    } else if (!input->jobs && options->format == CONFIG_NONE && files) {
        options->format = CONFIG_TABLE;
    }
    input->files = words;
    input->file_count = count;
}

static int show_check(struct show_options *options)
{
    const struct report_input *input = &options->input;
    char text[80];
    struct apapi_error err;

    if (options->format != CONFIG_NONE &&
        (options->brief || options->json || input->db || input->users || input->accounts ||
         input->partitions || input->clusters || input->job_names || input->from_text ||
         input->to_text || input->dir)) {
        return command_refuse(input->command, "of a step in FILEs only -f, -j, -N, -v and "
                                              "--strict: name a JOB for the other options");
    }
    if (options->format == CONFIG_NONE ? !input->jobs : input->file_count == 0) {
        snprintf(text, sizeof text,
                 options->format == CONFIG_NONE ? "which JOB? See 'apapi help %s'"
                                                : "which files? 'apapi help %s' shows how",
                 input->command);
        return command_refuse(input->command, text);
    }
    if ((options->limit && apapi_duration_parse(options->limit, &options->limit_ns, &err)) ||
        (options->wait && apapi_duration_parse(options->wait, &options->wait_ns, &err))) {
        return command_refuse(input->command, err.text);
    }
    if (!options->brief && (options->alone || options->limit || options->wait)) {
        return command_refuse(input->command, "--no-compare, --limit and --wait are of --brief");
    }
    return 0;
}

static int show_run(const struct option_table *words, struct show_options *options, int argc,
                    char **argv)
{
    int status = command_options(words, argc, argv, options);

    if (status >= 0) {
        return status;
    }
    show_take_words(options, argv + optind, (size_t)(argc - optind));
    status = show_check(options);
    if (status) {
        return status;
    }
    if (options->format != CONFIG_NONE) {
        return show_step(&options->input, options->format);
    }
    return options->brief ? show_brief(options) : show_full(options);
}

/* For people only: what scripts read of standard error stays as it was. */
static void show_note_word(const char *word, const char *now)
{
    if (isatty(STDERR_FILENO)) {
        fprintf(stderr, "apapi %s: an old word; it is '%s' now\n", word, now);
    }
}

int show_command(int argc, char **argv)
{
    struct show_options options = {
        .input = {.command = argv[0]}, .limit_ns = LIMIT_NS, .format = CONFIG_NONE};

    return show_run(&table, &options, argc, argv);
}

int merge_command(int argc, char **argv)
{
    struct show_options options = {.input = {.command = argv[0]}, .format = CONFIG_TABLE};

    show_note_word(argv[0], "apapi show FILE...");
    return show_run(&merge_table, &options, argc, argv);
}

int summary_command(int argc, char **argv)
{
    struct show_options options = {
        .input = {.command = argv[0]}, .brief = true, .limit_ns = LIMIT_NS, .format = CONFIG_NONE};

    show_note_word(argv[0], "apapi show --brief JOB");
    return show_run(&summary_table, &options, argc, argv);
}
