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

/** Initializer of a library_symbol. `table` is a variable or a type with the member. */
#define LIBRARY_SYMBOL(symbol, table, member)                                                      \
    {                                                                                              \
        (symbol), offsetof(__typeof__(table), member)                                              \
    }

/** Declare a function as a member of a table: LIBRARY_MEMBER(int, init, (uint64_t flags)) */
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a type cannot have any */
#define LIBRARY_MEMBER(type, name, parameters) type(*(name)) parameters;

/**
 * Load a library permanently and fill a table with its functions.
 * @param soname   name of the library for the dynamic loader, or a path
 * @param symbols  ends with a NULL name
 * @param table    result: pointers to the functions
 * @return 0; -1 with errno ENOENT (no such library), ENOSYS (a function lacks). Any thread.
 */
int shared_library_load(const char *soname, const struct library_symbol *symbols, void *table,
                        struct apapi_error *err);

/** Like shared_library_load(), with flags of dlopen(3). @return for dlclose(3); NULL with errno */
void *shared_library_open(const char *soname, int flags, const struct library_symbol *symbols,
                          void *table, struct apapi_error *err);

#endif
