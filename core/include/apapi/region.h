/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_REGION_H
#define APAPI_REGION_H
#include <stdint.h>

#include "apapi/error.h"

APAPI_BEGIN_C

/*
 * Regions: named parts of a program. The record of a measured step has the energy of each region.
 *
 *     apapi_region_begin("solve");
 *     ...
 *     apapi_region_end("solve");
 *
 * The first call of any of these functions sets everything up. A region belongs to the thread that
 * begins it. Regions nest; all passes of a name in the same outer region add up. Outside a measured
 * step all calls return at once and do nothing. In a measured step a call takes some tens of
 * nanoseconds, and makes no system call, takes no lock and allocates nothing, except for the first
 * call of a thread and the first call with each name in each outer region.
 *
 * Calls that make no sense (below: EALREADY, ENOENT, EPERM, E2BIG) are counted, and each kind is
 * reported once on standard error. A program may ignore the results of all functions.
 *
 * Names are texts of any bytes. The first 255 bytes tell them apart. A program may use 254 names
 * and 254 regions within each other (paths); all others are added up as one.
 *
 * All functions may be called from any thread, but not from signal handlers.
 */

#define APAPI_REGION_DEPTH 64 /* regions that are open in a thread at one time */

/** The handle of a name: with it, a call does not look the name up. 0: not in a measured step. */
typedef uint32_t apapi_region;

/**
 * Begin a region in this thread.
 * @param name  may be freed after the call
 * @return 0; -1 with errno
 *         EALREADY  this region is the innermost one already, as in a function that calls itself.
 *                   The call is counted: the next apapi_region_end() ends this call only
 *         E2BIG     more than APAPI_REGION_DEPTH regions are open; end this one nevertheless
 *         EINVAL    `name` is NULL
 */
APAPI_API int apapi_region_begin(const char *name);

/**
 * End a region of this thread. Regions that were begun in it, and are still open, end as well.
 * @return 0; -1 with errno
 *         ENOENT  the region is open in no thread, or was begun before this process was forked
 *         EPERM   the region is open in another thread; only that thread can end it
 *         EBUSY   regions in it were still open
 *         EINVAL  `name` is NULL
 */
APAPI_API int apapi_region_end(const char *name);

/** End the regions of this thread, as the end of the program does. @return 0 */
APAPI_API int apapi_region_stop(void);

/**
 * Look a name up, before a loop.
 * @return a handle for apapi_region_enter() and apapi_region_leave() in any thread of this process
 *         and of processes forked from it, for as long as they run; 0: there is nothing to measure
 */
APAPI_API apapi_region apapi_region_handle(const char *name);

/** Like apapi_region_begin(), with a handle; 0 is allowed and does nothing. */
APAPI_API int apapi_region_enter(apapi_region region);

/** Like apapi_region_end(), with a handle; 0 is allowed and does nothing. */
APAPI_API int apapi_region_leave(apapi_region region);

/**
 * Give a figure of merit: a result of the program, which is divided by the program's energy.
 * @param name   the first 63 bytes tell names apart (unprintable ones are the same), and the last
 *               value of each name counts, with its unit. A process has at most 64 names and units
 *               of a name, and so has a record
 * @param value  finite
 * @param unit   what is counted: "iterations", "FLOP"; NULL or "": none
 * @return 0, also outside of a measured step; -1 with errno EINVAL (`name` is NULL or empty, or
 *         `value` is not finite), ENOSPC (the 65th name or unit of one), ENOTCONN (no sampler, or
 *         the program has closed the connection with it)
 * Makes a system call. Does not block.
 */
APAPI_API int apapi_region_fom(const char *name, double value, const char *unit);

APAPI_END_C
#endif
