/* SPDX-License-Identifier: BSD-3-Clause */
#include "atime/options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/session.h"
#include "base/array.h"
#include "base/option_table.h"
#include "base/text.h"

static const struct {
    const char *name;
    report_f report;
    compare_f compare;
} formats[] = {{"table", report_table, compare_table},
               {"json", report_json, compare_json},
               {"csv", report_csv, NULL},
               {"classic", report_classic, NULL}};

int options_refuse(const char *text)
{
    fprintf(stderr, "atime: %s\n", text);
    return USAGE_ERROR;
}

static int set_components(void *target, const char *text, struct apapi_error *err)
{
    struct options *options = target;

    options->components = text;
    return apapi_components_check(text, err);
}

static int set_intervals(void *target, const char *text, struct apapi_error *err)
{
    struct options *options = target;
    int result = apapi_intervals_parse(text, &options->intervals, err);

    for (size_t i = 0; i < options->intervals.count && result == 0; i++) {
        result = apapi_components_check(options->intervals.named[i].component, err);
    }
    return result;
}

static int set_form(void *target, const char *text, struct apapi_error *err)
{
    struct options *options = target;

    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        if (strcmp(text, formats[i].name) == 0) {
            options->report = formats[i].report;
            options->compare_report = formats[i].compare;
            return 0;
        }
    }
    return apapi_fail(err, EINVAL, "unknown format '%.60s'; available: table, json, csv, classic",
                      text);
}

static int options_set_number(unsigned *number, const char *option, const char *text,
                              struct apapi_error *err)
{
    *number = (unsigned)positive_number(text, RUNS_MAX);
    return *number ? 0
                   : apapi_fail(err, EINVAL, "%s '%.60s': not a number of runs from 1 to %d",
                                option, text, RUNS_MAX);
}

static int set_runs(void *target, const char *text, struct apapi_error *err)
{
    return options_set_number(&((struct options *)target)->runs, "-r", text, err);
}

static int set_warmups(void *target, const char *text, struct apapi_error *err)
{
    return options_set_number(&((struct options *)target)->warmups, "--warmup", text, err);
}

static int set_pid(void *target, const char *text, struct apapi_error *err)
{
    struct options *options = target;

    options->pid = (pid_t)positive_number(text, INT_MAX);
    return options->pid ? 0
                        : apapi_fail(err, EINVAL, "-p '%.60s': not the number of a process", text);
}

/* They are parsed when all are known: what is wrong takes several lines. One too many is noticed.
 */
static int set_overflow(void *target, const char *text, struct apapi_error *err)
{
    struct options *options = target;

    (void)err;
    if (options->overflow_count < COUNT_OF(options->overflows)) {
        options->overflows[options->overflow_count++] = text;
    }
    return 0;
}

static char components_help[256];

static const struct option_row option_rows[] = {
    {'c', "components", " LIST", components_help, TO_CALL(set_components)},
    {'t', "intervals", " LIST", "time between two readings: 100ms, or nvml:250ms:ipmi:3s",
     TO_CALL(set_intervals)},
    {'f', "format", " FORM", "table (default), json, csv or classic", TO_CALL(set_form)},
    {'o', "output", " FILE", "report to FILE instead of standard error",
     TO_TEXT(struct options, output)},
    {0, "trace", " FILE", "write every reading to FILE as CSV", TO_TEXT(struct options, trace)},
    {0, "overflow", " TEXT",
     "when a threshold is crossed: 'total >= 5kJ : signal=USR1';\n"
     "may be repeated",
     TO_CALL(set_overflow)},
    {'r', "runs", " N", "run PROGRAM N times: mean, standard deviation, confidence",
     TO_CALL(set_runs)},
    {0, "warmup", " N", "run PROGRAM N times before, without measuring", TO_CALL(set_warmups)},
    {0, "compare", NULL, "two programs in turn, A [ARG]... -- B [ARG]...: the difference",
     TO_FLAG(struct options, compare)},
    {0, "export-markdown", " FILE", "also write a table in Markdown to FILE",
     TO_TEXT(struct options, markdown)},
    {'p', "pid", " PID", "measure until this process ends, or until Ctrl-C", TO_CALL(set_pid)},
    {'v', "verbose", NULL, "all events, and how far the numbers can be trusted",
     TO_FLAG(struct options, verbose)},
    {0}};

