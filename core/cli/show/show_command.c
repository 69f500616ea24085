/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi show: one job in full, see apapi-show(1). */
#include "cli/job/job_view.h"

#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/records/input.h"
#include "cli/records/input_options.h"

#define COMMAND "show"

struct options {
    struct report_input input;
    struct show show;
    bool json;
};

static const struct option_row rows[] = {
    {'j', "jobs", "=JOB[.STEP]", "the job; then all arguments are FILEs",
     TO_TEXT(struct options, input.jobs)},
    {OPTION_ROWS_OF(struct options, input, input_filter_rows)},
    {0, "json", NULL, "for programs", TO_FLAG(struct options, json)},
    {OPTION_ROWS_OF(struct options, input, input_source_rows)},
    {0}};

static const struct option_table table = {
    .program = "apapi " COMMAND,
    .head = "usage: apapi show [OPTION]... JOB[.STEP] [FILE]...\n"
            "Show one job in full: domains, steps, nodes, power over time, how far it can be\n"
            "trusted, and anything unusual; from the accounting folder, FILEs of records (-: a\n"
            "pipe) or --db. JOB is 17, 17_3 of an array, 17+1 of a heterogeneous job, or 17 for\n"
            "all of its components.\n",
    .foot = "Exit status: 0 done, 1 no record found, or failure, 2 wrong usage.\n",
    .column = 25,
    .rows = rows};

static int show_command_take_record(const struct apapi_record *record, const char *line,
                                    size_t size, void *options)
{
    return show_add(&((struct options *)options)->show, record, line, size);
}

static int show_command_print(void *context)
{
    struct options *options = context;
    struct show *show = &options->show;
    char job_id[32];
    int result = show_choose(show, COMMAND, job_id, sizeof job_id);

    if (result) {
        return result;
    }
    result = show_work_out(show);
    if (result == 0) {
        result = (options->json ? show_print_json : show_print_text)(show, job_id);
    }
    return result ? command_fail(COMMAND, "no memory") : command_finish(COMMAND, EXIT_SUCCESS);
}

/* Use -j, or the first word. */
static int show_command_take_words(struct report_input *input, char **words, size_t count)
{
    if (!input->jobs && count > 0) {
        input->jobs = *words++;
        count--;
    }
    input->files = words;
    input->file_count = count;
    return input->jobs ? 0 : command_refuse(COMMAND, "which JOB? See 'apapi help show'");
}

int show_command(int argc, char **argv)
{
    static struct options options = {.input = {.command = COMMAND}};
    int status = command_options(&table, argc, argv, &options);

    if (status >= 0) {
        return status;
    }
    if (show_command_take_words(&options.input, argv + optind, (size_t)(argc - optind))) {
        return USAGE_ERROR;
    }
    options.show.job = (uint32_t)strtoul(options.input.jobs, NULL, 10);
    status =
        report_input_print(&options.input, show_command_take_record, show_command_print, &options);
    show_free(&options.show);
    return status;
}
