/* SPDX-License-Identifier: BSD-3-Clause */
#include "sources/gpu/gpu_library.h"

#include <errno.h>

#include "sources/sources.h"

static bool gpu_library_try(struct gpu_library *library, const char *name, struct apapi_error *err)
{
    if (shared_library_load(name, library->symbols, library->functions, err)) {
        return false;
    }
    for (const struct library_symbol *symbol = library->newer; symbol && symbol->name; symbol++) {
        const struct library_symbol alone[] = {*symbol, {NULL, 0}};

        shared_library_load(name, alone, library->functions, NULL);
    }
    return true;
}

int gpu_library_load(struct gpu_library *library, struct apapi_error *err)
{
    const char *chosen = source_setting(library->section, "library");
    const char *const only[] = {chosen, NULL};
    struct apapi_error first = {""}, why;

    for (const char *const *name = chosen ? only : library->names; *name && !library->loaded;
         name++) {
        library->loaded = gpu_library_try(library, *name, *first.text ? &why : &first);
    }
    return library->loaded ? 0
                           : apapi_fail(err, ENODEV, "%s: %.200s", library->missing, first.text);
}
