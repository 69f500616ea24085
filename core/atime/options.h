/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ATIME_OPTIONS_H
#define ATIME_OPTIONS_H
#include <stdbool.h>
#include <sys/types.h>

#include "apapi/interval.h"
#include "atime/report.h"
#include "limit/limit.h"

#define RUNS_MAX 1000

/** The options of the command line and the environment. Texts are borrowed from those. */
struct options {
    const char *components; /* NULL: the default */
    struct apapi_intervals intervals;
    report_f report;
    compare_f compare_report; /* NULL: the form has none for --compare */
    const char *output;       /* path; NULL: standard error */
    const char *trace;        /* path; NULL: none */
    const char *markdown;     /* path; NULL: none */
    unsigned runs, warmups;
    bool compare;
    char **other; /* --compare: the second program; NULL: none */
    pid_t pid;    /* 0: start a program */
    bool verbose;
    size_t overflow_count;
    const char *overflows[LIMITS_MAX + 1]; /* as given */
    char **program;                        /* NULL-terminated; NULL: `pid` */
};

/**
 * Parse the options. Prints errors and --help.
 * @return -1: continue; otherwise the exit status.
 */
int options_parse(int argc, char **argv, struct options *options);

/** Print what is wrong. @return USAGE_ERROR. */
int options_refuse(const char *text);

#endif
