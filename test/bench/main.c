/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi-bench: what APAPI costs, as ratios to the least that could do the same, in one run. */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "bench/bench.h"

#define USAGE_ERROR 2

static const struct part {
    const char *name;
    bench_part_f run;
} parts[] = {
    {"tick", bench_tick},       {"reading", bench_reading}, {"overflow", bench_overflow},
    {"limits", bench_limits},   {"session", bench_session}, {"period", bench_period},
    {"grid", bench_grid},       {"startup", bench_startup},
#if WITH_PAPI
    {"papi", bench_papi},
#endif
    {"collect", bench_collect}, {"scan", bench_scan},       {"records", bench_records},
    {"live", bench_live},       {"regions", bench_regions}, {"observe", bench_observe},
};
#define PART_COUNT COUNT_OF(parts)

struct options {
    bool json, check;
    bool wanted[PART_COUNT];
};

static void print_usage(FILE *out)
{
    fputs("usage: apapi-bench [--quick] [--json] [--check] [PART...]\n"
          "Compare what APAPI costs with the least that could do the same, in turns, and print\n"
          "the medians. Takes three minutes.\n"
          "  --quick  a few seconds: shows that it works; the figures are rough, there is no "
          "--check\n"
          "  --json   the table as JSON\n"
          "  --check  end with status 1 if a figure is above its limit, and say which\n"
          "  --help   this text\n"
          "Parts: tick reading overflow limits session period grid startup papi collect\n"
          "scan records live regions observe; without any: all of them.\n",
          out);
}

/* @return whether there is a part of this name. */
static bool want_part(struct options *options, const char *name)
{
    for (size_t i = 0; i < PART_COUNT; i++) {
        if (strcmp(parts[i].name, name) == 0) {
            options->wanted[i] = true;
            return true;
        }
    }
    return false;
}

/* All of them if none is named. @return -1: go on; else the exit status. */
static int parse_parts(int count, char **names, struct options *options)
{
    for (size_t i = 0; i < PART_COUNT; i++) {
        options->wanted[i] = count == 0;
    }
    for (int i = 0; i < count; i++) {
        if (!want_part(options, names[i])) {
            fprintf(stderr, "apapi-bench: no part is called '%s'\n", names[i]);
            return USAGE_ERROR;
        }
    }
    return -1;
}

/* @return -1: go on; else the exit status. */
static int parse_options(int argc, char **argv, struct options *options, bool *quick)
{
    static const struct option names[] = {{"quick", no_argument, NULL, 'q'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"check", no_argument, NULL, 'c'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    int letter;

    while ((letter = getopt_long(argc, argv, "h", names, NULL)) != -1) {
        *quick |= letter == 'q';
        options->json |= letter == 'j';
        options->check |= letter == 'c';
        if (letter == 'h' || letter == '?') {
            print_usage(letter == 'h' ? stdout : stderr);
            return letter == 'h' ? EXIT_SUCCESS : USAGE_ERROR;
        }
    }
    if (*quick && options->check) {
        fputs("apapi-bench: --quick measures too little for --check\n", stderr);
        return USAGE_ERROR;
    }
    return parse_parts(argc - optind, argv + optind, options);
}

int main(int argc, char **argv)
{
    struct options options = {false};
    static struct bench_table table;
    int status = parse_options(argc, argv, &options, &table.quick);

    if (status >= 0) {
        return status;
    }
    for (size_t i = 0; i < PART_COUNT; i++) {
        if (options.wanted[i]) {
            parts[i].run(&table);
        }
    }
    for (size_t i = 0; table.quick && i < table.count; i++) {
        table.rows[i].limit = 0; /* the figures are too rough */
    }
    if (options.json) {
        bench_table_print_json(&table);
    } else {
        bench_table_print(&table);
    }
    return options.check && bench_table_report_excess(&table) ? EXIT_FAILURE : EXIT_SUCCESS;
}
