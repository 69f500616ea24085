/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_LOG_H
#define SAMPLER_LOG_H
#include <stddef.h>

/*
 * Messages of the sampler to the system log, facility daemon. syslog(3) blocks if the log does not
 * read; these functions never block. Messages that the log does not accept are counted, and the
 * next accepted message is followed by one with the number lost. Thread-safety: any thread may
 * write.
 */

/**
 * Choose the log. The socket is opened with the first message.
 * @param path  of its socket, borrowed
 * @param name  of the program, borrowed
 */
void log_open(const char *path, const char *name);

/**
 * Write one line. errno is preserved. @param priority  LOG_ERR, LOG_WARNING, LOG_NOTICE, LOG_INFO
 * of syslog.h
 */
void log_write(int priority, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** @return how many messages were lost and not yet reported in the log. */
size_t log_lost(void);

/** Close. */
void log_close(void);

#endif
