/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions/papi_calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/count_of.h"
#include "base/shared_library.h"

#ifndef APAPI_PAPI_LIBRARY /* built without PAPI: only the program's own, or one that is named */
#define APAPI_PAPI_LIBRARY ""
#endif

/* Not a PAPI that the program gets later. Sanitizers cannot do that. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LOAD_FLAGS (RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)
#else
#define LOAD_FLAGS (RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | RTLD_DEEPBIND)
#endif

static const struct library_symbol symbols[] = {
#define FUNCTION(type, name, parameters) LIBRARY_SYMBOL("PAPI_" #name, struct papi_calls, name),
    PAPI_CALLS_FUNCTIONS(FUNCTION)
#undef FUNCTION
        {NULL, 0}};

static struct papi_calls calls;

static int papi_calls_load(bool *own, struct apapi_error *err)
{
    const char *name = secure_getenv("APAPI_PAPI_LIBRARY");
    void *handle = NULL;

    *own = !dlsym(RTLD_DEFAULT, "PAPI_library_init");
    if (!*own) {
        return shared_library_resolve(RTLD_DEFAULT, "the program's libpapi", symbols, &calls, err);
    }
    name = name && *name ? name : APAPI_PAPI_LIBRARY;
    if (*name == '\0') {
        return apapi_fail(err, ENOSYS, "built without PAPI");
    }
    handle = dlopen(name, LOAD_FLAGS);
    if (!handle) {
        return apapi_fail(err, ENOSYS, "%s", dlerror());
    }
    return shared_library_resolve(handle, name, symbols, &calls, err);
}

static void papi_calls_disable(papi_calls_wanted_f wanted, const void *context)
{
    for (int i = 0; i < calls.num_components(); i++) {
        const char *name = calls.get_component_info(i);

        if (name && !wanted(name, context)) {
            calls.disable_component(i);
        }
    }
}

/* PAPI starts for a program that was compiled for the same major and minor version only. */
static int papi_calls_initialize(struct apapi_error *err)
{
    static const int majors[] = {7, 6, 5, 8};
    int result = -1;

    for (size_t i = 0; i < COUNT_OF(majors); i++) {
        for (int minor = 0; minor < 10; minor++) {
            int version = majors[i] << 24 | minor << 16;

            result = calls.library_init(version);
            if (result == version) {
                return 0;
            }
        }
    }
    return apapi_fail(err, ENOSYS, "PAPI does not start: %s", calls.strerror(result));
}

const struct papi_calls *papi_calls_start(papi_calls_wanted_f wanted, const void *context,
                                          struct apapi_error *err)
{
    bool own;

    if (papi_calls_load(&own, err)) {
        return NULL;
    }
    if (!calls.is_initialized()) {
        if (own) {
            papi_calls_disable(wanted, context);
        }
        if (papi_calls_initialize(err)) {
            return NULL;
        }
    }
    calls.thread_init(pthread_self); /* the program's own choice stays */
    return &calls;
}
