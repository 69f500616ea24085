/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi verify: how often the uncertainty covers the error, against meters whose truth is known. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/interval.h"
#include "base/number.h"
#include "cli/command.h"
#include "verify/figures.h"
#include "verify/load.h"
#include "verify/play.h"
#include "verify/rate_table.h"

#define RUNS 1000
#define RUNS_REAL 250 /* 2000 in all, in eight minutes */
#define ENSEMBLES_MAX 64

struct options {
    struct play play;
    const char *only; /* ensembles whose names begin so; NULL: all */
    const char *rates;
    uint64_t load;
    bool list, json;
};

struct verify {
    const struct options *options;
    struct rate_table rates; /* without a path: none */
    struct tally sums[2];    /* of counters, of gauges */
    struct figures figures[ENSEMBLES_MAX + 2];
    size_t count;
    bool as_listed;
};

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
    return verify_set_number(text, 1, UINT32_MAX, &((struct options *)options)->play.runs, err);
}

static int verify_set_seed(void *options, const char *text, struct apapi_error *err)
{
    return verify_set_number(text, 0, INT64_MAX, &((struct options *)options)->play.seed, err);
}

static int verify_set_load(void *options, const char *text, struct apapi_error *err)
{
    return verify_set_number(text, 0, LOAD_MAX, &((struct options *)options)->load, err);
}

static int verify_set_interval(void *options, const char *text, struct apapi_error *err)
{
    uint64_t *interval_ns = &((struct options *)options)->play.interval_ns;

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
    {'n', "runs", "=RUNS", "of each ensemble; default 1000, with --real 250",
     TO_CALL(verify_set_runs)},
    {0, "seed", "=SEED", "of the first run, default 1; the next has SEED+1",
     TO_CALL(verify_set_seed)},
    {'e', "ensemble", "=NAME", "only the ensembles whose names begin so",
     TO_TEXT(struct options, only)},
    {'i', "interval", "=TIME", "between readings, instead of what each run draws",
     TO_CALL(verify_set_interval)},
    {0, "real", NULL, "in real time and with real threads, 5 ms to 1.3 s each",
     TO_FLAG(struct options, play.real)},
    {0, "load", "=THREADS", "with --real: so many keep processors busy", TO_CALL(verify_set_load)},
    {0, "rates", "=FILE", "fail if an ensemble is not as FILE lists it",
     TO_TEXT(struct options, rates)},
    {0, "each", NULL, "print each run, too", TO_FLAG(struct options, play.each)},
    {0, "wrong", NULL, "print each run that is wrong without a flag",
     TO_FLAG(struct options, play.wrong)},
    {'f', "format", "=FORM", "table (default) or json", TO_CALL(verify_set_format)},
    {0, "list", NULL, "print the ensembles and do nothing", TO_FLAG(struct options, list)},
    {0}};

static const struct option_table table = {
    .program = "apapi verify",
    .head = "usage: apapi verify [OPTION]...\n"
            "Measure simulated meters whose true energy is known, and show for each kind of runs\n"
            "(\"ensemble\") how often the uncertainty covers the error.\n",
    .foot = "Exit status: 0 done, 1 failure or not as in --rates, 2 wrong usage.\n",
    .column = 23,
    .rows = rows};

static const struct ensemble *verify_ensembles(const struct options *options)
{
    return options->play.real ? real_ensembles : ensembles;
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
    if (!verify->options->json) {
        figures_print_row(figures);
    }
}

static int verify_play_one(struct verify *verify, const struct ensemble *ensemble,
                           struct apapi_error *err)
{
    const struct rate goal = rate_table_goal(ensemble->gauge);
    struct tally tally = {0};
    int rc = play_ensemble(&verify->options->play, ensemble, &tally, err);

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
    }
    if (verify->sums[1].runs > 0 && verify->count > 1) {
        verify_show(verify, &verify->sums[1], "all gauges", "all of them added up");
    }
    return 0;
}

static int verify_run_all(struct verify *verify, struct apapi_error *err)
{
    const struct options *options = verify->options;
    static struct load load;
    int rc;

    if (options->rates && rate_table_read(&verify->rates, options->rates, err)) {
        return -1;
    }
    if (load_begin(&load, options->load)) {
        return apapi_fail(err, errno, "no thread can be started: %s", strerror(errno));
    }
    if (!options->json) {
        figures_print_head();
    }
    rc = verify_play_all(verify, err);
    load_end(&load);
    if (rc == 0 && options->json &&
        figures_print_json(verify->figures, verify->count, &options->play)) {
        return apapi_fail(err, ENOMEM, "no memory");
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
        return command_fail("verify", err.text);
    }
    return command_finish("verify", verify.as_listed ? EXIT_SUCCESS : EXIT_FAILURE);
}

int main(int argc, char **argv)
{
    struct options options = {.play = {.seed = 1}};
    int status = command_options(&table, argc, argv, &options);

    if (status >= 0) {
        return status;
    }
    if (optind < argc) {
        return command_refuse("verify", "it takes options only");
    }
    if (options.load && !options.play.real) {
        return command_refuse("verify", "--load is for --real");
    }
    if (options.json && (options.play.each || options.play.wrong)) {
        return command_refuse("verify", "--each and --wrong are for tables");
    }
    if (options.play.runs == 0) {
        options.play.runs = options.play.real ? RUNS_REAL : RUNS;
    }
    if (options.list) {
        verify_print_list(&options);
        return command_finish("verify", EXIT_SUCCESS);
    }
    return verify_main(&options);
}
