/* SPDX-License-Identifier: BSD-3-Clause */
#include "atime/runs.h"

#include <errno.h>
#include <libgen.h>
#include <math.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "measure/domain.h"

/* --- runs ------------------------------------------------------------------------------------- */

static void name_record(const struct report *report, struct apapi_record *record)
{
    char path[APAPI_TEXT_SIZE];

    record->id = APAPI_IDENTITY_UNKNOWN;
    record->id.node_index = 0;
    record->id.nodes = 1;
    record->id.uid = (uint32_t)getuid();
    record->ending = APAPI_ENDING_UNKNOWN;
    gethostname(record->id.node, sizeof record->id.node - 1);
    snprintf(path, sizeof path, "%s", report->program[0]);
    snprintf(record->id.name, sizeof record->id.name, "%s", basename(path));
}

static void unmeasured(struct apapi_record *record, const char *reason)
{
    struct apapi_measurement *m = &record->measurement;

    record->complete = false;
    snprintf(record->reason, sizeof record->reason, "%s", reason);
    *m = (struct apapi_measurement){.start_unix_ns = clock_unix_ns(), .covered = NAN};
    unmeasure_domains(m->domains);
}

static void runs_start(const struct measuring *measuring, struct apapi_record *record)
{
    struct apapi_error err;

    record->complete = true;
    region_watch_begin(measuring->regions);
    crossings_forget(measuring->limits);
    if (measuring->trace) {
        trace_next_run(measuring->trace);
    }
    if (apapi_session_start(measuring->session, 0, &err)) {
        unmeasured(record, err.text);
    }
}

static void runs_stop(const struct measuring *measuring, bool last, struct apapi_record *record)
{
    struct apapi_error err;

    if (!record->complete) {
        region_watch_end(measuring->regions, NULL);
        return; /* not started */
    }
    apapi_session_stop(measuring->session, NULL);
    if (apapi_session_measurement(measuring->session, &record->measurement, &err)) {
        unmeasured(record, err.text);
    }
    region_watch_end(measuring->regions, record);
    if (last) {
        crossings_end(measuring->limits);
    }
    crossings_copy(measuring->limits, record);
}

static void add_process(pid_t pid, void *limits)
{
    if (crossings_add_task(limits, pid)) {
        fprintf(stderr, "atime: --overflow: no signals: %s\n", strerror(errno));
    }
}

/* The program runs even if the measurement fails. */
static int run_once(const struct measuring *measuring, const struct signals *signals,
                    struct report *report, struct apapi_error *err)
{
    const struct child_started started = {add_process, measuring->limits};
    struct run *run = &report->runs[report->count];
    int result;

    name_record(report, &run->record);
    runs_start(measuring, &run->record);
    result = child_run(report->program, signals, &started, &run->end, err);
    if (result == 0) {
        runs_stop(measuring, report->count + 1 == report->runs_wanted, &run->record);
        report->count++;
    }
    return result;
}

static int runs_allocate(struct report *reports, size_t count, struct apapi_error *err)
{
    for (size_t i = 0; i < count; i++) {
        reports[i].count = 0;
        reports[i].runs = calloc(reports[i].runs_wanted, sizeof *reports[i].runs);
        if (!reports[i].runs) {
            return apapi_fail(err, ENOMEM, "no memory");
        }
    }
    return 0;
}

static void runs_progress(const struct measuring *measuring, const struct report *report)
{
    const struct run *run = &report->runs[report->count - 1];
    double energy_j = run_energy_j(run, APAPI_DOMAIN_NONE);
    char energy[UNITS_SIZE], name[APAPI_TEXT_SIZE];

    if (!measuring->progress || report->runs_wanted == 1) {
        return;
    }
    units_quantity(energy, sizeof energy, energy_j, "J");
    text_clean(name, sizeof name, run->record.id.name);
    fprintf(measuring->progress, "atime: \"%s\": run %zu of %u%s%s\n", name, report->count,
            report->runs_wanted, isnan(energy_j) ? "" : ", ", isnan(energy_j) ? "" : energy);
}

/* A round: each program once. The first one is run whatever signals there were. */
static int runs_round(const struct measuring *measuring, const struct signals *signals,
                      struct report *reports, size_t count, struct apapi_error *err)
{
    for (size_t i = 0; i < count && (i == 0 || signals_last(signals) == 0); i++) {
        if (run_once(measuring, signals, &reports[i], err)) {
            return -1;
        }
        runs_progress(measuring, &reports[i]);
    }
    return 0;
}

/* @return 0; 1: a signal has ended it; -1 as runs_measure(). */
static int runs_warm_up(const struct signals *signals, struct report *reports, size_t count,
                        struct apapi_error *err)
{
    for (unsigned round = 0; round < reports->warmups; round++) {
        for (size_t i = 0; i < count; i++) {
            if (child_run(reports[i].program, signals, NULL, &reports[i].warmup, err)) {
                return -1;
            }
            if (signals_last(signals) != 0) {
                return 1;
            }
        }
    }
    return 0;
}

/* The program runs without regions if there is no place for them. */
static void runs_publish(const struct measuring *measuring)
{
    struct apapi_error err;

    if (region_watch_publish(measuring->regions, &err) && measuring->verbose) {
        fprintf(stderr, "atime: no regions: %s\n", err.text);
    }
}

int runs_measure(const struct measuring *measuring, struct report *reports, size_t count,
                 struct apapi_error *err)
{
    struct signals signals;
    int result, error;

    if (runs_allocate(reports, count, err)) {
        return -1;
    }
    signals_catch(&signals);
    runs_publish(measuring);
    result = runs_warm_up(&signals, reports, count, err);
    error = errno;
    while (result == 0 && reports->count < reports->runs_wanted) {
        result = runs_round(measuring, &signals, reports, count, err);
        error = errno;
        if (signals_last(&signals) != 0) {
            break;
        }
    }
    region_watch_withdraw(measuring->regions);
    signals_restore(&signals);
    errno = error;
    return result < 0 ? -1 : 0;
}

int runs_exit_code(const struct report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        int code = child_exit_code(report->runs[i].end.status);

        if (code) {
            return code;
        }
    }
    return report->count == 0 ? child_exit_code(report->warmup.status) : 0;
}

void runs_clear(struct report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        apapi_record_clear(&report->runs[i].record);
    }
    free(report->runs);
    report->runs = NULL;
    report->count = 0;
}
