/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi-verify: how often the uncertainty covers the error, for meters whose truth is known. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "apapi/live.h"
#include "apapi/session.h"
#include "base/array.h"
#include "base/option_table.h"
#include "session/session.h"
#include "simulation/sim_source.h"
#include "simulation/written.h"
#include "verify/bounds.h"
#include "verify/ensembles.h"

#define COVERED_LEAST 0.99
#define RUNS 1000
#define RUNS_CELL 320
#define WRONG_SHARE 0.01
#define REMARK_SHARE 0.05
#define SEED_STEP UINT64_C(0x2545f4914f6cdd1d)
#define TALLY_SPREAD 3.5 /* standard deviations: none of hundreds of figures is farther off */

struct options {
    size_t runs;      /* of each ensemble */
    const char *seed; /* of the first run */
    const char *only; /* names of ensembles begin with it; NULL: all */
    bool cells, wrong;
};

static const struct option_row rows[] = {
    {'n', "runs", "=RUNS", "of each ensemble; default 1000, with --cells 320",
     TO_COUNT(struct options, runs)},
    {0, "seed", "=SEED", "of the first run, default 1; the next has SEED+1",
     TO_TEXT(struct options, seed)},
    {'e', "ensemble", "=NAME", "only the ensembles whose names begin so",
     TO_TEXT(struct options, only)},
    {0, "cells", NULL, "courses x meters x intervals x what sources state",
     TO_FLAG(struct options, cells)},
    {0, "wrong", NULL, "print each run that is wrong without a flag to standard error",
     TO_FLAG(struct options, wrong)},
    {0}};

static const struct option_table table = {
    .program = "apapi-verify",
    .head = "usage: apapi-verify [OPTION]...\n"
            "Measure simulated meters whose true energy is known, and print for each kind of runs\n"
            "(\"ensemble\") a line of JSON: how often the uncertainty covers the error.\n"
            "test/history/coverage makes a table of it.\n",
    .foot = "",
    .column = 23,
    .rows = rows};

/* --- a run ------------------------------------------------------------------------------------ */

/* The results of a run, and the truth. */
struct run_result {
    double energy_j, uncertainty_j; /* of all meters together */
    double truth_j;                 /* in the measured time, from `start_ns` on */
    double elapsed_s, covered;      /* of the result; covered: 0..1 */
    bool known;   /* each domain has an energy and an uncertainty; else the total lacks some */
    bool flagged; /* refused readings, resets, gaps, stalls, failures, or time not covered */
    bool rough;   /* the readings leave a greater error possible than the uncertainty */
};

/* The player of scenes, one at a time. */
static struct player {
    const struct scene *scene;
    struct sim_clock clock;
    struct sim_source source;
    struct apapi_live_page page;
    uint64_t start_ns, stop_ns; /* when the session was told to start and stop */
} player;

/*
 * The window is the time between the orders to start and to stop. If the last reading is later, the
 * time until that reading is part of the window.
 */
static void run_describe(const struct apapi_measurement *m, struct run_result *result)
{
    const struct history_component *component = player.scene->component;
    const struct apapi_incidents incidents = apapi_measurement_incidents(m);
    uint64_t end_ns = player.page.head.start_ns + m->elapsed_ns;

    end_ns = end_ns > player.stop_ns ? end_ns : player.stop_ns;
    *result = (struct run_result){
        .energy_j = apapi_measurement_total_j(m),
        .uncertainty_j = apapi_record_uncertainty_j(m),
        .truth_j = scene_energy_j(player.scene, player.start_ns - player.source.origin_ns,
                                  end_ns - player.source.origin_ns),
        .elapsed_s = (double)m->elapsed_ns / 1e9,
        .covered = m->covered,
        .known = true,
        .flagged = incidents.refused || incidents.resets || incidents.gaps || incidents.stalls ||
                   incidents.failed || m->covered < COVERED_LEAST,
        .rough = incidents.rough};
    for (size_t i = 0; i < component->event_count; i++) {
        const struct apapi_domain_result *domain = &m->domains[component->meters[i].domain];

        result->known &=
            domain->measured && !isnan(domain->energy_j) && !isnan(domain->uncertainty_j);
    }
}

