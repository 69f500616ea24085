/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi export: energy and power of steps as OpenMetrics text. */
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
#include "cli/records/input.h"
#include "cli/steps/steps.h"
#include "render/prometheus.h"

#define COMMAND "export"
#define FILE_NAME "apapi.prom" /* in prometheus_dir */
#define FILE_MODE 0644         /* readable by all: the node exporter does not run as root */
#define NAME_PATIENCE_S 60     /* for the name of a user that has a number */

struct export
{
    struct query query;
    const char *spool_dir;
    const char *live_dir; /* "": no live pages */
    bool own_folders;     /* the accounting folder comes from apapi.conf: it may not exist yet */
    const char *file;     /* NULL: not given */
    struct prometheus *prometheus;
    struct apapi_scan *scan;
    bool spooled;   /* the records come from the spool */
    bool running;   /* the current record belongs to a running step */
    bool no_memory; /* no memory for a record of a running step */
    struct prometheus_counts counts;
    struct top_view view; /* state for one page at a time */
    char path[PATH_MAX],
        host[HOST_NAME_MAX + 1]; /* `file` and query.wanted.nodes point to them if not given */
};

/* @return whether the name of a running step's user may still come: it would begin new series */
static bool waits(const struct apapi_identity *id, double elapsed_s)
{
    return !*id->user && id->uid != APAPI_UNKNOWN && elapsed_s < NAME_PATIENCE_S;
}

/* --- records -------------------------------------------------------------------------------- */

static int take_record(const struct apapi_record *record, const char *line, size_t size,
                       void *context)
{
    struct export *export = context;
    const struct apapi_measurement *m = &record->measurement;
    bool wanted = export->running ? !waits(&record->id, (double)m->elapsed_ns / NS_PER_S)
                                  : m->start_unix_ns + (int64_t)m->elapsed_ns >=
                                        export->query.wanted.from_unix_ns;

    (void)line;
    (void)size;
    export->counts.waiting += export->spooled && !export->running && record->delayed;
    return wanted ? prometheus_add(export->prometheus, record, export->running) : 0;
}

static void note_problem(const struct apapi_scan_problem *problem, void *context)
{
    if (((const struct export *)context)->query.verbose) {
        command_note_skipped(COMMAND, problem);
    }
}

/* @param from_ns  earliest end of a record [ns since 1970]; 0: any */
static int open_scan(struct export *export, int64_t from_ns, struct apapi_error *err)
{
    struct apapi_scan_filter filter = export->query.wanted;
    const struct apapi_scan_sink sink = {
        .record = take_record, .problem = note_problem, .context = export};

    filter.from_unix_ns = from_ns;
    export->scan = apapi_scan_create(&filter, &sink, err);
    return export->scan ? 0 : -1;
}

static int close_scan(struct export *export, int result)
{
    const struct apapi_scan_counts *counts = apapi_scan_counts(export->scan);

    export->counts.skipped += counts->skipped + counts->unreadable;
    apapi_scan_destroy(export->scan);
    return result;
}

static int fail_read(const char *path, struct apapi_error *err)
{
    return apapi_fail(err, errno, "%s: %s%s", path, strerror(errno),
                      errno == EACCES && geteuid() != 0 ? "; the site's folders are root's" : "");
}

static int read_accounting(struct export *export, struct apapi_error *err)
{
    int result;

    export->spooled = export->running = false;
    if (open_scan(export, export->query.wanted.from_unix_ns, err)) {
        return -1;
    }
    result = apapi_scan_folder(export->scan, export->query.dir, err);
    if (result && errno == ENOENT && export->own_folders) {
        result = 0;
    } else if (result) {
        fail_read(errno == ENOMEM ? "accounting files" : export->query.dir, err);
    }
    return close_scan(export, result);
}

