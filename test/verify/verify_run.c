/* SPDX-License-Identifier: BSD-3-Clause */
#include "verify/verify_run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "apapi/live.h"
#include "apapi/record.h"
#include "apapi/session.h"
#include "base/clock.h"
#include "base/thread.h"
#include "session/session.h"
#include "simulation/sim_source.h"

#define BEGIN_NS UINT64_C(5000000000000) /* of a history, on the clock */
#define COVERED_LEAST 0.99

/* One at a time. */
static struct player {
    const struct scene *scene;
    bool real;
    struct sim_clock clock;
    struct sim_source source;
    struct apapi_live_page page;
    uint64_t start_ns, stop_ns; /* when the session was told to */
} player;

static void verify_run_begin(uint64_t seed)
{
    const struct history *history = &player.scene->history;

    if (player.real) {
        sim_source_use(&player.source, history, NULL);
        player.source.origin_ns -= player.scene->start_ns;
        return;
    }
    sim_clock_init(&player.clock, seed, BEGIN_NS);
    player.clock.late_once_in = history->late_once_in;
    player.clock.latest_ns = history->latest_ns;
    for (size_t i = 0; i < history->stop_count; i++) {
        sim_clock_stop(&player.clock, BEGIN_NS + history->stops[i].from_ns,
                       BEGIN_NS + history->stops[i].to_ns);
    }
    sim_source_use(&player.source, history, &player.clock);
}

static void verify_run_sleep(uint64_t until_ns)
{
    const struct timespec until = thread_deadline(until_ns);

    if (!player.real) {
        sim_clock_sleep(&player.clock, until_ns);
        return;
    }
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
    }
}

static uint64_t verify_run_now_ns(void)
{
    return player.real ? clock_monotonic_ns() : session_clock_now_ns(&player.clock.base);
}

/* A total without one of its domains is not what the meters have counted. */
static bool verify_run_knows_all(const struct apapi_measurement *m)
{
    const struct history_component *component = &player.scene->history.components[0];

    for (size_t i = 0; i < component->event_count; i++) {
        const struct apapi_domain_result *domain = &m->domains[component->meters[i].domain];

        if (!domain->measured || isnan(domain->energy_j) || isnan(domain->uncertainty_j)) {
            return false;
        }
    }
    return true;
}

static unsigned verify_run_flags(const struct apapi_measurement *m)
{
    const struct apapi_incidents incidents = apapi_measurement_incidents(m);
    unsigned flags = verify_run_knows_all(m) ? 0 : RUN_UNKNOWN;

    flags |= incidents.refused ? RUN_REFUSED : 0;
    flags |= incidents.resets ? RUN_RESET : 0;
    flags |= incidents.gaps ? RUN_GAP : 0;
    flags |= incidents.stalls ? RUN_STALL : 0;
    flags |= incidents.failed ? RUN_FAILED : 0;
    flags |= incidents.rough ? RUN_ROUGH : 0;
    flags |= m->covered < COVERED_LEAST ? RUN_UNCOVERED : 0;
    return flags;
}

/*
 * The window is that of whoever starts and stops the session. What its last reading has beyond that
 * is a part of its time.
 */
static void verify_run_describe(const struct apapi_measurement *m, struct run_result *result)
{
    uint64_t end_ns = player.page.head.start_ns + m->elapsed_ns;

    end_ns = end_ns > player.stop_ns ? end_ns : player.stop_ns;
    *result = (struct run_result){
        .energy_j = apapi_measurement_total_j(m),
        .uncertainty_j = apapi_record_uncertainty_j(m),
        .truth_j = scene_energy_j(player.scene, player.start_ns - player.source.origin_ns,
                                  end_ns - player.source.origin_ns),
        .elapsed_s = (double)m->elapsed_ns / 1e9,
        .covered = m->covered,
        .flags = verify_run_flags(m)};
}

/* The written figures are judged, as in the accounting file. */
static int verify_run_write(const struct apapi_measurement *m, struct apapi_record *copy,
                            struct apapi_error *err)
{
    struct apapi_record record = {
        .id = APAPI_IDENTITY_UNKNOWN, .complete = true, .measurement = *m};
    char *line = NULL;
    int rc;

    record.ending = APAPI_ENDING_UNKNOWN;
    strcpy(record.id.node, "n1");
    if (apapi_record_encode(&record, &line, err)) {
        return -1;
    }
    rc = apapi_record_decode(line, strlen(line), copy, err);
    free(line);
    return rc;
}

static int verify_run_finish(struct apapi_session *session, struct run_result *result,
                             struct apapi_error *err)
{
    struct apapi_measurement m;
    struct apapi_record copy;
    int rc;

    if (apapi_session_stop(session, err) || apapi_session_measurement(session, &m, err)) {
        return -1;
    }
    rc = verify_run_write(&m, &copy, err);
    if (rc == 0) {
        verify_run_describe(&copy.measurement, result);
        apapi_record_clear(&copy);
    }
    apapi_measurement_clear(&m);
    return rc;
}

static int verify_run_measure(struct apapi_session *session, struct run_result *result,
                              struct apapi_error *err)
{
    const struct scene *scene = player.scene;

    verify_run_sleep(player.source.origin_ns + scene->start_ns);
    player.start_ns = verify_run_now_ns();
    verify_run_sleep(player.start_ns + scene->late_ns);
    if (apapi_session_start(session, player.start_ns, err)) {
        return -1;
    }
    verify_run_sleep(player.start_ns + scene->length_ns);
    player.stop_ns = verify_run_now_ns();
    return verify_run_finish(session, result, err);
}

static int verify_run_play(struct run_result *result, struct apapi_error *err)
{
    const struct apapi_intervals intervals = {.default_ns =
                                                  player.scene->history.components[0].interval_ns};
    const struct apapi_session_config config = {
        .components = "c0", .intervals = &intervals, .live = &player.page};
    struct session_clock *clock = player.real ? NULL : &player.clock.base;
    struct apapi_session *session = session_create(&config, clock, err);
    int rc = session ? verify_run_measure(session, result, err) : -1;

    apapi_session_destroy(session);
    return rc;
}

int verify_run(const struct scene *scene, uint64_t seed, struct run_result *result,
               struct apapi_error *err)
{
    int rc;

    player.scene = scene;
    player.real = false;
    verify_run_begin(seed);
    rc = verify_run_play(result, err);
    if (!sim_clock_finish(&player.clock)) {
        return apapi_fail(err, EPROTO, "%s", player.clock.broken);
    }
    return rc;
}

int verify_run_real(const struct scene *scene, struct run_result *result, struct apapi_error *err)
{
    player.scene = scene;
    player.real = true;
    verify_run_begin(0);
    return verify_run_play(result, err);
}
