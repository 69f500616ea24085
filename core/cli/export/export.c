/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi export: steps as OpenMetrics text. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "apapi/error.h"
#include "apapi/scan.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/steps/steps.h"
#include "cli/when.h"
#include "config/config.h"
#include "render/prometheus.h"

/** Which steps `apapi export` reads, and from where. */
struct export_input {
    const char *acct_dir;
    bool own_folders; /* acct_dir is the site's: it may not exist yet */
    const char *spool_dir;
    const char *live_dir; /* "": no live pages */
    const char *nodes;    /* in Slurm's form */
    int64_t from_ns;      /* earliest end of a finished step [ns since 1970] */
    bool verbose;         /* report each skipped line on standard error */
};

/* --- records -------------------------------------------------------------------------------- */

#define SPOOL_SUFFIX ".json"

struct reading {
    const struct export_input *input;
    struct prometheus *prometheus;
    struct apapi_scan *scan;
    bool running; /* the current record belongs to a running step */
    struct prometheus_counts counts;
    struct top_view view; /* one page at a time */
};

static int export_read_take(const struct apapi_record *record, const char *line, size_t size,
                            void *context)
{
    struct reading *reading = context;
    const struct apapi_measurement *m = &record->measurement;

    (void)line;
    (void)size;
    if (!reading->running && m->start_unix_ns + (int64_t)m->elapsed_ns < reading->input->from_ns) {
        return 0;
    }
    return prometheus_add(reading->prometheus, record, reading->running);
}

static void export_read_report_problem(const struct apapi_scan_problem *problem, void *context)
{
    const struct reading *reading = context;

    if (reading->input->verbose) {
        command_note_skipped("export", problem);
    }
}

/* @param from_ns  0: all */
static int open_scan(struct reading *reading, int64_t from_ns, struct apapi_error *err)
{
    const struct apapi_scan_filter filter = {.from_unix_ns = from_ns,
                                             .nodes = reading->input->nodes};
    const struct apapi_scan_sink sink = {
        .record = export_read_take, .problem = export_read_report_problem, .context = reading};

    reading->scan = apapi_scan_create(&filter, &sink, err);
    return reading->scan ? 0 : -1;
}

static int close_scan(struct reading *reading, int result)
{
    const struct apapi_scan_counts *counts = apapi_scan_counts(reading->scan);

    reading->counts.skipped += counts->skipped + counts->unreadable;
    apapi_scan_destroy(reading->scan);
    return result;
}

static int export_read_fail(const char *path, struct apapi_error *err)
{
    return apapi_fail(err, errno, "%s: %s%s", path, strerror(errno),
                      errno == EACCES && geteuid() != 0 ? "; the site's folders are root's" : "");
}

static int read_accounting(struct reading *reading, struct apapi_error *err)
{
    const char *dir = reading->input->acct_dir;
    int result;

    if (open_scan(reading, reading->input->from_ns, err)) {
        return -1;
    }
    result = apapi_scan_folder(reading->scan, dir, err);
    if (result && errno == ENOENT && reading->input->own_folders) {
        result = 0;
    } else if (result) {
        export_read_fail(errno == ENOMEM ? "accounting files" : dir, err);
    }
    return close_scan(reading, result);
}

static int read_spooled(struct reading *reading, int folder, const char *name,
                        struct apapi_error *err)
{
    const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    int file = openat(folder, name, flags), result;

    if (file < 0) {
        reading->counts.skipped += errno != ENOENT; /* ENOENT: its step has just ended */
        return 0;
    }
    /* The owner of a record locks its file as long as it lives. */
    reading->running = flock(file, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    reading->counts.waiting += !reading->running;
    result = apapi_scan_stream(reading->scan, file, name, err);
    folder_close(file);
    if (result && errno != ENOMEM) {
        reading->counts.skipped++;
        return 0;
    }
    return result;
}

typedef int (*visit_f)(struct reading *reading, int folder, const char *name,
                       struct apapi_error *err);

/* Visit each name in a folder, except hidden ones. @return 0; -1 with errno of `visit`. */
static int visit_all(struct reading *reading, int fd, visit_f visit, struct apapi_error *err)
{
    DIR *folder = fdopendir(fd);
    const struct dirent *entry;
    int result = 0;

    if (!folder) {
        folder_close(fd);
        return export_read_fail("spool", err);
    }
    while (result == 0 && (entry = readdir(folder))) {
        result = *entry->d_name == '.' ? 0 : visit(reading, dirfd(folder), entry->d_name, err);
    }
    closedir(folder);
    return result;
}

static int visit_file(struct reading *reading, int folder, const char *name,
                      struct apapi_error *err)
{
    const char *end = strrchr(name, '.');