/* Read a record that lies in a node's folder of the spool. */
static void take_spooled(int folder, const char *name, unsigned char type, void *context)
{
    const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    struct export *export = context;
    const char *end = strrchr(name, '.');
    int file;

    (void)type;
    if (export->no_memory || !end || strcmp(end, ".json") != 0) {
        return;
    }
    file = openat(folder, name, flags);
    if (file < 0) {
        export->counts.skipped += errno != ENOENT; /* ENOENT: the record's step has just ended */
        return;
    }
    /* The process that writes a record keeps its file locked until the process ends. */
    export->running = flock(file, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    if (apapi_scan_stream(export->scan, file, name, NULL)) {
        export->no_memory = errno == ENOMEM;
        export->counts.skipped += !export->no_memory;
    }
    folder_close(file);
}

static void take_node(int spool, const char *name, unsigned char type, void *context)
{
    struct export *export = context;

    (void)type;
    export->counts.skipped +=
        !folder_each(spool, name, take_spooled, export) && errno != ENOTDIR && errno != ELOOP;
}

static int read_spool(struct export *export, struct apapi_error *err)
{
    char folder[PATH_MAX];
    int result = 0;

    snprintf(folder, sizeof folder, "%s/.", export->spool_dir); /* "/.": spool_dir may be a link */
    if (open_scan(export, 0, err)) {
        return -1;
    }
    export->spooled = true;
    if (!folder_each(AT_FDCWD, folder, take_node, export) && errno != ENOENT) {
        result = fail_read(export->spool_dir, err);
    }
    return close_scan(export, export->no_memory ? apapi_fail(err, ENOMEM, "no memory") : result);
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

/* Export the live page of a step. A page without a reading is left out. */
static int take_page(const struct apapi_live_page *page, void *context)
{
    struct export *export = context;
    const struct top_step *step;
    int result;

    if (!top_wants(&export->query, page)) {
        return 0;
    }
    top_clear(&export->view);
    export->view.mono_ns = clock_monotonic_ns();
    result = top_add(&export->view, page);
    step = export->view.steps;
    if (result == 0 && step->state != APAPI_LIVE_STARTING && !waits(&step->id, step->elapsed_s)) {
        result = add_live(export->prometheus, step, &page->head);
    }
    return result;
}

static int read_pages(struct export *export, struct apapi_error *err)
{
    struct apapi_live_counts counts;
    int result;

    if (!*export->live_dir) {
        return 0;
    }
    result = apapi_live_scan(export->live_dir, take_page, export, &counts, err);
    top_clear(&export->view);
    export->counts.skipped += result == 0 ? counts.broken : 0;
    return result;
}

/* --- the command ---------------------------------------------------------------------------- */

static const struct option_row rows[] = {
    {0, "prometheus", "[=FILE]", "the one form: may be left out", TO_TEXT(struct export, file)},
    {'S', "starttime", "=T", "finished steps that ended at T or later; default: 1h",
     TO_TEXT(struct export, query.from)},
    {'N', "nodelist", "=NODES", "only these nodes, n[1-4,7]; default: this host's short name",
     TO_WORDS(struct export, query.wanted.nodes)},
    {0, "acct-dir", " DIR", "accounting folder; default: acct_dir of apapi.conf",
     TO_TEXT(struct export, query.dir)},
    {0, "spool-dir", " DIR", "records of running steps; default: spool_dir of apapi.conf",
     TO_TEXT(struct export, spool_dir)},
    {0, "live-dir", " DIR", "live pages of running steps; default: live_dir of apapi.conf",
     TO_TEXT(struct export, live_dir)},
    {'v', "verbose", NULL, "show which lines were skipped, and why",
     TO_FLAG(struct export, query.verbose)},
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
    .column = 27,
    .rows = rows};

static int deliver(const char *file, const char *text, size_t size)
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
    return replace_file(file, FILE_MODE, text, size, &err) ? command_fail(COMMAND, "%s", err.text)
                                                           : EXIT_SUCCESS;
}

static int export_run(struct export *export)
{
    struct apapi_error err = {""};
    char *text = NULL;
    size_t size;
    FILE *out;
    int status;

    export->prometheus = prometheus_create();
    if (!export->prometheus) {
        return command_fail(COMMAND, "no memory");
    }
    /* a step that ends meanwhile moves on in this order: none is missed */
    if (read_pages(export, &err) || read_spool(export, &err) || read_accounting(export, &err)) {
        status = command_fail(COMMAND, "%s", err.text);
    } else {
        out = open_memstream(&text, &size);
        status =
            text_of_stream(out, &text,
                           out ? prometheus_write(export->prometheus, &export->counts, out) : -1)
                ? deliver(export->file, text, size)
                : command_fail(COMMAND, "no memory");
        free(text);
    }
    prometheus_destroy(export->prometheus);
    return status;
}

static int export_configured(struct export *export)
{
    const struct config *config = export->query.config;

    export->spool_dir = export->spool_dir ? export->spool_dir : config->spool_dir;
    export->live_dir = export->live_dir ? export->live_dir : config->live_dir;
    if (!export->file || !*export->file) {
        if (!*config->prometheus_dir) {
            return command_refuse(COMMAND, "which file? Name it, or prometheus_dir in apapi.conf");
        }
        if (snprintf(export->path, sizeof export->path, "%s/" FILE_NAME, config->prometheus_dir) >=
            PATH_MAX) {
            return command_fail(COMMAND, "prometheus_dir: the path is too long");
        }
        export->file = export->path;
    }
    return export_run(export);
}

int export_command(int argc, char **argv)
{
    struct export export = {.query = {.command = COMMAND, .from = "1h", .of_nodes = true}};
    struct query *query = &export.query;
    int status = option_table_read(&table, argc, argv, &export);

    if (status >= 0) {
        return status;
    }
    if (argc - optind > (export.file && *export.file ? 0 : 1)) {
        return command_refuse(COMMAND, "one file; 'apapi help export' shows how");
    }
    export.file = optind < argc ? argv[optind] : export.file;
    if (!query->wanted.nodes) { /* Slurm's default name for this node */
        gethostname(export.host, sizeof export.host - 1);
        export.host[strcspn(export.host, ".")] = '\0';
        query->wanted.nodes = export.host;
    }
    export.own_folders = !query->dir;
    status = records_begin(query);
    return records_end(query, status ? status : export_configured(&export));
}
