/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi-bench: what APAPI costs, as ratios to the least code that could do the same, in one run. */
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/option_table.h"
#include "bench/bench.h"

#define PAIRS_MAX 256
#define YARDSTICK_MIN 1e-9 /* a smaller yardstick is noise: the row is above every limit */

/* Return the median, and sort the values. */
static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_double);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* Format a cell with a value and its kind: "1.07 x", "2.31 ms"; "" if the value is 0. */
static const char *format(char text[32], double value, const char *kind)
{
    *text = '\0';
    if (value != 0) {
        snprintf(text, 32, "%.2f %s", value, kind);
    }
    return text;
}

/* Print a row of at most 100 columns. */
static void print(const char *what, const char *ours, const char *bare, const char *yardstick,
                  const char *unit, const char *ratio, const char *limit, const char *ok)
{
    printf("%-44s %8s %8s %8s %-4s %9s %7s  %s\n", what, ours, bare, yardstick, unit, ratio, limit,
           ok);
}

void bench_compare(struct bench_table *table, struct bench_row row, void *context,
                   bench_side_f ours, bench_side_f bare, bench_side_f yardstick)
{
    double our_costs[PAIRS_MAX], bare_costs[PAIRS_MAX], yardsticks[PAIRS_MAX], values[PAIRS_MAX];
    size_t pairs = table->quick ? row.quick_pairs : row.pairs;
    const char *kind = yardstick ? "y" : bare ? "x" : row.unit;
    double value, limit = table->quick ? 0 : row.limit; /* a few pairs are not exact enough */
    char texts[5][32];

    for (size_t i = 0; i <= pairs && i < PAIRS_MAX; i++) {
        size_t at = i ? i - 1 : 0; /* without the first: caches, page faults and lazy binding */
        bool ours_first = i % 2;

        if (ours_first) {
            our_costs[at] = ours(context);
        }
        bare_costs[at] = bare ? bare(context) : 0;
        if (!ours_first) {
            our_costs[at] = ours(context);
        }
        yardsticks[at] = yardstick ? yardstick(context) : 0;
        values[at] =
            bare && !yardstick ? our_costs[at] / bare_costs[at] : our_costs[at] - bare_costs[at];
    }
    value = median(values, pairs);
    if (yardstick) {
        value /= fmax(median(yardsticks, pairs), YARDSTICK_MIN);
    }
    table->excess |= limit != 0 && value > limit;
    print(row.what, format(texts[0], median(our_costs, pairs), ""),
          format(texts[1], median(bare_costs, pairs), ""),
          format(texts[2], median(yardsticks, pairs), ""), row.unit, format(texts[3], value, kind),
          format(texts[4], limit, kind),
          limit == 0       ? ""
          : value <= limit ? "yes"
                           : "NO");
}

void bench_sleep(uint64_t ns, int flags)
{
    const struct timespec time = {.tv_sec = (time_t)(ns / NS_PER_S),
                                  .tv_nsec = (long)(ns % NS_PER_S)};

    clock_nanosleep(CLOCK_MONOTONIC, flags, &time, NULL);
}

double bench_spawn(char *const argv[], struct rusage *usage)
{
    posix_spawn_file_actions_t silent;
    uint64_t start_ns;
    int status;
    pid_t pid;

    posix_spawn_file_actions_init(&silent);
    posix_spawn_file_actions_addopen(&silent, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&silent, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    start_ns = clock_monotonic_ns();
    if (posix_spawnp(&pid, argv[0], &silent, NULL, argv, environ) ||
        wait4(pid, &status, 0, usage) != pid || status != 0) {
        bench_die(argv[0]);
    }
    posix_spawn_file_actions_destroy(&silent);
    return (double)(clock_monotonic_ns() - start_ns) / 1e6;
}

void bench_die(const char *what)
{
    fprintf(stderr, "apapi-bench: %s\n", what);
    exit(EXIT_FAILURE);
}

static const struct part {
    const char *name;
    bench_part_f run;
} parts[] = {
    {"tick", bench_tick},       {"limits", bench_limits},   {"session", bench_session},
    {"period", bench_period},   {"startup", bench_startup}, {"collect", bench_collect},
    {"records", bench_records}, {"regions", bench_regions}, {"observe", bench_observe},
};

static struct options {
    bool check, quick;
} options;

static const struct option_row rows[] = {
    {0, "quick", NULL,
     "a few seconds: shows that it works; the figures are rough, there is no\n--check",
     TO_FLAG(struct options, quick)},
    {0, "check", NULL, "end with status 1 if a figure is above its limit",
     TO_FLAG(struct options, check)},
    {0}};

static const struct option_table usage = {
    .program = "apapi-bench",
    .head = "usage: apapi-bench [--quick] [--check] [PART...]\n"
            "Compare what APAPI costs with the least that could do the same, in turns, and print\n"
            "the medians. Takes three minutes.\n",
    .foot = "Parts: tick limits session period startup collect records regions\n"
            "observe; without any: all of them.\n",
    .column = 16,
    .rows = rows};

static bool is_part(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        if (strcmp(parts[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

int main(int argc, char **argv)
{
    static struct bench_table table;
    int status = option_table_read(&usage, argc, argv, &options);

    if (status >= 0) {
        return status;
    }
    if (options.quick && options.check) {
        fputs("apapi-bench: --quick measures too little for --check\n", stderr);
        return USAGE_ERROR;
    }
    for (int i = optind; i < argc; i++) {
        if (!is_part(argv[i])) {
            fprintf(stderr, "apapi-bench: no part is called '%s'\n", argv[i]);
            return USAGE_ERROR;
        }
    }
    table.quick = options.quick;
    print("what", "ours", "bare", "yardst.", "unit", "ratio", "limit", "ok");
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        bool wanted = optind == argc;

        for (int k = optind; k < argc; k++) {
            wanted |= strcmp(parts[i].name, argv[k]) == 0;
        }
        if (wanted) {
            parts[i].run(&table);
        }
    }
    return options.check && table.excess ? EXIT_FAILURE : EXIT_SUCCESS;
}