static const struct option_table table = {
    .program = "atime",
    .head = "usage: atime [OPTION]... PROGRAM [ARG]...\n"
            "       atime [OPTION]... -p PID\n"
            "       atime -r N --compare [OPTION]... PROGRAM [ARG]... -- PROGRAM [ARG]...\n"
            "Run PROGRAM, or wait for the end of process PID, and report the energy that the\n"
            "machine used meanwhile.\n",
    .foot = "Exit status: that of PROGRAM, 128+n if signal n ended it, 127 not found, 126 not\n"
            "executable; 2 wrong usage; 1 no such process.\n",
    .column = 25,
    .words_end = true,
    .rows = option_rows};

/* As parsed by the original APAPI: a whole number in any base, 1. */
static bool is_one(const char *text)
{
    char *end;

    return text && *text && strtol(text, &end, 0) == 1 && *end == '\0';
}

static int look_at_environment(struct options *options)
{
    const char *components = secure_getenv("APAPI_CMPLIST");

    options->verbose |= is_one(secure_getenv("APAPI_VERBOSE"));
    if (!options->components && components && *components) {
        struct apapi_error err;

        return set_components(options, components, &err) ? options_refuse(err.text) : -1;
    }
    return -1;
}

/* Divides the words at the first "--" in them. */
static int options_split(char **words, struct options *options)
{
    for (size_t i = 1; words[0] && words[i]; i++) {
        if (strcmp(words[i], "--") == 0 && words[i + 1]) {
            words[i] = NULL;
            options->other = words + i + 1;
            return -1;
        }
    }
    return options_refuse("--compare: two programs are needed: A [ARG]... -- B [ARG]...");
}

static int check_comparison(char **words, struct options *options)
{
    if (!options->compare) {
        return -1;
    }
    if (options->pid) {
        return options_refuse("--compare and -p PID: a process that runs already ends only once");
    }
    if (options->runs < 2) {
        return options_refuse("--compare: each program has to run several times: add -r 10");
    }
    if (!options->compare_report) {
        return options_refuse("--compare: only with -f table or -f json");
    }
    return options_split(words, options);
}

static int check_together(int argc, const struct options *options)
{
    if (options->pid && optind < argc) {
        return options_refuse("-p PID and PROGRAM: only one of them can be measured");
    }
    if (options->pid && options->runs > 1) {
        return options_refuse("-p PID and -r RUNS: a process that runs already ends only once");
    }
    if (options->pid && options->warmups) {
        return options_refuse("-p PID and --warmup: a process that runs already ends only once");
    }
    if (!options->pid && optind == argc) {
        option_table_help(&table, stderr);
        return USAGE_ERROR;
    }
    return -1;
}

int options_parse(int argc, char **argv, struct options *options)
{
    int status;

    snprintf(components_help, sizeof components_help,
             "what to measure, for example rapl:nvml\n"
             "(default: $APAPI_CMPLIST, else %s)",
             apapi_components_default());
    *options = (struct options){.intervals = {.default_ns = APAPI_INTERVAL_DEFAULT_NS},
                                .report = report_table,
                                .compare_report = compare_table,
                                .runs = 1};
    status = option_table_read(&table, argc, argv, options);
    if (status < 0) {
        status = check_together(argc, options);
    }
    if (status < 0) {
        status = check_comparison(argv + optind, options);
    }
    if (status < 0) {
        status = look_at_environment(options);
    }
    options->program = options->pid ? NULL : argv + optind;
    return status;
}