static int run_measure(struct apapi_session *session, struct run_result *result,
                       struct apapi_error *err)
{
    const struct scene *scene = player.scene;
    struct apapi_measurement m;
    struct apapi_record copy;
    int rc;

    sim_clock_sleep(&player.clock, player.source.origin_ns + scene->start_ns);
    player.start_ns = session_clock_now_ns(&player.clock.base);
    sim_clock_sleep(&player.clock, player.start_ns + scene->late_ns);
    if (apapi_session_start(session, player.start_ns, err)) {
        return -1;
    }
    sim_clock_sleep(&player.clock, player.start_ns + scene->length_ns);
    player.stop_ns = session_clock_now_ns(&player.clock.base);
    if (apapi_session_stop(session, err) || apapi_session_measurement(session, &m, err)) {
        return -1;
    }
    rc = written_read(&m, &copy, err);
    if (rc == 0) {
        run_describe(&copy.measurement, result);
        apapi_record_clear(&copy);
    }
    apapi_measurement_clear(&m);
    return rc;
}

/*
 * Play the scene: a whole session in simulated time.
 * @param seed  for what is not in the scene: how long a few instructions take
 * @return 0; -1 with errno: it could not be played
 */
static int run_scene(const struct scene *scene, uint64_t seed, struct run_result *result,
                     struct apapi_error *err)
{
    const struct apapi_intervals intervals = {.default_ns = scene->component->interval_ns};
    const struct apapi_session_config config = {
        .components = "c0", .intervals = &intervals, .live = &player.page};
    struct apapi_session *session;
    int rc;

    player.scene = scene;
    sim_begin(&player.source, &player.clock, &scene->history, seed);
    session = session_create(&config, &player.clock.base, err);
    rc = session ? run_measure(session, result, err) : -1;
    apapi_session_destroy(session);
    if (!sim_clock_finish(&player.clock)) {
        return apapi_fail(err, EPROTO, "%s", player.clock.broken);
    }
    return rc;
}

/* --- an ensemble ------------------------------------------------------------------------------ */

/* The runs of an ensemble, counted. */
struct tally {
    uint64_t known;     /* runs with an energy and an uncertainty */
    uint64_t covered;   /* known runs whose uncertainty covers the error */
    uint64_t unflagged; /* known runs wrong by more than uncertainty and 1 %, without a flag */
    uint64_t rough;     /* known runs whose result says that it may be wrong by that much */
    uint64_t seconds;   /* known runs that lasted a second or longer */
    uint64_t remarked;  /* of these: runs that a table remarks on, for errors above 5 % */
    double *ratios;     /* uncertainty / error, of known runs */
};

static bool is_wrong(const struct run_result *result)
{
    double allowed_j = result->uncertainty_j + WRONG_SHARE * result->truth_j;

    return result->known && !result->flagged && !result->rough &&
           fabs(result->energy_j - result->truth_j) > allowed_j;
}

static void tally_add(struct tally *tally, const struct run_result *result)
{
    double error_j = fabs(result->energy_j - result->truth_j);

    if (!result->known) {
        return;
    }
    tally->ratios[tally->known++] = error_j > 0 ? result->uncertainty_j / error_j : INFINITY;
    tally->covered += error_j <= result->uncertainty_j;
    tally->unflagged += is_wrong(result);
    tally->rough += result->rough;
    if (result->elapsed_s >= 1) {
        tally->seconds++;
        tally->remarked += result->rough && result->uncertainty_j > REMARK_SHARE * result->energy_j;
    }
}

/* @return the ratio at a share from 0 to 1 of them; there are some, and they are sorted. */
static double tally_quantile(const struct tally *tally, double share)
{
    double rank = fmin(fmax(share, 0), 1) * (double)tally->known;

    return tally->ratios[rank < (double)tally->known ? (size_t)rank : tally->known - 1];
}

static void print_number(const char *name, double value)
{
    if (isfinite(value)) {
        printf(",\"%s\":%.6g", name, value);
    }
}

