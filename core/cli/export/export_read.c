/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/export/export_read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "apapi/scan.h"
#include "base/clock.h"
#include "base/folder.h"
#include "cli/command.h"
#include "cli/steps/view.h"

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

/* The owner of a record locks its file as long as it lives. */
static bool is_owned(int file)
{
    return flock(file, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
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
    reading->running = is_owned(file);
    reading->counts.waiting += !reading->running;
    result = apapi_scan_stream(reading->scan, file, name, err);
    folder_close(file);
    if (result && errno != ENOMEM) {
        reading->counts.skipped++;
        return 0;
    }
    return result;
}

static bool is_spooled(const char *name)
{
    size_t length = strlen(name);

    return length > strlen(SPOOL_SUFFIX) &&
           strcmp(name + length - strlen(SPOOL_SUFFIX), SPOOL_SUFFIX) == 0;
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
    return is_spooled(name) ? read_spooled(reading, folder, name, err) : 0;
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

int export_read(const struct export_input *input, struct prometheus *prometheus,
                struct prometheus_counts *counts, struct apapi_error *err)
{
    struct reading reading = {.input = input, .prometheus = prometheus};
    int result =
        read_accounting(&reading, err) || read_spool(&reading, err) || read_pages(&reading, err)
            ? -1
            : 0;

    *counts = reading.counts;
    return result;
}
