/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/shared_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

void *shared_library_open(const char *soname, int flags, const struct library_symbol *symbols,
                          void *table, struct apapi_error *err)
{
    void *handle = dlopen(soname, flags);

    if (!handle) {
        apapi_fail(err, ENOENT, "%s", dlerror());
        return NULL;
    }
    for (; symbols->name; symbols++) {
        void *address = dlsym(handle, symbols->name);

        if (!address) {
            apapi_fail(err, ENOSYS, "%.120s has no %s", soname, symbols->name);
            dlclose(handle);
            return NULL;
        }
        memcpy((char *)table + symbols->offset, &address, sizeof address);
    }
    return handle;
}

int shared_library_load(const char *soname, const struct library_symbol *symbols, void *table,
                        struct apapi_error *err)
{
    const int flags = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;

    return shared_library_open(soname, flags, symbols, table, err) ? 0 : -1;
}
