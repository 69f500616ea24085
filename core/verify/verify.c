/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi verify: how often the uncertainty covers the error, against meters whose truth is known. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/interval.h"
#include "base/number.h"
#include "cli/command.h"
#include "verify/ensembles.h"
#include "verify/tally.h"

#define RUNS 1000
#define SEED_STEP UINT64_C(0x2545f4914f6cdd1d)

struct options {
    const char *ensemble; /* NULL: all */
    uint64_t runs, seed, interval_ns;
    bool list, each;
};

static int set_number(const char *text, uint64_t *number, struct apapi_error *err)
{
    struct whole_number whole;

    if (whole_number_parse(text, &whole) || whole.negative || *whole.rest) {
        return apapi_fail(err, EINVAL, "'%.60s' is not a whole number", text);
    }
    *number = whole.value;
    return 0;
}

static int set_runs(void *options, const char *text, struct apapi_error *err)
{
    return set_number(text, &((struct options *)options)->runs, err);
}

static int set_seed(void *options, const char *text, struct apapi_error *err)
{
    return set_number(text, &((struct options *)options)->seed, err);
}

static int set_interval(void *options, const char *text, struct apapi_error *err)
{
    return apapi_duration_parse(text, &((struct options *)options)->interval_ns, err);
}

static const struct option_row rows[] = {
    {'n', "runs", "=RUNS", "of each ensemble, default 1000", TO_CALL(set_runs)},
    {0, "seed", "=SEED", "of the first run, default 1; the same seed makes the same runs",
     TO_CALL(set_seed)},
    {'e', "ensemble", "=NAME", "only this one, or those whose names begin so",
     TO_TEXT(struct options, ensemble)},
    {'i', "interval", "=TIME", "between readings, instead of what each run draws",
     TO_CALL(set_interval)},
    {0, "each", NULL, "print each run", TO_FLAG(struct options, each)},
    {0, "list", NULL, "print the ensembles", TO_FLAG(struct options, list)},
    {0}};

static const struct option_table table = {
    .program = "apapi verify",
    .head = "usage: apapi verify [OPTION]...\n"
            "Measure simulated meters whose true energy is known, in simulated time, and show how\n"
            "often the uncertainty of a result covers its error.\n",
    .foot = "Exit status: 0 done, 1 failure, 2 wrong usage.\n",
    .column = 21,
    .rows = rows};

/* --- what is printed ------------------------------------------------------------------------- */

static void print_list(void)
{
    for (const struct ensemble *ensemble = ensembles; ensemble->name; ensemble++) {
        printf("%-15s %s\n", ensemble->name, ensemble->what);
    }
}

static void print_head(void)
{
    printf("%-15s %8s %8s %9s %15s %11s %11s %9s\n", "ensemble", "runs", "known", "covered",
           "95 % bounds", "worst err/U", "median U/err", "unflagged");
}

static void print_tally(const char *name, struct tally *tally)
{
    const struct tally_bounds bounds = tally_bounds(tally->covered, tally->known);
    double share = tally->known ? 100.0 * (double)tally->covered / (double)tally->known : NAN;

    printf("%-15s %8zu %8zu %7.2f %% %6.2f..%6.2f %% %11.3g %12.3g %9zu\n", name, tally->runs,
           tally->known, share, 100 * bounds.least, 100 * bounds.most, tally->worst,
           tally_median(tally), tally->unflagged);
}

static void print_run(const struct ensemble *ensemble, uint64_t seed, const struct scene *scene,
                      const struct run_result *result)
{
    static const char letters[] = "URTGSFC";
    char flags[sizeof letters] = "";
    size_t count = 0;

    for (size_t i = 0; letters[i]; i++) {
        if (result->flags & 1u << i) {
            flags[count++] = letters[i];
        }
    }
    printf("%s --seed %" PRIu64 ": %.6g J, true %.6g, U %.4g, error/U %+.3g; %.4g s, interval "
           "%.4g s, covered %.4g %s\n",
           ensemble->name, seed, result->energy_j, result->truth_j, result->uncertainty_j,
           (result->energy_j - result->truth_j) / result->uncertainty_j, result->elapsed_s,
           (double)scene->history.components[0].interval_ns / 1e9, result->covered, flags);
}

/* --- runs ------------------------------------------------------------------------------------ */

static int play_one(const struct options *options, const struct ensemble *ensemble, uint64_t seed,
                    struct tally *tally)
{
    static struct scene scene;
    struct random random = {.state = seed * SEED_STEP + (uint64_t)(ensemble - ensembles)};
    struct run_result result;

    ensemble_make(ensemble, options->interval_ns, &scene, &random);
    if (verify_run(&scene, random_bits(&random), &result)) {
        return -1;
    }
    if (options->each) {
        print_run(ensemble, seed, &scene, &result);
    }
    return tally_add(tally, &result);
}

static int play_ensemble(const struct options *options, const struct ensemble *ensemble,
                         struct tally *sum)
{
    struct tally tally = {0};
    int rc = 0;

    for (uint64_t i = 0; rc == 0 && i < options->runs; i++) {
        rc = play_one(options, ensemble, options->seed + i, &tally);
    }
    if (rc == 0) {
        print_tally(ensemble->name, &tally);
        rc = tally_join(sum, &tally);
    }
    tally_clear(&tally);
    return rc;
}

static bool is_wanted(const struct options *options, const struct ensemble *ensemble)
{
    return !options->ensemble ||
           strncmp(ensemble->name, options->ensemble, strlen(options->ensemble)) == 0;
}

static int play(const struct options *options)
{
    struct tally sums[2] = {{0}};
    size_t played = 0;
    int rc = 0;

    print_head();
    for (const struct ensemble *ensemble = ensembles; rc == 0 && ensemble->name; ensemble++) {
        if (is_wanted(options, ensemble)) {
            rc = play_ensemble(options, ensemble, &sums[ensemble->gauge]);
            played++;
        }
    }
    if (rc == 0 && played > 1) {
        print_tally("all counters", &sums[0]);
        print_tally("all gauges", &sums[1]);
    }
    tally_clear(&sums[0]);
    tally_clear(&sums[1]);
    return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    struct options options = {.runs = RUNS, .seed = 1};
    int status = command_options(&table, argc, argv, &options);

    if (status >= 0) {
        return status;
    }
    if (options.list) {
        print_list();
        return command_finish("verify", EXIT_SUCCESS);
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    return command_finish("verify", play(&options));
}
