/* SPDX-License-Identifier: BSD-3-Clause */
/* How often counters move: what sources state need not be true. */
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "cli/list/list.h"

#define LOOK_NS UINT64_C(1000000000)
#define GAPS 20               /* between moves: so many are enough */
#define PAUSE_SHARE 256       /* of the time since the beginning, to the next reading */
#define LEAST_PAUSE_NS 100000 /* a shorter sleep takes as long */
#define STILL_SHARE 4         /* readings without a move, for each so many with one */
#define LATE 1.5              /* times the median: a gap in which a reading came late */

/* What was seen of one counter. */
struct look {
    bool begun, failed;
    uint64_t raw;
    uint64_t moved_ns; /* the first reading, then the latest move */
    uint64_t still_ns; /* the longest time without a move */
    size_t still;      /* readings that found no move */
    size_t moves;
    double gaps_s[GAPS]; /* between two moves */
};

static double look_seconds(uint64_t ns)
{
    return duration(ns) / NS_PER_S;
}

static bool look_is_done(const struct look *look)
{
    return look->failed || look->moves > GAPS;
}

static void look_moved(struct look *look, uint64_t raw, uint64_t now_ns)
{
    if (look->moves > 0) {
        look->gaps_s[look->moves - 1] = look_seconds(now_ns - look->moved_ns);
    }
    look->moves++;
    look->raw = raw;
    look->moved_ns = now_ns;
}

static void look_stood_still(struct look *look, uint64_t now_ns)
{
    uint64_t still_ns = now_ns - look->moved_ns;

    look->still++;
    look->still_ns = still_ns > look->still_ns ? still_ns : look->still_ns;
}

static void look_take(struct look *look, const struct apapi_reading *reading, uint64_t now_ns)
{
    if (reading->error) {
        look->failed = true;
    } else if (!look->begun) {
        look->begun = true;
        look->raw = reading->raw;
        look->moved_ns = now_ns;
    } else if (reading->raw != look->raw) {
        look_moved(look, reading->raw, now_ns);
    } else {
        look_stood_still(look, now_ns);
    }
}

/* @return whether a counter needs one more reading. */
static bool look_go_on(const struct listed *listed, struct look *looks,
                       const struct apapi_reading *readings, uint64_t now_ns)
{
    bool more = false;

    for (size_t i = 0; i < listed->event_count; i++) {
        const struct listed_event *event = &listed->events[i];

        if (event->event.accumulates && !look_is_done(&looks[i])) {
            look_take(&looks[i], &readings[event->slot], now_ns);
            more |= !look_is_done(&looks[i]);
        }
    }
    return more;
}

static void look_pause(uint64_t passed_ns)
{
    const struct timespec pause = {.tv_nsec = (long)(passed_ns / PAUSE_SHARE)};

    if (pause.tv_nsec >= LEAST_PAUSE_NS) {
        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    }
}

static void look_at_all(const struct listed *listed, struct look *looks,
                        struct apapi_reading *readings)
{
    uint64_t begin_ns = clock_monotonic_ns(), passed_ns = 0;
    bool more = true;

    while (more && passed_ns < LOOK_NS) {
        apapi_catalog_read(listed->reader, readings);
        passed_ns = clock_monotonic_ns() - begin_ns;
        more = look_go_on(listed, looks, readings, begin_ns + passed_ns);
        look_pause(passed_ns);
    }
}

static int compare_gaps(const void *left, const void *right)
{
    double a_s = *(const double *)left, b_s = *(const double *)right;

    return (a_s > b_s) - (a_s < b_s);
}

/* The mean of the gaps, but for those in which a reading came late. */
static double look_period_s(struct look *look)
{
    size_t count = look->moves - 1, used = 0;
    double sum_s = 0;

    qsort(look->gaps_s, count, sizeof *look->gaps_s, compare_gaps);
    for (size_t i = 0; i < count && look->gaps_s[i] <= LATE * look->gaps_s[(count - 1) / 2]; i++) {
        sum_s += look->gaps_s[i];
        used++;
    }
    return sum_s / (double)used;
}

static struct listed_update look_result(struct look *look)
{
    struct listed_update update = {0};

    if (look->failed) {
        return update;
    }
    if (look->moves < 2) {
        update.above_s = look_seconds(look->still_ns);
    } else if (look->still < look->moves / STILL_SHARE) {
        update.below_s = look_period_s(look);
    } else {
        update.measured_s = look_period_s(look);
    }
    return update;
}

int list_look_at_updates(const struct listed *listed)
{
    struct look *looks = calloc(listed->event_count + 1, sizeof *looks);
    struct apapi_reading *readings = calloc(listed->reader->count + 1, sizeof *readings);

    if (looks && readings) {
        look_at_all(listed, looks, readings);
        for (size_t i = 0; i < listed->event_count; i++) {
            listed->events[i].update = look_result(&looks[i]);
        }
    }
    free(looks);
    free(readings);
    return looks && readings ? 0 : -1;
}
