/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SOURCES_PAPI_THREAD_H
#define APAPI_SOURCES_PAPI_THREAD_H
#include "apapi/error.h"

/*
 * PAPI keeps something of each thread that calls it, frees that of all threads when it is shut
 * down, and crashes in those that it does not know or has forgotten. So one thread, which it knows,
 * opens and closes all; it sleeps in between and lives as long as the process. Reading is another
 * matter: any thread may.
 */

#define PAPI_THREAD_ENDED (-1001) /* no code of PAPI's */

/**
 * Call `call` in that thread, and wait for it.
 * @return what it returned, with its errno; PAPI_THREAD_ENDED: something in it has ended the
 * thread, and what it was about is unfinished; -1 with errno EAGAIN: there is no such thread.
 * Thread-safety: any thread, one after the other.
 */
int papi_thread_call(int (*call)(void *context), void *context, struct apapi_error *err);

#endif
