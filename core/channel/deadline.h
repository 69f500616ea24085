/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CHANNEL_DEADLINE_H
#define CHANNEL_DEADLINE_H
#include <stddef.h>
#include <stdint.h>

#define DEADLINE_MS UINT64_C(1000000)

/** @return the time of CLOCK_MONOTONIC [ns], in which deadlines are given. */
uint64_t deadline_now(void);

/**
 * Wait until `fd` has one of the poll() events, an error or an end, or the deadline has passed.
 * @return 0; -1 with errno of poll(), ETIMEDOUT.
 */
int deadline_wait(int fd, short events, uint64_t deadline_ns);

/** Send all bytes. Never raises SIGPIPE. @return 0; -1 with errno of deadline_wait() or send() */
int deadline_send(int fd, const char *bytes, size_t size, uint64_t deadline_ns);

#endif
