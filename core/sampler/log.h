/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_LOG_H
#define SAMPLER_LOG_H
#include <stddef.h>

/*
 * The sampler's messages to the system's log, facility daemon. syslog(3) waits for a log that does
 * not read; these functions never do. What the log does not take is lost and counted, and the next
 * message that it takes is followed by one that tells the number.
 * Thread-safety: any thread may write.
 */

/**
 * Choose the log. The socket is opened with the first message.
 * @param path  of its socket, borrowed
 * @param name  of the program, borrowed
 */
void log_open(const char *path, const char *name);

/** Write one line. errno is preserved. @param priority  LOG_ERR, LOG_WARNING, LOG_NOTICE, LOG_INFO
 * of syslog.h */
void log_write(int priority, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** @return how many messages the log has not taken, of which it has not been told. */
size_t log_lost(void);

/** Close. */
void log_close(void);

#endif
