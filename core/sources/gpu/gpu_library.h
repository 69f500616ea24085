/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SOURCES_GPU_LIBRARY_H
#define APAPI_SOURCES_GPU_LIBRARY_H
#include <stdbool.h>

#include "apapi/error.h"
#include "base/shared_library.h"

/**
 * A vendor's library, loaded on demand, never unloaded: it may have threads. One thread at a time.
 */
struct gpu_library {
    const char *section;      /* of its settings; the setting `library` replaces the file name */
    const char *const *names; /* tried in this order; ends with NULL */
    const char *missing;      /* error message without the library: "no NVIDIA driver" */
    const struct library_symbol *symbols;
    const struct library_symbol
        *newer; /* missing in older versions: their pointers are NULL then */
    void *functions;
    bool loaded;
};

/** @return 0; -1 with errno ENODEV (no such library). */
int gpu_library_load(struct gpu_library *library, struct apapi_error *err);

#endif
