/* SPDX-License-Identifier: BSD-3-Clause */
#include "verify/verify_run.h"

#include <math.h>
#include <stdio.h>

#include "apapi/session.h"
#include "session/session_create.h"
#include "simulation/sim_source.h"

#define BEGIN_NS UINT64_C(5000000000000) /* of a history, on the clock */
#define COVERED_LEAST 0.99

struct player {
    const struct scene *scene;
    struct sim_clock clock;
    struct sim_source source;
};

static void player_begin(struct player *player, uint64_t seed)
{
    const struct history *history = &player->scene->history;

    sim_clock_init(&player->clock, seed, BEGIN_NS);
    player->clock.late_once_in = history->late_once_in;
    player->clock.latest_ns = history->latest_ns;
    for (size_t i = 0; i < history->stop_count; i++) {
        sim_clock_stop(&player->clock, BEGIN_NS + history->stops[i].from_ns,
                       BEGIN_NS + history->stops[i].to_ns);
    }
    sim_source_use(&player->source, history, &player->clock);
}

static unsigned flags_of(const struct apapi_measurement *m, const struct run_result *result)
{
    const struct apapi_incidents incidents = apapi_measurement_incidents(m);
    unsigned flags = 0;

    flags |= isnan(result->energy_j) || isnan(result->uncertainty_j) ? RUN_UNKNOWN : 0;
    flags |= incidents.refused ? RUN_REFUSED : 0;
    flags |= incidents.resets ? RUN_RESET : 0;
    flags |= incidents.gaps ? RUN_GAP : 0;
    flags |= incidents.stalls ? RUN_STALL : 0;
    flags |= incidents.failed ? RUN_FAILED : 0;
    flags |= m->covered < COVERED_LEAST ? RUN_UNCOVERED : 0;
    return flags;
}

static void describe(const struct player *player, const struct apapi_measurement *m,
                     struct run_result *result)
{
    const struct power *power = &player->scene->history.powers[APAPI_DOMAIN_PACKAGE][0];
    const struct apapi_domain_result *domain = &m->domains[APAPI_DOMAIN_PACKAGE];
    uint64_t start_ns = (uint64_t)(m->start_unix_ns - SIM_CLOCK_UNIX_NS) - player->source.origin_ns;

    *result = (struct run_result){.energy_j = domain->measured ? domain->energy_j : NAN,
                                  .uncertainty_j = domain->measured ? domain->uncertainty_j : NAN,
                                  .truth_j = power_energy_j(power, start_ns + m->elapsed_ns) -
                                             power_energy_j(power, start_ns),
                                  .elapsed_s = (double)m->elapsed_ns / 1e9,
                                  .covered = m->covered};
    result->flags = flags_of(m, result);
}

static int measure(struct player *player, struct apapi_session *session, struct run_result *result,
                   struct apapi_error *err)
{
    struct apapi_measurement m;
    uint64_t stop_ns;

    sim_clock_sleep(&player->clock, player->source.origin_ns + player->scene->start_ns);
    if (apapi_session_start(session, 0, err)) {
        return -1;
    }
    stop_ns = player->clock.running->now_ns + player->scene->length_ns;
    sim_clock_sleep(&player->clock, stop_ns);
    if (apapi_session_stop(session, err) || apapi_session_measurement(session, &m, err)) {
        return -1;
    }
    describe(player, &m, result);
    apapi_measurement_clear(&m);
    return 0;
}

int verify_run(const struct scene *scene, uint64_t seed, struct run_result *result)
{
    const struct apapi_intervals intervals = {.default_ns =
                                                  scene->history.components[0].interval_ns};
    const struct apapi_session_config config = {.components = "c0", .intervals = &intervals};
    static struct player player;
    struct apapi_session *session;
    struct apapi_error err = {""};
    int rc = -1;

    player.scene = scene;
    player_begin(&player, seed);
    session = session_create(&config, &player.clock.base, &err);
    if (session) {
        rc = measure(&player, session, result, &err);
    }
    apapi_session_destroy(session);
    if (!sim_clock_finish(&player.clock) || rc) {
        fprintf(stderr, "apapi verify: a run could not be played: %s\n",
                player.clock.broken ? player.clock.broken : err.text);
        return -1;
    }
    return 0;
}
