/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SOURCES_PAPI_THREAD_H
#define APAPI_SOURCES_PAPI_THREAD_H
#include "apapi/error.h"

/*
 * PAPI keeps data of each thread that calls it. It frees that of all threads when it is shut down,
 * and crashes in threads that it does not know or has forgotten. So one thread, which it knows,
 * opens and closes everything. It sleeps in between and lives as long as the process. Any thread
 * may read.
 */

#define PAPI_THREAD_ENDED (-1001) /* not one of PAPI's codes */

/**
 * Run `call` in that thread, and wait for it.
 * @return its result, with its errno; PAPI_THREAD_ENDED: something in it ended the thread, and its
 * work is unfinished; -1 with errno EAGAIN: the thread cannot be created. Thread-safety: any
 * thread, one after the other.
 */
int papi_thread_call(int (*call)(void *context), void *context, struct apapi_error *err);

#endif
