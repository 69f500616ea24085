/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ATIME_REGION_WATCH_H
#define ATIME_REGION_WATCH_H
#include "apapi/live.h"
#include "apapi/record.h"

/**
 * The regions of the measured programs: a live page and a socket for them, and a thread that
 * listens there during a run. NULL is allowed everywhere, but for region_watch_reading().
 */
struct region_watch;

/**
 * @return close it with region_watch_close(). NULL with errno: there is no place for it, or
 *         EALREADY: this process runs in a step, or under another atime, that has the regions
 */
struct region_watch *region_watch_open(struct apapi_error *err);

/** @return the page for the session; NULL: none. */
struct apapi_live_page *region_watch_page(const struct region_watch *watch);

/** For the session: the page has the figures of a reading. @param watch  struct region_watch */
void region_watch_reading(const struct apapi_live_page *live, void *watch);

/** Before the first run, while signals are caught: programs find the page by their environment. */
int region_watch_publish(struct region_watch *watch, struct apapi_error *err);

/** Before signals have their usual effect again. */
void region_watch_withdraw(struct region_watch *watch);

/** A run begins. Without memory or threads it has no regions. */
void region_watch_begin(struct region_watch *watch);

/** It has ended and been measured. @param record  gets its regions; NULL: not needed */
void region_watch_end(struct region_watch *watch, struct apapi_record *record);

/** The session is destroyed already. */
void region_watch_close(struct region_watch *watch);

#endif
