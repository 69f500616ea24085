/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_SHARED_LIBRARY_H
#define APAPI_BASE_SHARED_LIBRARY_H
#include <stddef.h>

#include "apapi/error.h"

/** A function of a library, and where its address goes in a table of pointers. */
struct library_symbol {
    const char *name;
    size_t offset;
};

/** The entry of a symbol; `table` is a variable or a type with that member. */
#define LIBRARY_SYMBOL(symbol, table, member)                                                      \
    {                                                                                              \
        (symbol), offsetof(__typeof__(table), member)                                              \
    }

/**
 * Load a library for as long as the process lives, and fill a table with its functions.
 * @param soname   as the system's loader knows it, or a path
 * @param symbols  ends with a name of NULL
 * @param table    filled as far as the functions are found
 * @return 0; -1 with errno ENOSYS and the reason.
 * Thread-safety: any thread.
 */
int shared_library_load(const char *soname, const struct library_symbol *symbols, void *table,
                        struct apapi_error *err);

/** The second half of it, for a library that is loaded already, as by dlopen(). */
int shared_library_resolve(void *handle, const char *soname, const struct library_symbol *symbols,
                           void *table, struct apapi_error *err);

#endif