    return end && end > name && strcmp(end, SPOOL_SUFFIX) == 0
               ? read_spooled(reading, folder, name, err)
               : 0;
}

static int visit_node(struct reading *reading, int folder, const char *name,
                      struct apapi_error *err)
{
    int node = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (node < 0) {
        reading->counts.skipped += errno != ENOTDIR && errno != ELOOP;
        return 0;
    }
    return visit_all(reading, node, visit_file, err);
}

static int read_spool(struct reading *reading, struct apapi_error *err)
{
    int folder = open(reading->input->spool_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), result;

    if (folder < 0) {
        return errno == ENOENT ? 0 : export_read_fail(reading->input->spool_dir, err);
    }
    if (open_scan(reading, 0, err)) {
        folder_close(folder);
        return -1;
    }
    result = visit_all(reading, folder, visit_node, err);
    return close_scan(reading, result);
}

/* --- live pages ----------------------------------------------------------------------------- */

static int add_live(struct prometheus *prometheus, const struct top_step *step,
                    const struct apapi_live_head *head)
{
    struct prometheus_live live = {.id = &step->id,
                                   .start_unix_ns = step->start_unix_ns,
                                   .elapsed_s = step->elapsed_s,
                                   .running = step->state == APAPI_LIVE_RUNNING};

    __atomic_load(&head->budget_j, &live.budget_j, __ATOMIC_ACQUIRE);
    __atomic_load(&head->budget_used_j, &live.budget_used_j, __ATOMIC_ACQUIRE);
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        const struct top_figure *figure = &step->domains[d];
        bool known = d != TOP_TOTAL && figure->measured;

        live.energy_j[d] = known ? figure->total : NAN;
        live.power_w[d] =
            known && live.running && !figure->stale && !figure->failed ? figure->now : NAN;
    }
    return prometheus_add_live(prometheus, &live);
}

/* Pages without a reading are left out. */
static int take_page(const struct apapi_live_page *page, void *context)
{
    struct reading *reading = context;
    const struct top_filter filter = {.nodes = reading->input->nodes};
    const struct top_step *step;
    int result;

    if (!top_wants(&filter, page)) {
        return 0;
    }
    top_clear(&reading->view);
    reading->view.mono_ns = clock_monotonic_ns();
    result = top_add(&reading->view, page);
    step = reading->view.steps;
    if (result == 0 && step->state != APAPI_LIVE_STARTING) {
        result = add_live(reading->prometheus, step, &page->head);
    }
    return result;
}

static int read_pages(struct reading *reading, struct apapi_error *err)
{
    struct apapi_live_counts counts;
    int result;

    if (!*reading->input->live_dir) {
        return 0;
    }
    result = apapi_live_scan(reading->input->live_dir, take_page, reading, &counts, err);
    top_clear(&reading->view);
    if (result == 0) {
        reading->counts.skipped += counts.broken;
    }
    return result;
}

/* --- the command ---------------------------------------------------------------------------- */

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

static int export_command_deliver(const char *file, const char *text, size_t size)
{
    const char *end = strrchr(file, '.');
    struct apapi_error err;

    if (strcmp(file, "-") == 0) {
        fwrite(text, 1, size, stdout);
        return command_finish(COMMAND, EXIT_SUCCESS);
    }
    if (!end || strcmp(end, ".prom") != 0) {
        fprintf(stderr,
                "apapi " COMMAND ": %s: node exporter reads files only whose name ends in .prom\n",
                file);
    }
    return replace_file(file, FILE_MODE, text, size, &err) ? command_fail(COMMAND, err.text)
                                                           : EXIT_SUCCESS;
}

static int export(const struct options *options, struct prometheus *prometheus)
{
    struct reading reading = {.input = &options->input, .prometheus = prometheus};
    struct apapi_error err = {""};
    char *text = NULL;
    size_t size;
    FILE *out;
    int status;

    if (read_accounting(&reading, &err) || read_spool(&reading, &err) ||
        read_pages(&reading, &err)) {
        return errno == EINVAL ? command_refuse(COMMAND, err.text)
                               : command_fail(COMMAND, err.text);
    }
    out = open_memstream(&text, &size);
    status =
        text_of_stream(out, &text, out ? prometheus_write(prometheus, &reading.counts, out) : -1)
            ? export_command_deliver(options->file, text, size)
            : command_fail(COMMAND, "no memory");
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
    struct apapi_error err;
    struct config config;
    int status;

    if (when_parse(options->since ? options->since : SINCE, clock_unix_ns(),
                   &options->input.from_ns, &err)) {
        return command_refuse(COMMAND, err.text);
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
