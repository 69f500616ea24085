/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CHANNEL_ASK_H
#define CHANNEL_ASK_H
#include <stdint.h>

/*
 * Requests to the node sampler for a reading now: datagrams to <live_dir>/<node>/.now, which only
 * root may send. A datagram has a word, a blank, and the name of a component, "" for all; others
 * are ignored. There is no answer: the reading is in the pages of the node sampler.
 */

#define ASK_SOCKET ".now"
#define ASK_SIZE 80
#define ASK_LOOK "look "   /* show the reading on the page of readings */
#define ASK_COUNT "count " /* also count it for the node page and the shares */

/**
 * @return a descriptor for ask_send(); -1 with errno ENOENT, ECONNREFUSED: no node sampler runs,
 *         EACCES, ENAMETOOLONG. Never blocks.
 */
int ask_open(const char *live_dir, const char *node);

/**
 * Send a request. Waits while many others ask, but not past `deadline_ns` (CLOCK_MONOTONIC).
 * @param word  ASK_LOOK or ASK_COUNT
 * @return 0; -1 with errno ECONNREFUSED: the node sampler has ended, ETIMEDOUT: it does not listen
 */
int ask_send(int fd, const char *word, const char *component, uint64_t deadline_ns);

#endif
