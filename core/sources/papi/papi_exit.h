/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SOURCES_PAPI_EXIT_H
#define APAPI_SOURCES_PAPI_EXIT_H
#include "apapi/error.h"

/*
 * PAPI's rapl component calls exit(127) if a register cannot be read; other components print.
 * libpapi's calls of exit(), err() and stdio are redirected to here. During papi_exit_guard(),
 * ending the process ends only that call, and nothing is printed. At other times, for other users
 * of the same libpapi, these functions do what they always do.
 */

#define PAPI_EXITED (-1000) /* not one of PAPI's codes */

/**
 * Redirect the calls of a loaded libpapi, but not of the libraries that it has loaded.
 * @return 0; -1 with errno ENOTSUP: a call could not be redirected.
 */
int papi_exit_catch(void *handle, struct apapi_error *err);

/**
 * Call PAPI. Guards may be nested; each thread has its own.
 * @return what `call` returns; PAPI_EXITED if PAPI called exit(): its work is unfinished.
 */
int papi_exit_guard(int (*call)(void *context), void *context);

/** @return the status of the latest exit() caught in this thread. */
int papi_exit_status(void);

#endif
