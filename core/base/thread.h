/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_THREAD_H
#define APAPI_BASE_THREAD_H
#include <pthread.h>

/** Start a thread that blocks all signals: they belong to the host program. 0; -1 with errno. */
int thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

#endif
