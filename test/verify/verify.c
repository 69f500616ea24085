/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi-verify: how often the uncertainty covers the error, against meters whose truth is known. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/interval.h"
#include "base/option_table.h"
#include "base/text.h"
#include "base/thread.h"
#include "verify/tally.h"

#define RUNS 1000
#define RUNS_REAL 250 /* 2000 in all, in eight minutes */
#define RUNS_CELL 320
#define ENSEMBLES_MAX 600
#define LOAD_MAX 64

struct options {
    uint64_t runs;        /* of each ensemble */
    uint64_t seed;        /* of the first run */
    uint64_t interval_ns; /* between readings; 0: what the runs want */
    bool real;            /* in real time */
    bool each;            /* print each run to standard output */
    bool wrong;           /* print those that are wrong, although no flag says so */
    const char *only;     /* ensembles whose names begin so; NULL: all */
    const char *rates;
    uint64_t load; /* threads that keep processors busy */
    bool list, json, cells;
};

struct verify {
    const struct options *options;
    struct rate_table rates; /* without a path: none */
    struct tally sums[2];    /* of counters, of gauges */
    struct figures figures[ENSEMBLES_MAX + 2];
    size_t count;
    bool as_listed;
};

/* --- options ---------------------------------------------------------------------------------- */

static int verify_set_number(const char *text, uint64_t least, uint64_t most, uint64_t *number,
                             struct apapi_error *err)
{
    struct whole_number whole;

    if (whole_number_parse(text, &whole) || whole.negative || *whole.rest || whole.value < least ||
        whole.value > most) {
        return apapi_fail(err, EINVAL, "'%.60s' is not a whole number from %" PRIu64 " to %" PRIu64,
                          text, least, most);
    }
    *number = whole.value;
    return 0;
}

static int verify_set_runs(void *options, const char *text, struct apapi_error *err)
{
    return verify_set_number(text, 1, UINT32_MAX, &((struct options *)options)->runs, err);
}

static int verify_set_seed(void *options, const char *text, struct apapi_error *err)
{
    return verify_set_number(text, 0, INT64_MAX, &((struct options *)options)->seed, err);
}

static int verify_set_load(void *options, const char *text, struct apapi_error *err)
{
    return verify_set_number(text, 0, LOAD_MAX, &((struct options *)options)->load, err);
}

static int verify_set_interval(void *options, const char *text, struct apapi_error *err)
{
    uint64_t *interval_ns = &((struct options *)options)->interval_ns;

    if (apapi_duration_parse(text, interval_ns, err)) {
        return -1;
    }
    if (*interval_ns < APAPI_INTERVAL_MIN_NS || *interval_ns > APAPI_INTERVAL_MAX_NS) {
        return apapi_fail(err, ERANGE, "'%.60s' is not from 1ms to 1h", text);
    }
    return 0;
}

static int verify_set_format(void *options, const char *text, struct apapi_error *err)
{
    ((struct options *)options)->json = strcmp(text, "json") == 0;
    return strcmp(text, "json") == 0 || strcmp(text, "table") == 0
               ? 0
               : apapi_fail(err, EINVAL, "'%.60s' is no format; table or json", text);
}

static const struct option_row rows[] = {
    {'n', "runs", "=RUNS", "of each ensemble; default 1000, with --real 250, --cells 320",
     TO_CALL(verify_set_runs)},
    {0, "seed", "=SEED", "of the first run, default 1; the next has SEED+1",
     TO_CALL(verify_set_seed)},
    {'e', "ensemble", "=NAME", "only the ensembles whose names begin so",
     TO_TEXT(struct options, only)},
    {'i', "interval", "=TIME", "between readings, instead of what each run draws",
     TO_CALL(verify_set_interval)},
    {0, "real", NULL, "in real time and with real threads, 5 ms to 1.3 s each",
     TO_FLAG(struct options, real)},
    {0, "load", "=THREADS", "with --real: so many keep processors busy", TO_CALL(verify_set_load)},
    {0, "cells", NULL,
     "courses x meters x intervals x what sources state, 320 runs each; fail where less than 95 % "
     "are covered, or if more than 10 % of the counters' runs of a second have the remark",
     TO_FLAG(struct options, cells)},
    {0, "rates", "=FILE", "fail if an ensemble is not as FILE lists it",
     TO_TEXT(struct options, rates)},
    {0, "each", NULL, "print each run, too", TO_FLAG(struct options, each)},
    {0, "wrong", NULL, "print each run that is wrong without a flag",
     TO_FLAG(struct options, wrong)},
    {'f', "format", "=FORM", "table (default) or json", TO_CALL(verify_set_format)},
    {0, "list", NULL, "print the ensembles and do nothing", TO_FLAG(struct options, list)},
    {0}};

