/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HISTORY_SEEN_H
#define HISTORY_SEEN_H
#include "simulation/history.h"

#define SEEN_BASES 4

/*
 * The readings of one event in a run, and the truth at these times. Times are as in history.h.
 *
 * A counter breaks if it begins again from any value between two readings. A reading after a break
 * may look like an increment from before the break. Then neither can be told from the other, and a
 * result may be wrong by that increment, but by no more.
 */

/** A good reading; of a counter, what it would have counted without wraps [raw units]. */
struct seen_reading {
    uint64_t begin_ns, value_ns, end_ns;
    uint64_t count;
    unsigned life; /* life of the counter */
    int opened;    /* how often its source had been opened */
};

struct seen {
    const struct history_meter *meter;
    const struct power *power;
    size_t good, failed, absurd;
    bool absurd_first; /* before any good reading */
    struct seen_reading first, last;
    bool still;             /* the last reading found the counter where it was before */
    uint64_t ran_ns;        /* beginning of the reading before the last one that found it moved */
    uint64_t begun_ns;      /* end of the first reading after a break; 0: it has moved since */
    bool moves_late;        /* after a break it seems to stand still, and counts from its move on */
    uint64_t first_move_ns; /* first reading that found it moved; 0: none */
    uint64_t moved;         /* counts between readings that belong together [raw units] */
    uint64_t wraps;
    size_t breaks;
    size_t returns;   /* breaks between whose readings the source was opened again */
    size_t restarts;  /* the source was opened again, and the counter goes on, but not certainly */
    size_t gaps;      /* a whole wrap may be hidden between two readings that found it moved */
    bool unsure;      /* one of these may be otherwise, depending on how long an update takes */
    bool disguised;   /* a break looks like an increment */
    double excess_j;  /* energy of such increments */
    double missing_j; /* energy used in such increments, and in hidden whole wraps */
    struct seen_base {
        struct seen_reading reading; /* the last one before a break */
        uint64_t since_ns; /* until then it was known to run; probes may have found it still */
        unsigned left;     /* number of readings that may still look like an increment */
        double excess_j, missing_j;
    } bases[SEEN_BASES];
    size_t base_count;
    struct seen_base doubt; /* before an implausible increment; `left`: readings until it is over */
    uint64_t joined_ns;     /* of a gauge: time between readings, without a failed one in between */
    double joined_j;        /* trapezoids between these readings */
    bool lost;              /* the latest reading failed */
    double last_w;
    uint64_t widest_ns; /* from the beginning of a reading to the end of the next one */
};

/** Note a reading that failed. */
void seen_fail(struct seen *seen);

/** Note a good reading. */
void seen_add(struct seen *seen, const struct seen_reading *reading);

/** @return the time allowed for an increment beyond that of its two readings [ns]. */
uint64_t seen_slack_ns(const struct seen *seen);

#endif
