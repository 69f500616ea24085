/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OBSERVE_OBSERVE_H
#define OBSERVE_OBSERVE_H
#include "apapi/live.h"
#include "apapi/measurement.h"
#include "apapi/region_result.h"

/*
 * The energy of the regions of a step's programs. After each reading the time that threads have
 * spent in each region since the reading before is a row of a fit for each domain (measure/fit.h).
 *
 * Nothing is kept until the first program comes. The thread that reads the meters calls
 * observe_reading(); everything else is for one other thread.
 */
struct observer;

/** @param live  of the session, or all zeros if there is none. NULL: out of memory. */
struct observer *observe_create(const struct apapi_live_page *live);

void observe_destroy(struct observer *observer);

/** The figures of a reading are on the live page. Does not allocate or make a system call. */
void observe_reading(const struct apapi_live_page *live, void *observer);

/**
 * Which regions there were, for a record.
 * @param m       of the session
 * @param result  empty it with apapi_regions_clear(). Empty: no program used any
 * @return 0; -1 with errno ENOMEM
 */
int observe_result(struct observer *observer, const struct apapi_measurement *m,
                   struct apapi_regions *result);

/*
 * The socket on which programs of a step hand over their pages, and `apapi mark` says what the
 * shell is in (regions/message.h). Nothing here waits for the other side. Only the step's user is
 * served.
 */
struct serve;

/** Receives what is worth a line in a log. */
typedef void (*serve_log_f)(const char *text);

/**
 * @param path  of the live page: the socket's name is that with REGION_SOCKET_SUFFIX, in a folder
 *              that nobody else may change
 * @param uid   of the step's user
 * @param log   of programs that are refused, each reason once; NULL: none
 * @return NULL with errno of the call that failed, ENAMETOOLONG
 */
struct serve *serve_open(const char *path, uint32_t uid, struct observer *observer,
                         serve_log_f log);

/** @return a descriptor that is readable when there is work; -1: not before serve_pause_ms(). */
int serve_descriptor(const struct serve *serve);

/**
 * Do pending work: some messages at once and, in the long run, what a tenth of a core can do.
 * @return 0: there was none, or it has to pause
 */
int serve_work(struct serve *serve);

/** @return until the next serve_tick() or serve_work() [ms]; -1: not needed. */
int serve_pause_ms(const struct serve *serve);

/** Publish results to the programs, if it is time to. */
void serve_tick(struct serve *serve);

/**
 * No program can come any more; those that there are have ended. What has come before is read for
 * 50 ms at most. NULL is allowed.
 */
void serve_close(struct serve *serve);

#endif
