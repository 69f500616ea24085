/* SPDX-License-Identifier: BSD-3-Clause */
#include "verify/play.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

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

static int play_run(const struct play *play, const struct ensemble *ensemble, uint64_t seed,
                    struct run_result *result, struct apapi_error *err)
{
    static struct scene scene;
    struct random random = {.state = seed * SEED_STEP + play_name_number(ensemble->name)};
    int rc;

    ensemble_make(ensemble, play->interval_ns, &scene, &random);
    rc = play->real ? verify_run_real(&scene, result, err)
                    : verify_run(&scene, random_bits(&random), result, err);
    if (rc == 0 && (play->each || (play->wrong && tally_is_wrong(result)))) {
        play_print_run(ensemble->name, seed, &scene, result);
    }
    return rc;
}

int play_ensemble(const struct play *play, const struct ensemble *ensemble, struct tally *tally,
                  struct apapi_error *err)
{
    for (uint64_t i = 0; i < play->runs; i++) {
        struct run_result result;

        if (play_run(play, ensemble, play->seed + i, &result, err)) {
            return -1;
        }
        if (tally_add(tally, &result)) {
            return apapi_fail(err, ENOMEM, "no memory");
        }
    }
    return 0;
}