/* Print a line of JSON. Names need no escapes. */
static void tally_print(struct tally *tally, const struct ensemble *ensemble)
{
    double half = TALLY_SPREAD / 2 / sqrt((double)tally->known); /* ranks around the median's */

    printf("{\"name\":\"%s\",\"gauge\":%s,\"known\":%" PRIu64 ",\"covered\":%" PRIu64
           ",\"unflagged\":%" PRIu64 ",\"rough\":%" PRIu64 ",\"seconds\":%" PRIu64
           ",\"remarked\":%" PRIu64,
           ensemble->name, ensemble->gauge ? "true" : "false", tally->known, tally->covered,
           tally->unflagged, tally->rough, tally->seconds, tally->remarked);
    if (tally->known > 0) {
        qsort(tally->ratios, tally->known, sizeof *tally->ratios, compare_double);
        print_number("covered_pct", 100 * (double)tally->covered / (double)tally->known);
        print_number("greatest_pct",
                     100 * bounds_of(tally->covered, tally->known, BOUNDS_95).greatest);
        print_number("median", tally_quantile(tally, 0.5));
        print_number("slack", tally_quantile(tally, 0.05));
        /* for any seeds, the true median lies between these */
        print_number("median_least", tally_quantile(tally, 0.5 - half));
        print_number("median_greatest", tally_quantile(tally, 0.5 + half));
    }
    puts("}");
}

/* A number from its name keeps the runs of an ensemble the same when others are added. */
static uint64_t name_number(const char *name)
{
    uint64_t number = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

    for (; *name; name++) {
        number = (number ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    }
    return number;
}

static void print_wrong(const char *name, uint64_t seed, const struct scene *scene,
                        const struct run_result *result)
{
    fprintf(stderr,
            "%s --seed %" PRIu64 ": %.6g J, true %.6g, uncertainty %.4g; %.4g s, interval %.4g s, "
            "covered %.4g %%\n",
            name, seed, result->energy_j, result->truth_j, result->uncertainty_j, result->elapsed_s,
            (double)scene->component->interval_ns / 1e9, 100 * result->covered);
}

/* @return 0; -1: a run could not be played. */
static int play(const struct options *options, const struct ensemble *ensemble, double *ratios)
{
    static struct scene scene;
    uint64_t seed = options->seed ? strtoull(options->seed, NULL, 10) : 1;
    struct tally tally = {.ratios = ratios};

    for (uint64_t end = seed + options->runs; seed < end; seed++) {
        struct random random = {.state = seed * SEED_STEP + name_number(ensemble->name)};
        struct run_result result;
        struct apapi_error err = {""};

        ensemble_make(ensemble, &scene, &random);
        if (run_scene(&scene, random_bits(&random), &result, &err)) {
            fprintf(stderr, "apapi-verify: %s --seed %" PRIu64 ": %s\n", ensemble->name, seed,
                    err.text);
            return -1;
        }
        tally_add(&tally, &result);
        if (options->wrong && is_wrong(&result)) {
            print_wrong(ensemble->name, seed, &scene, &result);
        }
    }
    tally_print(&tally, ensemble);
    return 0;
}

int main(int argc, char **argv)
{
    struct options options = {.runs = 0};
    int status = option_table_read(&table, argc, argv, &options);
    const struct ensemble *ensemble;
    double *ratios;
    bool any = false;

    if (status >= 0) {
        return status;
    }
    if (options.runs == 0) {
        options.runs = options.cells ? RUNS_CELL : RUNS;
    }
    ratios = calloc(options.runs, sizeof *ratios);
    status = ratios ? EXIT_SUCCESS : EXIT_FAILURE;
    ensemble = options.cells ? ensemble_cells() : ensembles;
    for (; ensemble->name && status == EXIT_SUCCESS; ensemble++) {
        if (!options.only || strncmp(ensemble->name, options.only, strlen(options.only)) == 0) {
            status = play(&options, ensemble, ratios) ? EXIT_FAILURE : EXIT_SUCCESS;
            any = true;
        }
    }
    free(ratios);
    return any ? status : EXIT_FAILURE;
}
