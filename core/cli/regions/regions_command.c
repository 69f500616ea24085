/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi regions: what the parts of a program used, see apapi-regions(1). */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/regions/regions.h"

#define COMMAND "regions"

struct options {
    enum { FORM_TABLE, FORM_JSON, FORM_CSV } form;
    struct regions regions;
};

static int regions_command_set_type(void *target, const char *text, struct apapi_error *err)
{
    struct options *options = target;

    options->regions.detail = strcmp(text, "detail") == 0;
    return options->regions.detail || strcmp(text, "summary") == 0
               ? 0
               : apapi_fail(err, EINVAL, "--type takes summary or detail");
}

static int regions_command_set_form(void *target, const char *text, struct apapi_error *err)
{
    static const char *const forms[] = {"table", "json", "csv"};
    struct options *options = target;

    for (int i = FORM_TABLE; i <= FORM_CSV; i++) {
        if (strcmp(text, forms[i]) == 0) {
            options->form = i;
            return 0;
        }
    }
    return apapi_fail(err, EINVAL, "--format takes table, json or csv");
}

static const struct option_row rows[] = {
    {0, "type", "=TYPE", "summary (default), or detail: a row for each rank and thread",
     TO_CALL(regions_command_set_type)},
    {'f', "format", "=FORM", "table (default), json or csv", TO_CALL(regions_command_set_form)},
    {0, "inclusive", NULL, "regions with those inside them",
     TO_FLAG(struct options, regions.inclusive)},
    {0}};

static const struct option_table table = {
    .program = "apapi " COMMAND,
    .head = "usage: apapi regions [OPTION]... DIR\n"
            "Show what the regions of a program used: time, energy, power and what follows from\n"
            "them, added up over threads and ranks, from a folder of files rank_NNNNNN.json as\n"
            "PAPI's high-level API writes them.\n",
    .foot = "Exit status: 0 done, 1 nothing found, or failure, 2 wrong usage.\n",
    .column = 19,
    .rows = rows};

static void regions_command_warn(const char *text)
{
    command_fail(COMMAND, text);
}

static int regions_command_print(struct options *options)
{
    static int (*const prints[])(const struct regions *) = {
        [FORM_TABLE] = regions_print_text,
        [FORM_JSON] = regions_print_json,
        [FORM_CSV] = regions_print_csv,
    };

    regions_finish(&options->regions);
    return prints[options->form](&options->regions) ? command_fail(COMMAND, "no memory")
                                                    : command_finish(COMMAND, EXIT_SUCCESS);
}

static int regions_command_folder(struct options *options, const char *path)
{
    struct regions *regions = &options->regions;
    struct apapi_error err;
    size_t skipped;
    int status;

    regions->where_titles[0] = "rank";
    regions->where_titles[1] = "thread";
    regions->ranks_title = "ranks";
    if (regions_read_folder(regions, path, regions_command_warn, &skipped, &err) < 0) {
        return command_fail(COMMAND, err.text);
    }
    if (regions->row_count == 0) {
        return command_fail(COMMAND, "no region found");
    }
    status = regions_command_print(options);
    command_count_skipped(COMMAND, skipped, true);
    return skipped > 0 ? EXIT_FAILURE : status;
}

int regions_command(int argc, char **argv)
{
    static struct options options;
    int status = command_options(&table, argc, argv, &options);

    if (status >= 0) {
        return status;
    }
    setlocale(LC_CTYPE, "");
    if (argc - optind != 1) {
        return command_refuse(COMMAND, "which DIR? See 'apapi help regions'");
    }
    status = regions_command_folder(&options, argv[optind]);
    regions_free(&options.regions);
    return status;
}
