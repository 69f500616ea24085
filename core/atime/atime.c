/* SPDX-License-Identifier: BSD-3-Clause */
/* atime: run a program and say what energy it cost, like time(1). */
#include <errno.h>
#include <getopt.h>
#include <libgen.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apapi/record.h"
#include "apapi/session.h"
#include "atime/child.h"

#define USAGE_ERROR 2

struct options {
    const char *components; /* NULL: the default */
    struct apapi_intervals intervals;
    char **program; /* NULL-terminated */
};

static void print_usage(FILE *out)
{
    fprintf(out,
            "usage: atime [-c COMPONENTS] [-t INTERVALS] PROGRAM [ARGS...]\n"
            "Run PROGRAM and report the energy that the machine used meanwhile.\n"
            "  -c COMPONENTS  what to measure, for example rapl:nvml (default: %s)\n"
            "  -t INTERVALS   time between two readings: 100ms, or nvml:250ms:ipmi:3s\n"
            "  -h, --help     this text\n"
            "  -V, --version  the version\n"
            "The report goes to standard error. Exit status: that of PROGRAM, 128+n if signal n\n"
            "ended it, 127 not found, 126 not executable, 2 wrong usage.\n",
            apapi_components_default());
}

static int refuse(const char *text)
{
    fprintf(stderr, "atime: %s\n", text);
    return USAGE_ERROR;
}

/* @return -1: go on; else the exit status. */
static int parse_option(int letter, struct options *options)
{
    struct apapi_error err;

    switch (letter) {
    case 'c':
        options->components = optarg;
        return apapi_components_check(optarg, &err) ? refuse(err.text) : -1;
    case 't':
        return apapi_intervals_parse(optarg, &options->intervals, &err) ? refuse(err.text) : -1;
    case 'h':
        print_usage(stdout);
        return EXIT_SUCCESS;
    case 'V':
        puts("atime " APAPI_VERSION);
        return EXIT_SUCCESS;
    default:
        print_usage(stderr);
        return USAGE_ERROR;
    }
}

/* @return -1: go on; else the exit status. */
static int parse_options(int argc, char **argv, struct options *options)
{
    static const struct option names[] = {
        {"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, 'V'}, {0}};
    int letter;

    while ((letter = getopt_long(argc, argv, "+c:t:hV", names, NULL)) != -1) {
        int status = parse_option(letter, options);

        if (status >= 0) {
            return status;
        }
    }
    if (optind == argc) {
        print_usage(stderr);
        return USAGE_ERROR;
    }
    options->program = argv + optind;
    return -1;
}

static double seconds(const struct timeval *time)
{
    return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

static int format_report(const struct apapi_record *record, const struct child_end *end,
                         char **text, struct apapi_error *err)
{
    const struct apapi_table_head head = {
        .name = record->id.name,
        .user_s = seconds(&end->usage.ru_utime),
        .system_s = seconds(&end->usage.ru_stime),
        .elapsed_s = (double)end->elapsed_ns / 1e9,
    };
    struct apapi_merge *merge = apapi_merge_create();
    int result;

    if (!merge || apapi_merge_add(merge, record)) {
        apapi_merge_destroy(merge);
        return apapi_fail(err, ENOMEM, "no memory");
    }
    result = apapi_table_format(merge, &head, text, err);
    apapi_merge_destroy(merge);
    return result;
}

static void report(struct apapi_session *session, char *program, const struct child_end *end)
{
    struct apapi_record record = {.complete = true};
    struct apapi_error err;
    char *text = NULL;

    snprintf(record.id.name, sizeof record.id.name, "%s", basename(program));
    gethostname(record.id.node, sizeof record.id.node - 1);
    record.id.nodes = 1;
    if (apapi_session_measurement(session, &record.measurement, &err) ||
        format_report(&record, end, &text, &err)) {
        fprintf(stderr, "atime: no report: %s\n", err.text);
    } else {
        fputs(text, stderr);
    }
    free(text);
    apapi_record_clear(&record);
}

/* Whatever becomes of the measurement, the program runs and its status is ours. */
static int measure(struct apapi_session *session, char **program)
{
    struct apapi_error err;
    struct child_end end;
    bool measuring = apapi_session_start(session, 0, &err) == 0;

    if (!measuring) {
        fprintf(stderr, "atime: not measured: %s\n", err.text);
    }
    if (child_run(program, &end, &err)) {
        int error = errno;

        fprintf(stderr, "atime: %s\n", err.text);
        return child_start_failure(error);
    }
    if (measuring) {
        apapi_session_stop(session, NULL);
        report(session, program[0], &end);
    }
    return child_exit_code(end.status);
}

int main(int argc, char **argv)
{
    struct options options = {.intervals = {.default_ns = APAPI_INTERVAL_DEFAULT_NS}};
    struct apapi_session *session;
    struct apapi_error err;
    int status = parse_options(argc, argv, &options);

    if (status >= 0) {
        return status;
    }
    session =
        apapi_session_create(&(struct apapi_session_config){.components = options.components,
                                                            .sources = getenv("APAPI_SOURCES"),
                                                            .intervals = &options.intervals},
                             &err);
    if (!session) {
        return refuse(err.text);
    }
    status = measure(session, options.program);
    apapi_session_destroy(session);
    return status;
}
