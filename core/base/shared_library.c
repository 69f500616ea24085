/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/shared_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

int shared_library_resolve(void *handle, const char *soname, const struct library_symbol *symbols,
                           void *table, struct apapi_error *err)
{
    for (; symbols->name; symbols++) {
        void *address = dlsym(handle, symbols->name);

        if (!address) {
            return apapi_fail(err, ENOSYS, "%.120s has no %s", soname, symbols->name);
        }
        memcpy((char *)table + symbols->offset, &address, sizeof address);
    }
    return 0;
}

int shared_library_load(const char *soname, const struct library_symbol *symbols, void *table,
                        struct apapi_error *err)
{
    void *handle = dlopen(soname, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

    if (!handle) {
        return apapi_fail(err, ENOSYS, "%s", dlerror());
    }
    if (shared_library_resolve(handle, soname, symbols, table, err)) {
        dlclose(handle);
        return -1;
    }
    return 0;
}
