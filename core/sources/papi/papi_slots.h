/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SOURCES_PAPI_SLOTS_H
#define APAPI_SOURCES_PAPI_SLOTS_H

typedef void (*papi_function_f)(void);

/**
 * Let a loaded library call `ours` wherever it calls, or holds the address of, the function `name`
 * of another library. What other libraries call stays as it is.
 * @param handle  of dlopen() with RTLD_NOW
 * @return how many places that were; -1 with errno EACCES (a place cannot be written to), ENOTSUP
 */
int papi_slots_set(void *handle, const char *name, papi_function_f ours);

#endif
