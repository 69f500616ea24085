/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_OVERFLOW_H
#define APAPI_OVERFLOW_H
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"

APAPI_BEGIN_C

/*
 * Thresholds: a session calls a handler when an event, a domain or the node's total passes a value.
 * This is PAPI_overflow() for all that a session measures; comments also give PAPI's error names.
 * All functions here may be called from any thread, also in a handler.
 */

struct apapi_session;

#define APAPI_OVERFLOW_MAX 64 /* thresholds of one session */

/** When a threshold is crossed. */
enum apapi_overflow_mode {
    APAPI_OVERFLOW_EVERY, /* each time that `threshold` more was counted, as in PAPI */
    APAPI_OVERFLOW_TOTAL, /* once in a run, when the count since the start reaches `threshold` */
    APAPI_OVERFLOW_ABOVE, /* a gauge's value, or a counter's rate, is above `threshold` */
    APAPI_OVERFLOW_BELOW  /* a gauge's value, or a counter's rate, is below `threshold` */
};

/** Further bits of `mode`. */
#define APAPI_OVERFLOW_HARDWARE 0x100u /* an event of the CPU: PAPI counts and interrupts */
#define APAPI_OVERFLOW_SOFTWARE 0x200u /* an event of the CPU: PAPI checks it by a timer */

/** A crossing. Valid only during the call of apapi_overflow_f. */
struct apapi_overflow_crossing {
    const char *event; /* apapi_overflow.event: an event, a domain or "total" */
    int overflow;      /* the number that apapi_overflow_set() returned */
    uint64_t count;    /* crossings since the previous call, > 0 */
    double value;      /* value at `time_ns` [the event's unit; J or W for a domain and "total"] */
    double seen_value; /* value at `seen_ns` [as `value`] */
    uint64_t time_ns;  /* the latest crossing, between two readings (CLOCK_MONOTONIC) [ns] */
    uint64_t first_ns; /* the first of the `count` crossings (CLOCK_MONOTONIC) [ns] */
    uint64_t seen_ns;  /* end of the reading that showed the latest one (CLOCK_MONOTONIC) [ns] */
    uint64_t vector;   /* bit i: threshold i was crossed in the same reading; also this threshold */
    const void *address; /* program counter at which PAPI interrupted the thread; else NULL */
    const void *context; /* ucontext_t, a copy, without floating-point registers; else NULL */
    const char *unit;    /* of `value`: "J", "W", "C"; "": not known */
};

/**
 * Called when a threshold was crossed, by the session's thread for handlers, which receives no
 * signals: one call at a time, in the order of the first crossings. Crossings during a call are
 * counted and reported by the next call: none is lost. A handler delays no reading. It may call all
 * functions of this header, and apapi_session_snapshot(); it must not call
 * apapi_session_destroy(). If it ends its thread, no handler of the session is called any more.
 */
typedef void (*apapi_overflow_f)(const struct apapi_overflow_crossing *crossing, void *user);

/** A threshold. The last four members may be 0 or NULL, their default. */
struct apapi_overflow {
    const char *event; /* "rapl:::...", an event of the session; "package", "gpu", "node" ..., a
                          domain; "total": package + dram + gpu of this node */
    double threshold;  /* [the event's unit]; EVERY and TOTAL of a domain, of "total" and of a gauge
                          of power: [J]; ABOVE and BELOW of these and of a counter of energy: [W]; of
                          any other counter: [unit/s] */
    unsigned mode;
    apapi_overflow_f handler;
    void *user;        /* for handler() */
    uint64_t hold_ns;  /* ABOVE, BELOW: the value has to stay there for this time [ns] */
    double hysteresis; /* ABOVE, BELOW: after a crossing the value has to go back by more than this
                          before the next crossing [as `threshold`], >= 0 */
    const char *unit;  /* the unit that the caller expects of `threshold`; NULL: do not check */
};

/**
 * Set a threshold, before the start, in a run or between runs; it holds for all runs. EVERY counts
 * from the first reading after the call. A TOTAL, ABOVE or BELOW that is already reached is crossed
 * at the next reading. The crossing of a level with `hold_ns` is at the end of this time. A failed
 * reading interrupts this time.
 *
 * HARDWARE and SOFTWARE: PAPI counts the calling thread from now on until the threshold is removed,
 * whether the session runs or not. The mode is EVERY. All such thresholds of a thread have the same
 * bit; setting or removing one makes the others of the thread count from zero again. Only this
 * thread may remove the threshold; it cannot be changed. Signals note the crossings: if more than
 * 64 wait for a handler, further ones are only counted. With SOFTWARE, crossings between two checks
 * of the timer, which are 10 ms apart, count as one.
 *
 * @param what  copied
 * @return its number, 0 to APAPI_OVERFLOW_MAX - 1, the smallest that is free; -1 with errno
 *         EINVAL   (PAPI_EINVAL) no handler; an unknown mode or bit; a threshold that is
 *                  not finite or not above 0 (a temperature may be); hysteresis that is negative,
 *                  or not less than the threshold (ABOVE, no temperature: it could be crossed
 *                  once); `hold_ns` or hysteresis with another mode than ABOVE and BELOW; EVERY
 *                  and TOTAL of a gauge other than one of power
 *         EDOM     (PAPI_EINVAL) the threshold is not in `unit`
 *         ERANGE   (PAPI_EINVAL) the threshold is below the counter's resolution
 *         ENOENT   (PAPI_ENOEVNT) the session does not measure the event; `err` has similar names
 *         EAGAIN   (PAPI_ESYS) its component is still being opened
 *         ENOSPC   (PAPI_ECOUNT) there are 64
 *         ENOTSUP  (PAPI_ENOSUPP, PAPI_ECMP) PAPI has no overflow for the event, or there is no
 *                  PAPI, or the CPU cannot be counted
 *         EBUSY    (PAPI_EISRUN, PAPI_ECNFLCT) PAPI counts in this thread already, for someone
 *                  else, or for this session with the other bit
 *         ENOMEM   (PAPI_ENOMEM) no memory, or no thread for handlers
 */
APAPI_API int apapi_overflow_add(struct apapi_session *session, const struct apapi_overflow *what,
                                 struct apapi_error *err);

/** apapi_overflow_add() without the rare settings; compare PAPI_overflow(). */
APAPI_API int apapi_overflow_set(struct apapi_session *session, const char *event, double threshold,
                                 unsigned mode, apapi_overflow_f handler, void *user);

/**
 * Change the value of a threshold, also in a run. Its other settings stay, and it begins again, as
 * after apapi_overflow_add(). Earlier crossings are still reported.
 * @return 0; -1 with errno EINVAL (also: there is no such number), ERANGE, or ENOTSUP: PAPI counts
 *         the event
 */
APAPI_API int apapi_overflow_change(struct apapi_session *session, int overflow, double threshold,
                                    struct apapi_error *err);

/**
 * Remove a threshold, also in a run. Earlier crossings are still reported. The call waits for that,
 * for at most APAPI_STOP_WAIT_NS; in a handler it does not wait. After it has returned 0 outside of
 * a handler, the threshold's handler is not called and does not run.
 * @return 0; -1 with errno
 *         EINVAL  (PAPI_EINVAL) there is no such number
 *         EBUSY   (PAPI_EISRUN) a handler still runs; the threshold is removed, and its crossings
 *                 that were not reported are lost
 *         EPERM   (PAPI_EINVAL) PAPI counts for another thread
 */
APAPI_API int apapi_overflow_remove(struct apapi_session *session, int overflow);

APAPI_END_C
#endif
