/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_SHARED_LIBRARY_H
#define APAPI_BASE_SHARED_LIBRARY_H
#include <stddef.h>

#include "apapi/error.h"

/** A function of a library and its slot in a table of pointers. */
struct library_symbol {
    const char *name;
    size_t offset;
};

/** The entry of a symbol. `table` is a variable or a type that has a member of this name. */
#define LIBRARY_SYMBOL(symbol, table, member)                                                      \
    {                                                                                              \
        (symbol), offsetof(__typeof__(table), member)                                              \
    }

/** A function of a list, as a member of a table: LIBRARY_MEMBER(int, init, (uint64_t flags)) */
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a type cannot have any */
#define LIBRARY_MEMBER(type, name, parameters) type(*(name)) parameters;

/**
 * Load a library permanently and fill a table with its functions.
 * @param soname   for the dynamic loader, or a path
 * @param symbols  ends with a NULL name
 * @param table    filled with the functions that were found
 * @return 0; -1 with errno ENOENT (no such library) or ENOSYS. Thread-safety: any thread.
 */
int shared_library_load(const char *soname, const struct library_symbol *symbols, void *table,
                        struct apapi_error *err);

/** The same with flags of dlopen(3). @return for dlclose(); NULL with errno as above. */
void *shared_library_open(const char *soname, int flags, const struct library_symbol *symbols,
                          void *table, struct apapi_error *err);

#endif
