/* SPDX-License-Identifier: BSD-3-Clause */
#include "database/db_mariadb_library.h"

#include <errno.h>
#include <stddef.h>

#include "base/shared_library.h"

static const struct library_symbol symbols[] = {
#define FUNCTION(name) LIBRARY_SYMBOL(#name, struct mariadb_library, name),
    MARIADB_FUNCTIONS(FUNCTION)
#undef FUNCTION
        {NULL, 0}};

const struct mariadb_library *mariadb_library(struct apapi_error *err)
{
    static struct mariadb_library library;
    struct apapi_error why;

    if (!library.mysql_init &&
        shared_library_load(APAPI_MARIADB_LIBRARY, symbols, &library, &why)) {
        apapi_fail(err, ENOTSUP, "no client library of MariaDB: %.200s", why.text);
        return NULL;
    }
    return &library;
}
