/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_PROCESS_H
#define SAMPLER_PROCESS_H
#include <stdbool.h>
#include <stddef.h>

#include "sampler/step.h"

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

/**
 * End this process after a time, whatever it is doing then. A later call replaces the time. Nothing
 * else ends a sampler that hangs after it was told to stop. The calling thread must not block
 * SIGALRM afterwards.
 */
void watchdog_set(unsigned seconds);

/**
 * Reset the OOM score, write no core files, set the limits, and drop capabilities that are never
 * needed. Call it before there are threads.
 */
void process_restrict(void);

/**
 * Drop the capabilities for preparing, too, and gain no rights by exec from now on. Call it when
 * the processes of the user run and the priority is set.
 * @param ends_others  whether there are processes of the user that may have to be killed
 */
void process_settle(bool ends_others);

/** Keep only the capabilities to signal processes, become the user and set priorities. */
void process_settle_actor(void);

/** Apply the site's CPUs and priority as far as possible. */
void process_schedule(const struct step *step);

#endif
