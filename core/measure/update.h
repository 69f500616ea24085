/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_UPDATE_H
#define MEASURE_UPDATE_H
#include <stdbool.h>
#include <stdint.h>

/*
 * The update period of a counter: how often it moves by itself. It is what the source states until
 * readings show another one. Readings that find the counter where it was show a longer period;
 * many that all find it moved, in less time than is stated, show a shorter one. A single standstill
 * shows nothing. Pure arithmetic.
 */
struct apapi_update {
    uint64_t stated_ns;  /* by the source; 0: it does not say */
    uint64_t period_ns;  /* what is known so far; never 0 */
    bool learned;        /* `period_ns` comes from the moves */
    bool moved;          /* there was a move, so that the next one ends a gap */
    uint64_t gaps;       /* between two moves */
    uint64_t long_gaps;  /* in which a reading found no move */
    uint64_t sum_ns;     /* of all gaps */
    uint64_t longest_ns; /* that readings found it without a move, but no standstill; at most twice
                            that */
};

void apapi_update_init(struct apapi_update *update, uint64_t stated_ns);

/*
 * A power is taken over half an interval at least, and over so many updates that it does not show
 * where in an update the readings happen to lie.
 */
#define APAPI_WINDOW_UPDATES 20

/** @param update_ns  0: not known. @return the shortest time that has a power [ns] */
static inline uint64_t apapi_window_ns(uint64_t interval_ns, uint64_t update_ns)
{
    uint64_t updates_ns = APAPI_WINDOW_UPDATES * update_ns;

    return updates_ns > interval_ns / 2 ? updates_ns : interval_ns / 2;
}

/** Forget what was learned. */
void apapi_update_restart(struct apapi_update *update);

/* Once in so many gaps what they show is looked at. */
#define APAPI_UPDATE_GAPS 16

/* The rare part of apapi_update_moved(). */
bool apapi_update_learn(struct apapi_update *update);
bool apapi_update_add_rare(struct apapi_update *update, uint64_t gap_ns, uint64_t still_ns);

/**
 * A reading finds the counter moved.
 * @param gap_ns    since the reading that found it moved before [ns]
 * @param still_ns  from that one to the latest reading that found no move [ns]; 0: there is none
 * @return whether the period may have changed
 */
static inline bool apapi_update_moved(struct apapi_update *update, uint64_t gap_ns,
                                      uint64_t still_ns)
{
    if (still_ns || !update->moved) {
        return apapi_update_add_rare(update, gap_ns, still_ns);
    }
    update->sum_ns += gap_ns;
    return ++update->gaps % APAPI_UPDATE_GAPS == 0 && apapi_update_learn(update);
}

/** Something is lost: the next move does not end a gap. */
void apapi_update_break(struct apapi_update *update);

#endif
