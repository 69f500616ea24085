/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RECORD_RECORD_H
#define APAPI_RECORD_RECORD_H
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "apapi/event.h"
#include "apapi/measurement.h"
#include "apapi/record.h"
#include "base/array.h"
#include "base/json.h"

/* --- coverage --------------------------------------------------------------------------------- */

/* The coverage is the part of the time that an energy covers, 0 to 1. NaN: not known. */

/** @return whether a coverage is known, and so low that it must be shown beside the energy. */
bool coverage_is_low(double covered);

/** @return a coverage in percent, rounded down to one decimal: at least this much is covered. */
double coverage_pct(double covered);

/** @return coverage of the total: the least one of the domains that add up. NaN: one has none. */
double coverage_of_total(const struct apapi_measurement *m);

/** @return energy estimated for the time that is not covered [J]; 0: no such time; NaN: unknown. */
double coverage_rest_of(const struct apapi_domain_result *domain);

/** @return sum of these estimates, of all domains that add up [J]; NaN: one was not made. */
double coverage_rest_j(const struct apapi_measurement *m);

/* --- sets of domains -------------------------------------------------------------------------- */

/* Sets of domains: bit 1 << enum apapi_domain. */

#define DOMAIN_LIST_SIZE 64 /* of a text with all names and its NUL */

/** The set of one domain. */
static inline uint32_t domain_bit(int domain)
{
    return UINT32_C(1) << domain;
}

/** The domains of the set that add up to the total. */
uint32_t domain_list_adding_up(uint32_t set);

/** Write the names, separated by `separator`; "": none. */
void domain_list_text(uint32_t set, const char *separator, char text[DOMAIN_LIST_SIZE]);

/* --- when it ended ---------------------------------------------------------------------------- */

/**
 * @return the end of a measurement, UTC since 1970 [ns]. It is always less than INT64_MAX, which
 * stands for "never", even if a forged record says otherwise.
 */
static inline int64_t record_end_ns(const struct apapi_measurement *m)
{
    int64_t end_ns;
    bool beyond = __builtin_add_overflow(m->start_unix_ns, m->elapsed_ns, &end_ns);

    return beyond || end_ns == INT64_MAX ? INT64_MAX - 1 : end_ns;
}

/** @return whether a measurement lies in the years 1970 to 2262. Code for records relies on it. */
static inline bool record_has_time(const struct apapi_measurement *m)
{
    return m->start_unix_ns >= 0 && m->elapsed_ns <= (uint64_t)(INT64_MAX - m->start_unix_ns);
}

/* --- how tasks ended -------------------------------------------------------------------------- */

/* Combine numbers of several records. Each may be APAPI_UNKNOWN. */

/** @return the greater number, or the one that is known. */
static inline uint32_t known_greater(uint32_t a, uint32_t b)
{
    return a == APAPI_UNKNOWN || (b != APAPI_UNKNOWN && b > a) ? b : a;
}

/** @return the sum of two numbers, or the one that is known; NaN: not known. */
static inline double known_plus(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : a + b;
}

/** @return the sum; unknown if one of the numbers is unknown. */
static inline uint32_t known_sum(uint32_t a, uint32_t b)
{
    return b > APAPI_UNKNOWN - a ? APAPI_UNKNOWN : a + b; /* an overflow is unknown, too */
}

/**
 * Combine how the tasks of two nodes ended: unknown if it is unknown for one node. Signal and code
 * are unknown if there was none.
 */
static inline struct apapi_ending ending_of_both(const struct apapi_ending *a,
                                                 const struct apapi_ending *b)
{
    bool all_failed_known = a->failed != APAPI_UNKNOWN && b->failed != APAPI_UNKNOWN;

    if (a->code == APAPI_UNKNOWN || b->code == APAPI_UNKNOWN) {
        return APAPI_ENDING_UNKNOWN;
    }
    return (struct apapi_ending){.code = known_greater(a->code, b->code),
                                 .signal = known_greater(a->signal, b->signal),
                                 .failed = all_failed_known ? known_sum(a->failed, b->failed)
                                                            : known_greater(a->failed, b->failed)};
}

/* --- windows ---------------------------------------------------------------------------------- */

/** @return the shorter one of two times [ns]; a time of 0 is not known. */
static inline uint64_t window_shorter_ns(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns == 0 || (b_ns > 0 && b_ns < a_ns) ? b_ns : a_ns;
}

/**
 * @return the shortest time that has a known power, of all components [ns]; 0: not known. That of a
 * component is the longest window of its meters.
 */
uint64_t window_shortest_ns(const struct apapi_measurement *m);

/** @return the GPUs whose meters a record has: bit N % 64 for the node's GPU N; 0: not known */
uint64_t record_gpus(const struct apapi_measurement *m);

/* --- one of two ------------------------------------------------------------------------------- */

/** @return a number that depends on all bytes of a line, to tell lines apart. */
static inline uint64_t record_digest(const char *line, size_t size)
{
    uint64_t sum = size, word = 0;

    for (; size >= sizeof word; size -= sizeof word, line += sizeof word) {
        memcpy(&word, line, sizeof word);
        sum = (sum << 5 | sum >> 59) ^ word;
    }
    if (size > 0) {
        word = 0;
        memcpy(&word, line, size);
        sum = (sum << 5 | sum >> 59) ^ word;
    }
    return sum;
}

/** The choice between two records of the same cluster, job, step, node and start. */
struct record_twin {
    uint64_t elapsed_ns;
    bool complete;
    uint64_t digest; /* of the record's line; 0: not known */
};

/**
 * The longer record counts. Of two equally long records, the complete one counts; if both or none
 * are complete, the one with the greater digest.
 * @return > 0: `a` counts; < 0: `b`; 0: they are the same
 */
static inline int record_twin_compare(const struct record_twin *a, const struct record_twin *b)
{
    int order = COMPARE(a->elapsed_ns, b->elapsed_ns);

    order = order ? order : COMPARE(a->complete, b->complete);
    return order ? order : COMPARE(a->digest, b->digest);
}

/* --- writing ---------------------------------------------------------------------------------- */

/** Writes members that a program adds to a record, into the object of an event. */
typedef void (*record_event_f)(struct json_writer *json, const struct apapi_event_result *event);

/** Write the counts of a trust block, except the samples, into the object that is open. */
void incidents_write(struct json_writer *json, const struct apapi_incidents *sum, uint64_t missed);

/** Write the members of a record into the object that is open. @param more  NULL: nothing more */
void record_write(struct json_writer *json, const struct apapi_record *record, record_event_f more);

#endif
