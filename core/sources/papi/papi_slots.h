/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SOURCES_PAPI_SLOTS_H
#define APAPI_SOURCES_PAPI_SLOTS_H

typedef void (*papi_function_f)(void);

/**
 * Make a loaded library call `ours` wherever it calls, or holds the address of, the function `name`
 * of another library. Calls of other libraries stay unchanged.
 * @param handle  of dlopen() with RTLD_NOW
 * @return number of changed slots; -1 with errno EACCES (a slot cannot be written), ENOTSUP
 */
int papi_slots_set(void *handle, const char *name, papi_function_f ours);

#endif
