/* SPDX-License-Identifier: BSD-3-Clause */
#include "atime/options.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/session.h"
#include "base/positive.h"

static const struct {
    const char *name;
    report_f report;
} formats[] = {{"table", report_table},
               {"json", report_json},
               {"csv", report_csv},
               {"classic", report_classic}};

enum { LONG_TRACE = 256 };

static void print_usage(FILE *out)
{
    fprintf(out,
            "usage: atime [OPTION]... PROGRAM [ARG]...\n"
            "       atime [OPTION]... -p PID\n"
            "Run PROGRAM, or wait for the end of process PID, and report the energy that the\n"
            "machine used meanwhile.\n"
            "  -c, --components LIST  what to measure, for example rapl:nvml\n"
            "                         (default: $APAPI_CMPLIST, else %s)\n"
            "  -t, --intervals LIST   time between two readings: 100ms, or nvml:250ms:ipmi:3s\n"
            "  -f, --format FORM      table (default), json, csv or classic\n"
            "  -o, --output FILE      report to FILE instead of standard error\n"
            "      --trace FILE       write every reading to FILE as CSV\n"
            "  -r, --runs N           run PROGRAM N times: mean and standard deviation\n"
            "  -p, --pid PID          measure until this process ends, or until Ctrl-C\n"
            "  -v, --verbose          all events, and how far the numbers can be trusted\n"
            "  -h, --help             this text\n"
            "  -V, --version          the version\n"
            "Exit status: that of PROGRAM, 128+n if signal n ended it, 127 not found, 126 not\n"
            "executable; 2 wrong usage; 1 no such process.\n",
            apapi_components_default());
}

int options_refuse(const char *text)
{
    fprintf(stderr, "atime: %s\n", text);
    return USAGE_ERROR;
}

static int set_components(const char *text, struct options *options)
{
    struct apapi_error err;

    options->components = text;
    return apapi_components_check(text, &err) ? options_refuse(err.text) : -1;
}

static int set_intervals(const char *text, struct options *options)
{
    struct apapi_error err;
    int result = apapi_intervals_parse(text, &options->intervals, &err);

    for (size_t i = 0; i < options->intervals.count && result == 0; i++) {
        result = apapi_components_check(options->intervals.named[i].component, &err);
    }
    return result ? options_refuse(err.text) : -1;
}

static int set_form(const char *text, struct options *options)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(text, formats[i].name) == 0) {
            options->report = formats[i].report;
            return -1;
        }
    }
    fprintf(stderr, "atime: unknown format '%s'; available: table, json, csv, classic\n", text);
    return USAGE_ERROR;
}

static int set_runs(const char *text, struct options *options)
{
    options->runs = (unsigned)positive_number(text, RUNS_MAX);
    if (options->runs == 0) {
        fprintf(stderr, "atime: -r '%s': not a number of runs from 1 to %d\n", text, RUNS_MAX);
        return USAGE_ERROR;
    }
    return -1;
}

static int set_pid(const char *text, struct options *options)
{
    options->pid = (pid_t)positive_number(text, INT_MAX);
    if (options->pid == 0) {
        fprintf(stderr, "atime: -p '%s': not the number of a process\n", text);
        return USAGE_ERROR;
    }
    return -1;
}

static int show(int letter)
{
    if (letter == 'V') {
        puts("atime " APAPI_VERSION);
    } else {
        print_usage(letter == 'h' ? stdout : stderr);
    }
    return letter == 'V' || letter == 'h' ? EXIT_SUCCESS : USAGE_ERROR;
}

/* @return -1: continue; otherwise the exit status. */
static int set_option(int letter, struct options *options)
{
    switch (letter) {
    case 'c':
        return set_components(optarg, options);
    case 't':
        return set_intervals(optarg, options);
    case 'f':
        return set_form(optarg, options);
    case 'o':
        options->output = optarg;
        return -1;
    case LONG_TRACE:
        options->trace = optarg;
        return -1;
    case 'r':
        return set_runs(optarg, options);
    case 'p':
        return set_pid(optarg, options);
    case 'v':
        options->verbose = true;
        return -1;
    default:
        return show(letter);
    }
}

static int set_options(int argc, char **argv, struct options *options)
{
    static const struct option names[] = {{"components", required_argument, NULL, 'c'},
                                          {"intervals", required_argument, NULL, 't'},
                                          {"format", required_argument, NULL, 'f'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"trace", required_argument, NULL, LONG_TRACE},
                                          {"runs", required_argument, NULL, 'r'},
                                          {"pid", required_argument, NULL, 'p'},
                                          {"verbose", no_argument, NULL, 'v'},
                                          {"help", no_argument, NULL, 'h'},
                                          {"version", no_argument, NULL, 'V'},
                                          {0}};
    int letter;

    while ((letter = getopt_long(argc, argv, "+c:t:f:o:r:p:vhV", names, NULL)) != -1) {
        int status = set_option(letter, options);

        if (status >= 0) {
            return status;
        }
    }
    return -1;
}

/* As parsed by the original APAPI: a whole number in any base, 1. */
static bool is_one(const char *text)
{
    char *end;

    return text && *text && strtol(text, &end, 0) == 1 && *end == '\0';
}

static int look_at_environment(struct options *options)
{
    const char *components = getenv("APAPI_CMPLIST");

    options->verbose |= is_one(getenv("APAPI_VERBOSE"));
    if (!options->components && components && *components) {
        return set_components(components, options);
    }
    return -1;
}

static int check_together(int argc, const struct options *options)
{
    if (options->pid && optind < argc) {
        return options_refuse("-p PID and PROGRAM: only one of them can be measured");
    }
    if (options->pid && options->runs > 1) {
        return options_refuse("-p PID and -r RUNS: a process that runs already ends only once");
    }
    if (!options->pid && optind == argc) {
        return show('?');
    }
    return -1;
}

int options_parse(int argc, char **argv, struct options *options)
{
    int status;

    *options = (struct options){
        .intervals = {.default_ns = APAPI_INTERVAL_DEFAULT_NS}, .report = report_table, .runs = 1};
    status = set_options(argc, argv, options);
    if (status < 0) {
        status = check_together(argc, options);
    }
    if (status < 0) {
        status = look_at_environment(options);
    }
    options->program = options->pid ? NULL : argv + optind;
    return status;
}
