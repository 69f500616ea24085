/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_OVERFLOW_H
#define APAPI_OVERFLOW_H
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"

APAPI_BEGIN_C

/*
 * Thresholds: a session calls a handler when an event, a domain or the node's total passes a value.
 * PAPI_overflow() for everything that a session measures; errors are named as PAPI names them, too.
 * All functions here may be called from any thread, also in a handler.
 */

struct apapi_session;

#define APAPI_OVERFLOW_MAX 64 /* thresholds of one session */

/** When a threshold is crossed. */
enum apapi_overflow_mode {
    APAPI_OVERFLOW_EVERY, /* each time that `threshold` more was counted, as in PAPI */
    APAPI_OVERFLOW_TOTAL, /* once in a run: what was counted since the start reaches it */
    APAPI_OVERFLOW_ABOVE, /* a gauge's value, or the rate of a counter, is above it */
    APAPI_OVERFLOW_BELOW  /* the same, below it */
};

/** Further bits of `mode`. */
#define APAPI_OVERFLOW_HARDWARE 0x100u /* an event of the CPU: PAPI counts and interrupts */
#define APAPI_OVERFLOW_SOFTWARE 0x200u /* an event of the CPU: PAPI looks at it with a timer */

/** A crossing. Valid only during the call of apapi_overflow_f. */
struct apapi_overflow_crossing {
    const char *event; /* as it was given: event, domain or "total" */
    int overflow;      /* as apapi_overflow_set() returned it */
    uint64_t count;    /* crossings since the previous call, > 0 */
    double value;      /* at `time_ns` [the event's unit; J or W for a domain and "total"] */
    double seen_value; /* of the reading that showed the latest crossing; as `value` */
    uint64_t time_ns;  /* the latest crossing, between two readings (CLOCK_MONOTONIC) [ns] */
    uint64_t first_ns; /* the first of the `count` crossings (CLOCK_MONOTONIC) [ns] */
    uint64_t seen_ns;  /* end of the reading that showed the latest one (CLOCK_MONOTONIC) [ns] */
    uint64_t vector;   /* bit i: threshold i was crossed in the same reading; its own bit is set */
    const void *address; /* program counter, where PAPI interrupted the thread; else NULL */
    const void *context; /* ucontext_t, a copy, without floating-point registers; else NULL */
    const char *unit;    /* of `value`: "J", "W", "C"; "": not known */
};

/**
 * Called when a threshold was crossed, by a thread that the session has for it, which receives no
 * signals: one call at a time, in the order of the first crossings. Crossings during a call are
 * counted and told in the next one: none is lost. A handler delays no reading. It may call all
 * functions of this header, and of the session apapi_session_snapshot(); never
 * apapi_session_destroy(). If it ends its thread, no handler of the session is called any more.
 */
typedef void (*apapi_overflow_f)(const struct apapi_overflow_crossing *crossing, void *user);

/** A threshold. Zero is the default of the last four. */
struct apapi_overflow {
    const char *event; /* "rapl:::...", an event of the session; "package", "gpu", "node" ..., a
                          domain; "total": package + dram + gpu of this node */
    double threshold;  /* [the event's unit]; EVERY and TOTAL of a domain, of "total" and of a gauge
                          of power: [J]; ABOVE and BELOW of these and of a counter of energy: [W]; of
                          any other counter: [unit/s] */
    unsigned mode;
    apapi_overflow_f handler;
    void *user;        /* for handler() */
    uint64_t hold_ns;  /* ABOVE, BELOW: it has to be so for this time [ns] */
    double hysteresis; /* ABOVE, BELOW: after a crossing it has to go back by more than this before
                          it can be crossed again; as `threshold`, >= 0 */
    const char *unit;  /* that the caller takes `threshold` to be in; NULL: whatever it is in */
};

/**
 * Set a threshold, before the start, in a run or between runs; it is for all runs. EVERY counts
 * from the first reading after the call. TOTAL and ABOVE or BELOW that are already reached are a
 * crossing at the next reading. The crossing of a level with `hold_ns` is at the end of this time.
 * A reading that fails interrupts that time.
 *
 * HARDWARE and SOFTWARE: PAPI counts the calling thread from now on until the threshold is removed,
 * whether the session runs or not. The mode is EVERY. A thread has all its events with the one or
 * all with the other bit; setting or removing one of them begins the thread's others again. Only
 * this thread may remove it; it cannot be changed. A signal notes what is told: of more than 64
 * that a handler is behind, only the number.
 *
 * @param what  copied
 * @return its number, 0 to APAPI_OVERFLOW_MAX - 1, the smallest that is free; -1 with errno
 *         EINVAL   (PAPI_EINVAL) no handler; a mode or a bit that is not known; a threshold that is
 *                  not finite or not above 0 (a temperature may be); hysteresis that is negative,
 *                  or so large that the threshold could be crossed once only; `hold_ns` or
 *                  hysteresis with another mode than ABOVE and BELOW; EVERY and TOTAL of a gauge
 *                  other than one of power
 *         EDOM     (PAPI_EINVAL) the threshold is not in `unit`
 *         ERANGE   (PAPI_EINVAL) less than the counter's resolution
 *         ENOENT   (PAPI_ENOEVNT) the session does not measure it; `err` has similar names
 *         EAGAIN   (PAPI_ESYS) its component is still being opened; or no thread for handlers
 *         ENOSPC   (PAPI_ECOUNT) there are 64
 *         ENOTSUP  (PAPI_ENOSUPP, PAPI_ECMP) PAPI has no overflow for the event, or there is no
 *                  PAPI, or the CPU cannot be counted
 *         EBUSY    (PAPI_EISRUN, PAPI_ECNFLCT) PAPI counts in this thread already, for someone
 *                  else, or for this session with the other bit
 *         ENOMEM   (PAPI_ENOMEM)
 */
APAPI_API int apapi_overflow_add(struct apapi_session *session, const struct apapi_overflow *what,
                                 struct apapi_error *err);

/** The same without the rare settings, as PAPI_overflow(). */
APAPI_API int apapi_overflow_set(struct apapi_session *session, const char *event, double threshold,
                                 unsigned mode, apapi_overflow_f handler, void *user);

/**
 * Change the threshold itself, also in a run. Everything else stays, and it begins again: as
 * apapi_overflow_add(). Crossings before are still told.
 * @return 0; -1 with errno EINVAL (also: there is no such number), ERANGE, or ENOTSUP: PAPI counts
 *         it
 */
APAPI_API int apapi_overflow_change(struct apapi_session *session, int overflow, double threshold,
                                    struct apapi_error *err);

/**
 * Remove a threshold, also in a run. What it has crossed before is still told. Waits for that, for
 * at most APAPI_STOP_WAIT_NS; in a handler it does not wait. After it has returned 0 outside of a
 * handler, the threshold's handler is not called and does not run.
 * @return 0; -1 with errno
 *         EINVAL  (PAPI_EINVAL) there is no such number
 *         EBUSY   (PAPI_EISRUN) a handler still runs; it is removed, and what it has crossed
 *                 meanwhile is told to nobody
 *         EPERM   (PAPI_EINVAL) PAPI counts for another thread
 */
APAPI_API int apapi_overflow_remove(struct apapi_session *session, int overflow);

APAPI_END_C
#endif
