/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SOURCES_GPU_LIBRARY_H
#define APAPI_SOURCES_GPU_LIBRARY_H
#include <stdbool.h>

#include "apapi/error.h"
#include "base/shared_library.h"

/**
 * A vendor's library, loaded when somebody wants it and kept until the process ends: it may have
 * started threads of its own. One thread at a time.
 */
struct gpu_library {
    const char *section;      /* of its settings; `library` names another file */
    const char *const *names; /* tried in this order; ends with NULL */
    const char *missing;      /* what is not there without it: "no NVIDIA driver" */
    const struct library_symbol *symbols;
    const struct library_symbol *newer; /* that older versions lack: their pointers are NULL then */
    void *functions;
    bool loaded;
};

/** @return 0; -1 with errno ENODEV (there is none). */
int gpu_library_load(struct gpu_library *library, struct apapi_error *err);

#endif
