/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi show: one job in full. apapi-show(1) is for people. */
#include "apapi/show.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/command.h"
#include "apapi/jobs.h"
#include "apapi/report_input.h"
#include "apapi/report_ledger.h"

#define COMMAND "show"

static const char usage[] =
    "usage: apapi show [OPTION]... JOB[.STEP] [FILE]...\n"
    "One job in full: domains, steps, nodes, power over time, how far it can be trusted, and what\n"
    "is odd about it. From the accounting folder, or from FILEs of records; - is a pipe.\n"
    "JOB is 17, 17_3 of an array, or 17+1 of a heterogeneous job.\n"
    "      --json          for programs\n"
    "      --acct-dir=DIR  accounting folder, in the place of acct_dir of apapi.conf\n"
    "      --strict        exit status 1 if a line is skipped\n"
    "  -v, --verbose       which lines are skipped, and why\n"
    "  -h, --help          this text\n"
    "Exit status: 0 done, 1 no record is found, or failure, 2 wrong usage.\n";

static int take_record(const struct apapi_record *record, const char *line, size_t size, void *show)
{
    (void)record;
    return show_add(show, line, size);
}

static bool is_one_job(const struct show *show)
{
    for (size_t i = 1; i < show->count; i++) {
        if (show->records[i].id.job != show->records[0].id.job ||
            strcmp(show->records[i].id.cluster, show->records[0].id.cluster) != 0) {
            return false;
        }
    }
    return true;
}

static bool is_named(const char *list, const char *job_id)
{
    size_t size = strlen(job_id);

    for (const char *at = list; (at = strstr(at, job_id)); at += size) {
        if ((at == list || at[-1] == ' ') && (at[size] == ',' || at[size] == '\0')) {
            return true;
        }
    }
    return false;
}

/* An array, a heterogeneous job, or jobs of several clusters: name some of them. */
static int refuse_several(const struct show *show)
{
    char list[80] = "", job_id[32];
    struct apapi_error err;
    size_t size = 0;
    bool more = false;

    for (size_t i = 0; i < show->count; i++) {
        job_id_text(&show->records[i].id, job_id, sizeof job_id);
        if (is_named(list, job_id)) {
            continue;
        }
        more = more || size + strlen(job_id) + 3 > sizeof list;
        if (!more) {
            size +=
                (size_t)snprintf(list + size, sizeof list - size, "%s%s", size ? ", " : "", job_id);
        }
    }
    apapi_fail(&err, EINVAL, "these are several jobs: %s%s; name one, or one cluster's files", list,
               more ? ", ..." : "");
    return command_fail(COMMAND, err.text);
}

static int print(struct show *show, bool json)
{
    char job_id[32];
    int result;

    if (show->count == 0) {
        return command_fail(COMMAND, "no record of this job is found");
    }
    if (!is_one_job(show)) {
        return refuse_several(show);
    }
    job_id_text(&show->records[0].id, job_id, sizeof job_id);
    result = show_work_out(show);
    if (result == 0) {
        result = (json ? show_print_json : show_print_text)(show, job_id);
    }
    return result ? command_fail(COMMAND, "no memory") : command_finish(COMMAND, EXIT_SUCCESS);
}

static int run(struct report_input *input, bool json)
{
    static struct show show;
    struct config config;
    size_t left_out;
    int status;

    config_defaults(&config);
    config_read(&config, config_path(), NULL);
    if (!input->dir) {
        input->dir = config.acct_dir;
    }
    status = report_input_read(input, take_record, &show, &left_out);
    if (status == EXIT_SUCCESS) {
        status = print(&show, json);
    }
    if (status == EXIT_SUCCESS && input->strict && left_out > 0) {
        status = EXIT_FAILURE;
    }
    show_free(&show);
    config_clear(&config);
    return status;
}

int show_command(int argc, char **argv)
{
    static const struct option options[] = {
        {"json", no_argument, NULL, 'j'},   {"acct-dir", required_argument, NULL, 'd'},
        {"strict", no_argument, NULL, 's'}, {"verbose", no_argument, NULL, 'v'},
        {"help", no_argument, NULL, 'h'},   {0}};
    struct report_input input = {.command = COMMAND};
    bool json = false;
    int letter;

    while ((letter = command_option(argc, argv, "vh", options)) != -1) {
        switch (letter) {
        case 'j':
            json = true;
            break;
        case 'd':
            input.dir = optarg;
            break;
        case 's':
            input.strict = true;
            break;
        case 'v':
            input.verbose = true;
            break;
        case 'h':
            fputs(usage, stdout);
            return command_finish(COMMAND, EXIT_SUCCESS);
        default:
            return USAGE_ERROR;
        }
    }
    if (optind == argc) {
        return command_refuse(COMMAND, "which JOB? See 'apapi help show'");
    }
    setlocale(LC_CTYPE, "");
    input.jobs = argv[optind];
    input.files = argv + optind + 1;
    input.file_count = (size_t)(argc - optind - 1);
    return run(&input, json);
}
