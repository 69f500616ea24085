/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ATIME_REGION_WATCH_H
#define ATIME_REGION_WATCH_H
#include "apapi/live.h"
#include "apapi/record.h"

/**
 * The regions of the measured programs: a live page and a socket for them, and a thread that
 * listens at the socket during a run. NULL is allowed everywhere, except in region_watch_reading().
 */
struct region_watch;

/**
 * @return close it with region_watch_close(). NULL with errno: there is no place for the page, or
 *         EALREADY: this process runs in a step, or under another atime, which has the regions
 */
struct region_watch *region_watch_open(struct apapi_error *err);

/** @return the page for the session; NULL: none. */
struct apapi_live_page *region_watch_page(const struct region_watch *watch);

/** For the session: the page has the values of a reading. @param watch  struct region_watch */
void region_watch_reading(const struct apapi_live_page *live, void *watch);

/** Put the page's path into the environment, before the first run and while signals are caught. */
int region_watch_publish(struct region_watch *watch, struct apapi_error *err);

/** Remove the page's name, before signals have their usual effect again. */
void region_watch_withdraw(struct region_watch *watch);

/** Begin a run. Without memory or a thread, the run has no regions. */
void region_watch_begin(struct region_watch *watch);

/** End a run that has been measured. @param record  gets the run's regions; NULL: not needed */
void region_watch_end(struct region_watch *watch, struct apapi_record *record);

/** Close and free all, after the session was destroyed. */
void region_watch_close(struct region_watch *watch);

#endif