static const struct option_table table = {
    .program = "apapi-verify",
    .head = "usage: apapi-verify [OPTION]...\n"
            "Measure simulated meters whose true energy is known, and show for each kind of runs\n"
            "(\"ensemble\") how often the uncertainty covers the error.\n",
    .foot = "Exit status: 0 done, 1 failure or not as in --rates, 2 wrong usage.\n",
    .column = 23,
    .rows = rows};

/* --- one ensemble ----------------------------------------------------------------------------- */

#define SEED_STEP UINT64_C(0x2545f4914f6cdd1d)

/* An ensemble's runs stay the same when others are added. */
static uint64_t play_name_number(const char *name)
{
    uint64_t number = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

    for (; *name; name++) {
        number = (number ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    }
    return number;
}

static void play_print_flags(unsigned flags)
{
    static const char *const names[] = {"unknown", "refused", "reset",     "gap",
                                        "stall",   "failed",  "uncovered", "rough"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (flags & 1u << i) {
            printf(", %s", names[i]);
        }
    }
}

static void play_print_run(const char *name, uint64_t seed, const struct scene *scene,
                           const struct run_result *result)
{
    double interval_s = (double)scene->history.components[0].interval_ns / 1e9;
    double error_j = result->energy_j - result->truth_j;

    printf("%s --seed %" PRIu64 ": %.6g J, true %.6g, uncertainty %.4g, error/U %+.3g; %.4g s, "
           "interval %.4g s, covered %.4g %%",
           name, seed, result->energy_j, result->truth_j, result->uncertainty_j,
           error_j / result->uncertainty_j, result->elapsed_s, interval_s, 100 * result->covered);
    play_print_flags(result->flags);
    putchar('\n');
}

static int play_run(const struct options *options, const struct ensemble *ensemble, uint64_t seed,
                    struct run_result *result, struct apapi_error *err)
{
    static struct scene scene;
    struct random random = {.state = seed * SEED_STEP + play_name_number(ensemble->name)};
    int rc;

    ensemble_make(ensemble, options->interval_ns, &scene, &random);
    rc = options->real ? verify_run_real(&scene, result, err)
                       : verify_run(&scene, random_bits(&random), result, err);
    if (rc == 0 && (options->each || (options->wrong && tally_is_wrong(result)))) {
        play_print_run(ensemble->name, seed, &scene, result);
    }
    return rc;
}

static int play_ensemble(const struct options *options, const struct ensemble *ensemble,
                         struct tally *tally, struct apapi_error *err)
{
    for (uint64_t i = 0; i < options->runs; i++) {
        struct run_result result;

        if (play_run(options, ensemble, options->seed + i, &result, err)) {
            return -1;
        }
        if (tally_add(tally, &result)) {
            return apapi_fail(err, ENOMEM, "no memory");
        }
    }
    return 0;
}

/* --- what is printed -------------------------------------------------------------------------- */

static void print_head(void)
{
    printf("%-30s %8s %8s %9s  %-15s %9s %10s %9s %9s %8s\n", "ensemble", "runs", "known",
           "covered", "95 % bounds", "worst e/U", "median U/e", "U/q95 e", "unflagged", "rough");
}

static void print_row(const struct figures *figures)
{
    printf("%-30s %8" PRIu64 " %8" PRIu64 " %7.2f %%  %6.2f ..%6.2f %9.3g %10.3g %9.3g %9" PRIu64
           " %8" PRIu64 "\n",
           figures->name, figures->runs, figures->known, figures->covered_pct, figures->least_pct,
           figures->greatest_pct, figures->worst, figures->median, figures->slack,
           figures->unflagged, figures->rough);
}

static void print_json_number(const char *name, double value)
{
    if (isfinite(value)) {
        printf(",\"%s\":%.6g", name, value);
    }
}

/* No name needs an escape. */
static void print_json(const struct verify *verify)
{
    printf("{\"version\":1,\"seed\":%" PRIu64 ",\"real\":%s,\"ensembles\":[", verify->options->seed,
           verify->options->real ? "true" : "false");
    for (size_t i = 0; i < verify->count; i++) {
        const struct figures *figures = &verify->figures[i];

        printf("%s{\"name\":\"%s\",\"what\":\"%s\",\"runs\":%" PRIu64 ",\"known\":%" PRIu64,
               i ? "," : "", figures->name, figures->what, figures->runs, figures->known);
        print_json_number("covered_pct", figures->covered_pct);
        print_json_number("least_pct", figures->least_pct);
        print_json_number("greatest_pct", figures->greatest_pct);
        print_json_number("worst", figures->worst);
        print_json_number("median", figures->median);
        print_json_number("slack", figures->slack);
        printf(",\"unflagged\":%" PRIu64 ",\"rough\":%" PRIu64 ",\"seconds\":%" PRIu64
               ",\"remarked\":%" PRIu64 "}",
               figures->unflagged, figures->rough, figures->seconds, figures->remarked);
    }
    puts("]}");
}

/* --- busy processors -------------------------------------------------------------------------- */

static struct load {
    pthread_t threads[LOAD_MAX];
    size_t count;
    atomic_bool over;
} load;

static void *load_spin(void *context)
{
    while (!atomic_load_explicit(&load.over, memory_order_relaxed)) {
    }
    return context;
}

static void load_end(void)
{
    atomic_store(&load.over, true);
    while (load.count > 0) {
        pthread_join(load.threads[--load.count], NULL);
    }
}

static int load_begin(size_t count)
{
    for (load.count = 0; load.count < count; load.count++) {
        if (thread_start(&load.threads[load.count], load_spin, NULL)) {
            load_end();
            return -1;
        }
    }
    return 0;
}

/* --- all of it -------------------------------------------------------------------------------- */

static int verify_fail(const char *text, int status)
{
    fprintf(stderr, "apapi-verify: %s\n", text);
    return status;
}

/* Flush standard output. @return `status`, or EXIT_FAILURE after a message. */
static int verify_finish(int status)
{
    if (fflush(stdout) == EOF || ferror(stdout)) {
        fprintf(stderr, "apapi-verify: standard output: %s\n", strerror(errno));
        return EXIT_FAILURE;
    }
    return status;
}

static const struct ensemble *verify_ensembles(const struct options *options)
{
    return options->cells ? ensemble_cells() : options->real ? real_ensembles : ensembles;
}

static bool verify_wants(const struct options *options, const struct ensemble *ensemble)
{
    return !options->only || strncmp(ensemble->name, options->only, strlen(options->only)) == 0;
}

static void verify_print_list(const struct options *options)
{
    for (const struct ensemble *one = verify_ensembles(options); one->name; one++) {
        if (verify_wants(options, one)) {
            printf("%-15s %s\n", one->name, one->what);
        }
    }
}

static void verify_show(struct verify *verify, struct tally *tally, const char *name,
                        const char *what)
{
    struct figures *figures = &verify->figures[verify->count++];

    *figures = tally_figures(tally, name, what);
    verify->as_listed &= !verify->options->cells || tally_is_right(figures);
    if (!verify->options->json) {
        print_row(figures);
    }
}

static int verify_play_one(struct verify *verify, const struct ensemble *ensemble,
                           struct apapi_error *err)
{
    const struct rate goal = rate_table_goal(ensemble->gauge);
    struct tally tally = {0};
    int rc = play_ensemble(verify->options, ensemble, &tally, err);

    if (rc == 0) {
        verify_show(verify, &tally, ensemble->name, ensemble->what);
        if (verify->rates.path) {
            verify->as_listed &=
                rate_table_compare(&verify->rates, &verify->figures[verify->count - 1], &goal);
        }
        rc = tally_join(&verify->sums[ensemble->gauge], &tally);
    }
    tally_clear(&tally);
    return rc;
}

/* A remark that stands beside most energies would not be read. */
static void verify_look_for_remarks(struct verify *verify, const struct figures *counters)
{
    const struct options *options = verify->options;

    if (options->cells && !options->only && !tally_is_quiet(counters)) {
        fprintf(stderr,
                "%" PRIu64 " of %" PRIu64 " runs of counters that lasted a second or longer have "
                "the remark on errors above 5 %%: more than 10 %%\n",
                counters->remarked, counters->seconds);
        verify->as_listed = false;
    }
}

static int verify_play_all(struct verify *verify, struct apapi_error *err)
{
    const struct options *options = verify->options;

    for (const struct ensemble *one = verify_ensembles(options); one->name; one++) {
        if (verify_wants(options, one) && verify_play_one(verify, one, err)) {
            return -1;
        }
    }
    if (verify->count == 0) {
        return apapi_fail(err, EINVAL, "no ensemble's name begins with '%.60s'; --list shows all",
                          options->only);
    }
    if (verify->sums[0].runs > 0 && verify->count > 1) {
        verify_show(verify, &verify->sums[0], "all counters", "all of them added up");
        verify_look_for_remarks(verify, &verify->figures[verify->count - 1]);
    }
    if (verify->sums[1].runs > 0 && verify->count > 1) {
        verify_show(verify, &verify->sums[1], "all gauges", "all of them added up");
    }
    return 0;
}

static int verify_run_all(struct verify *verify, struct apapi_error *err)
{
    const struct options *options = verify->options;
    int rc;

    if (options->rates && rate_table_read(&verify->rates, options->rates, err)) {
        return -1;
    }
    if (load_begin(options->load)) {
        return apapi_fail(err, errno, "no thread can be started: %s", strerror(errno));
    }
    if (!options->json) {
        print_head();
    }
    rc = verify_play_all(verify, err);
    load_end();
    if (rc == 0 && options->json) {
        print_json(verify);
    }
    return rc;
}

static int verify_main(const struct options *options)
{
    static struct verify verify;
    struct apapi_error err = {""};
    int rc;

    verify.options = options;
    verify.as_listed = true;
    setvbuf(stdout, NULL, _IOLBF, 0);
    rc = verify_run_all(&verify, &err);
    tally_clear(&verify.sums[0]);
    tally_clear(&verify.sums[1]);
    if (rc) {
        return verify_fail(err.text, EXIT_FAILURE);
    }
    return verify_finish(verify.as_listed ? EXIT_SUCCESS : EXIT_FAILURE);
}

int main(int argc, char **argv)
{
    struct options options = {.seed = 1};
    int status = option_table_read(&table, argc, argv, &options);

    if (status >= 0) {
        return verify_finish(status);
    }
    if (optind < argc) {
        return verify_fail("it takes options only", USAGE_ERROR);
    }
    if (options.load && !options.real) {
        return verify_fail("--load is for --real", USAGE_ERROR);
    }
    if (options.cells && (options.real || options.rates)) {
        return verify_fail("--cells takes neither --real nor --rates", USAGE_ERROR);
    }
    if (options.json && (options.each || options.wrong)) {
        return verify_fail("--each and --wrong are for tables", USAGE_ERROR);
    }
    if (options.runs == 0) {
        options.runs = options.cells ? RUNS_CELL : options.real ? RUNS_REAL : RUNS;
    }
    if (options.list) {
        verify_print_list(&options);
        return verify_finish(EXIT_SUCCESS);
    }
    return verify_main(&options);
}
