/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HISTORY_SEEN_H
#define HISTORY_SEEN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simulation/history.h"

#define SEEN_BASES 4

/*
 * The readings of one event in a run, and the truth then. Times as in history.
 *
 * A counter breaks if it begins from anywhere between two readings. From before the break to a
 * reading after it may look like an increment: then nobody can tell, and a figure may be wrong by
 * that, and by no more.
 */

/** A good reading: of a counter, what it had counted if it did not wrap [raw units]. */
struct seen_reading {
    uint64_t begin_ns, value_ns, end_ns;
    uint64_t count;
    unsigned life; /* of the counter */
    int opened;    /* how often its source had been opened */
};

struct seen {
    const struct history_meter *meter;
    const struct power *power;
    size_t good, failed, absurd;
    bool absurd_first; /* before any good one */
    struct seen_reading first, last;
    bool still;        /* the last reading found it where it was */
    uint64_t ran_ns;   /* beginning of the reading before the one that found it moved last */
    uint64_t begun_ns; /* end of the first reading since a break; 0: it has moved since */
    bool moves_late;   /* after a break it seems to stand still, and is counted from its move */
    uint64_t first_move_ns; /* a reading found it moved first; 0: none */
    uint64_t moved; /* what it has counted between readings that belong together [raw units] */
    uint64_t wraps;
    size_t breaks;
    size_t returns;   /* of these: its source was opened again between the two readings */
    size_t restarts;  /* its source was opened again, and it goes on, but nobody can be certain */
    size_t gaps;      /* a whole wrap may hide between two readings that found it moved */
    bool unsure;      /* one of these may be otherwise: it depends on what an update takes */
    bool disguised;   /* there was a break that looks like an increment */
    double excess_j;  /* energy of such increments */
    double missing_j; /* what was used in them, and in whole wraps that hid */
    struct seen_base {
        struct seen_reading reading; /* before a break */
        uint64_t since_ns; /* until then it was known to run; probes may have found it still */
        unsigned left;     /* so many readings may still look like an increment */
        double excess_j, missing_j;
    } bases[SEEN_BASES];
    size_t base_count;
    struct seen_base doubt; /* before an increment that is not plausible; `left`: readings ago */
    uint64_t joined_ns;     /* of a gauge: between two readings with none in between that failed */
    double joined_j;        /* a trapezoid between them */
    bool lost;              /* the latest reading failed */
    double last_w;
    uint64_t widest_ns; /* from the beginning of one to the end of the next */
};

/** Note a reading that failed. */
void seen_fail(struct seen *seen);

/** Note a good reading. */
void seen_add(struct seen *seen, const struct seen_reading *reading);

/** @return time for which its source may allow, beyond that of two readings [ns]. */
uint64_t seen_slack_ns(const struct seen *seen);

#endif
