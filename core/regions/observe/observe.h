/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OBSERVE_OBSERVE_H
#define OBSERVE_OBSERVE_H
#include "apapi/live.h"
#include "apapi/measurement.h"
#include "apapi/region_result.h"

/*
 * The energy of the regions of a step's programs. After each reading, the times that threads have
 * spent in each region since the reading before become a row of each domain's fit (measure/fit.h).
 *
 * Nothing is kept until the first program connects. The thread that reads the meters calls
 * observe_reading(); one other thread calls all other functions.
 */
struct observer;

/** @param live  page of the session, kept by the observer; all zeros: no session. NULL: ENOMEM */
struct observer *observe_create(const struct apapi_live_page *live);

void observe_destroy(struct observer *observer);

/** Take a new reading from the live page. No allocation; system calls for new nodes and threads. */
void observe_reading(const struct apapi_live_page *live, void *observer);

/**
 * Return the regions of the step, for a record.
 * @param m       measurement of the session
 * @param result  free its lists with apapi_regions_clear(). Empty: no program used regions
 * @return 0; -1 with errno ENOMEM
 */
int observe_result(struct observer *observer, const struct apapi_measurement *m,
                   struct apapi_regions *result);

/*
 * The socket on which programs of a step hand over their pages, and `apapi mark` says which region
 * the shell is in (regions/message.h). Nothing here waits for the other side. Only processes of
 * the step's user, of root and of the caller's own user are served.
 */
struct serve;

/** A function that writes `text` as a line of a log. */
typedef void (*serve_log_f)(const char *text);

/**
 * @param path  of the live page, in a folder that nobody else may change. The socket has this name
 *              with REGION_SOCKET_SUFFIX appended
 * @param uid   of the step's user
 * @param log   gets the reason when a program is refused, at most 8 times; NULL: none
 * @return NULL with errno of the call that failed, ENAMETOOLONG
 */
struct serve *serve_open(const char *path, uint32_t uid, struct observer *observer,
                         serve_log_f log);

/** @return a descriptor that is readable when there is work; in a pause: when a program has ended.
 */
int serve_descriptor(const struct serve *serve);

/**
 * Do pending work: some messages at once and, in the long run, what a tenth of a core can do.
 * @return 0: there was no work, or serve has to pause
 */
int serve_work(struct serve *serve);

/** @return time until the next serve_tick() or serve_work() [ms]; -1: no call is needed. */
int serve_pause_ms(const struct serve *serve);

/** Publish results to the programs, if the time for it has come. */
void serve_tick(struct serve *serve);

/**
 * Close the socket: no program can connect any more, and those that are connected have ended.
 * Messages that came before are read for at most 50 ms of processor time; programs whose message
 * was not read are counted as lost. NULL is allowed.
 */
void serve_close(struct serve *serve);

#endif
