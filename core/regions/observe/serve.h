/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OBSERVE_SERVE_H
#define OBSERVE_SERVE_H
#include <stdint.h>

#include "regions/observe/observe.h"

/*
 * The socket on which programs of a step hand over their pages, and `apapi mark` says what the
 * shell is in (regions/message.h). Nothing here waits for the other side. Whoever is not the step's
 * user is refused.
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
 * Do pending work: some 64 messages at once and, in the long run, what a tenth of a core can do.
 * @return 0: there was none, or it has to pause
 */
int serve_work(struct serve *serve);

/** @return until the next serve_tick() or serve_work() [ms]; -1: not needed. */
int serve_pause_ms(const struct serve *serve);

/** Publish results to the programs, if it is time to. */
void serve_tick(struct serve *serve);

/**
 * No program can come any more; those that there are have ended. Of what has come before at most
 * 8192 messages are read. NULL is allowed.
 */
void serve_close(struct serve *serve);

#endif
