/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_REGION_H
#define APAPI_REGION_H
#include <stdint.h>

#include "apapi/error.h"

APAPI_BEGIN_C

/*
 * Regions: named parts of a program, whose energy the record of a measured step names.
 *
 *     apapi_region_begin("solve");
 *     ...
 *     apapi_region_end("solve");
 *
 * The first call of any of these functions sets everything up. Regions are of the thread that
 * calls; they nest, and the same name in the same outer region adds up. Outside of a measured step
 * all calls return at once and do nothing. In a measured step a call takes some tens of nanoseconds
 * and needs no system call, lock or memory, except for the first one of a thread and the first one
 * of each name in each outer region.
 *
 * Calls that make no sense (below: EALREADY, ENOENT, EPERM, E2BIG) are counted and reported once
 * each on standard error. They never change what the program does: its results may be ignored.
 *
 * Names are texts of any bytes. The first 255 bytes tell them apart. A program may use 254 names
 * and 254 regions within each other (paths); all others are added up as one.
 *
 * All functions may be called from any thread, but not from signal handlers.
 */

#define APAPI_REGION_DEPTH 64 /* regions that are open in a thread at one time */

/** A name, for the calls below that have no name to look up. 0: outside of a measured step. */
typedef uint32_t apapi_region;

/**
 * Begin a region in this thread.
 * @param name  may be freed after the call
 * @return 0; -1 with errno
 *         EALREADY  this region is the innermost one already. The call counts, as for a
 *                   function that calls itself: its end ends nothing but this call
 *         E2BIG     more than APAPI_REGION_DEPTH are open; its end has to come nevertheless
 *         EINVAL    `name` is NULL
 */
APAPI_API int apapi_region_begin(const char *name);

/**
 * End a region of this thread. Regions that were begun in it, and are still open, end as well.
 * @return 0; -1 with errno
 *         ENOENT  it is open in no thread; or it was when this process was forked
 *         EPERM   it is open in another thread, which alone can end it
 *         EBUSY   regions in it were still open
 *         EINVAL  `name` is NULL
 */
APAPI_API int apapi_region_end(const char *name);

/** End the regions of this thread, as the end of the program does. @return 0 */
APAPI_API int apapi_region_stop(void);

/**
 * Look a name up, before a loop.
 * @return for apapi_region_enter() and apapi_region_leave() in any thread of this process and
 *         of processes forked from it, for as long as they run; 0: there is nothing to measure
 */
APAPI_API apapi_region apapi_region_handle(const char *name);

/** apapi_region_begin() for a name that was looked up; 0 is allowed and does nothing. */
APAPI_API int apapi_region_enter(apapi_region region);

/** apapi_region_end() for a name that was looked up; 0 is allowed and does nothing. */
APAPI_API int apapi_region_leave(apapi_region region);

/**
 * Give a figure of merit: a result of the program that its energy is compared with.
 * @param name   the last value of a name counts; its first 63 bytes tell it apart. A process, and a
 *               record, has 64 of them
 * @param value  finite
 * @param unit   what is counted: "iterations", "FLOP"; NULL or "": none
 * @return 0, also outside of a measured step; -1 with errno EINVAL (`name` is NULL or empty, or
 *         `value` is not finite), ENOSPC (the 65th name), ENOTCONN (the step's sampler takes no
 *         figures, or is silent)
 * Makes system calls. Does not block.
 */
APAPI_API int apapi_region_fom(const char *name, double value, const char *unit);

APAPI_END_C
#endif
