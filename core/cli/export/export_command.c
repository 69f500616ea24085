/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi export: this node's steps for a monitoring system. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/replace.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/export/export_read.h"
#include "cli/when.h"
#include "config/config.h"
#include "output/prometheus.h"

#define COMMAND "export"
#define FILE_NAME "apapi.prom" /* in prometheus_dir */
#define FILE_MODE 0644         /* the node exporter does not run as root */
#define SINCE "1h"

struct options {
    struct export_input input;
    const char *since;                            /* NULL: not given */
    const char *file;                             /* "": not given */
    char path[PATH_MAX], host[HOST_NAME_MAX + 1]; /* used if not given */
};

/* The one form that there is. */
static int set_prometheus(void *target, const char *text, struct apapi_error *err)
{
    struct options *options = target;

    (void)err;
    options->file = text ? text : "";
    return 0;
}

static const struct option_row rows[] = {
    {0, "prometheus", "[=FILE]", NULL, TO_CALL(set_prometheus)},
    {'S', "starttime", "=T", "finished steps that ended at T or later; default: " SINCE,
     TO_TEXT(struct options, since)},
    {0, "since", "=T", NULL, TO_TEXT(struct options, since)}, /* old name */
    {'N', "nodelist", "=NODES", "only these nodes, n[1-4,7]; default: this host's short name",
     TO_TEXT(struct options, input.nodes)},
    {0, "nodes", "=NODES", NULL, TO_TEXT(struct options, input.nodes)}, /* old name */
    {0, "acct-dir", " DIR", "accounting folder; default: acct_dir of apapi.conf",
     TO_TEXT(struct options, input.acct_dir)},
    {0, "spool-dir", " DIR", "records of running steps; default: spool_dir of apapi.conf",
     TO_TEXT(struct options, input.spool_dir)},
    {0, "live-dir", " DIR", "live pages of running steps; default: live_dir of apapi.conf",
     TO_TEXT(struct options, input.live_dir)},
    {'v', "verbose", NULL, "show which lines were skipped, and why",
     TO_FLAG(struct options, input.verbose)},
    {0}};

static const struct option_table table = {
    .program = "apapi " COMMAND,
    .head = "usage: apapi export [--prometheus] [OPTION]... [FILE]\n"
            "Write energy and power of this node's steps as OpenMetrics text, for the textfile\n"
            "collector of Prometheus' node exporter. FILE is replaced atomically; - is standard\n"
            "output; default: " FILE_NAME " in prometheus_dir of apapi.conf. Values of running\n"
            "steps come from their live pages.\n",
    .foot = "T is written " WHEN_FORMS ".\n"
            "Exit status: 0 done, 1 failure, 2 wrong usage.\n",
    .column = 23,
    .rows = rows};

static int write_text(struct prometheus *prometheus, const struct prometheus_counts *counts,
                      char **text, size_t *size)
{
    FILE *out = open_memstream(text, size);

    return text_of_stream(out, text, out ? prometheus_write(prometheus, counts, out) : -1) ? 0 : -1;
}

static bool is_collected(const char *file)
{
    const char *end = strrchr(file, '.');

    return end && strcmp(end, ".prom") == 0;
}

static int export_command_deliver(const char *file, const char *text, size_t size)
{
    struct apapi_error err;

    if (strcmp(file, "-") == 0) {
        fwrite(text, 1, size, stdout);
        return command_finish(COMMAND, EXIT_SUCCESS);
    }
    if (!is_collected(file)) {
        fprintf(stderr,
                "apapi " COMMAND ": %s: node exporter reads files only whose name ends in .prom\n",
                file);
    }
    return replace_file(file, FILE_MODE, text, size, &err) ? command_fail(COMMAND, err.text)
                                                           : EXIT_SUCCESS;
}

static int export(const struct options *options, struct prometheus *prometheus)
{
    struct apapi_error err = {""};
    struct prometheus_counts counts;
    size_t size;
    char *text = NULL;
    int status;

    if (export_read(&options->input, prometheus, &counts, &err)) {
        return errno == EINVAL ? command_refuse(COMMAND, err.text)
                               : command_fail(COMMAND, err.text);
    }
    status = write_text(prometheus, &counts, &text, &size)
                 ? command_fail(COMMAND, "no memory")
                 : export_command_deliver(options->file, text, size);
    free(text);
    return status;
}

/* Slurm's default name of a node. */
static const char *short_host_name(char *name, size_t size)
{
    if (gethostname(name, size - 1)) {
        *name = '\0';
    }
    name[size - 1] = '\0';
    name[strcspn(name, ".")] = '\0';
    return name;
}

static int export_command_complete(struct options *options)
{
    struct apapi_error err;

    if (when_parse(options->since ? options->since : SINCE, clock_unix_ns(),
                   &options->input.from_ns, &err)) {
        return command_refuse(COMMAND, err.text);
    }
    return 0;
}

static int export_command_configure(struct options *options, const struct config *config)
{
    struct export_input *input = &options->input;

    input->own_folders = !input->acct_dir;
    input->acct_dir = input->acct_dir ? input->acct_dir : config->acct_dir;
    input->spool_dir = input->spool_dir ? input->spool_dir : config->spool_dir;
    input->live_dir = input->live_dir ? input->live_dir : config->live_dir;
    if (*options->file) {
        return 0;
    }
    if (!*config->prometheus_dir) {
        return command_refuse(COMMAND, "which file? Name it, or prometheus_dir in apapi.conf");
    }
    if (snprintf(options->path, sizeof options->path, "%s/" FILE_NAME, config->prometheus_dir) >=
        PATH_MAX) {
        return command_fail(COMMAND, "prometheus_dir: the path is too long");
    }
    options->file = options->path;
    return 0;
}

static int export_command_run(struct options *options)
{
    struct prometheus *prometheus;
    struct config config;
    int status = export_command_complete(options);

    if (status) {
        return status;
    }
    if (!options->input.nodes) {
        options->input.nodes = short_host_name(options->host, sizeof options->host);
    }
    config_defaults(&config);
    config_read(&config, config_path(), &(struct config_sink){0});
    status = export_command_configure(options, &config);
    if (status == 0) {
        prometheus = prometheus_create();
        status = prometheus ? export(options, prometheus) : command_fail(COMMAND, "no memory");
        prometheus_destroy(prometheus);
    }
    config_clear(&config);
    return status;
}

int export_command(int argc, char **argv)
{
    struct options options = {.file = ""};
    int status = command_options(&table, argc, argv, &options);

    if (status >= 0) {
        return status;
    }
    if (argc - optind > (*options.file ? 0 : 1)) {
        return command_refuse(COMMAND, "one file; 'apapi help export' shows how");
    }
    if (optind < argc) {
        options.file = argv[optind];
    }
    return export_command_run(&options);
}
