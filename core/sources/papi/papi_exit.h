/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SOURCES_PAPI_EXIT_H
#define APAPI_SOURCES_PAPI_EXIT_H
#include "apapi/error.h"

/*
 * PAPI's rapl component calls exit(127) where a register cannot be read, others print. What libpapi
 * itself calls of exit(), err() and of stdio is led through here. During papi_exit_guard() ending
 * the process ends that call alone, and standard output and error stay as they are; at any other
 * time, for whoever else uses the same libpapi, these functions do what they always do.
 */

#define PAPI_EXITED (-1000) /* no code of PAPI's */

/**
 * Catch what a loaded libpapi calls. What else it has loaded is not caught.
 * @return 0; -1 with errno ENOTSUP: one of its calls could not be redirected.
 */
int papi_exit_catch(void *handle, struct apapi_error *err);

/**
 * Call PAPI. Guards may be nested; each thread has its own.
 * @return what `call` returns; PAPI_EXITED if PAPI called exit(): what it was about is unfinished.
 */
int papi_exit_guard(int (*call)(void *context), void *context);

/** @return the status of the latest exit() that was caught in this thread. */
int papi_exit_status(void);

#endif
