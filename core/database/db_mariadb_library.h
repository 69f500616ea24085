/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_DATABASE_DB_MARIADB_LIBRARY_H
#define APAPI_DATABASE_DB_MARIADB_LIBRARY_H
#include <mysql.h>

#include "apapi/error.h"

/* The functions used of MariaDB's client library. It is loaded on demand, never linked. */
#define MARIADB_FUNCTIONS(FUNCTION)                                                                \
    FUNCTION(mysql_init)                                                                           \
    FUNCTION(mysql_options)                                                                        \
    FUNCTION(mysql_real_connect)                                                                   \
    FUNCTION(mysql_close)                                                                          \
    FUNCTION(mysql_query)                                                                          \
    FUNCTION(mysql_error)                                                                          \
    FUNCTION(mysql_fetch_fields)                                                                   \
    FUNCTION(mysql_free_result)                                                                    \
    FUNCTION(mysql_num_fields)                                                                     \
    FUNCTION(mysql_stmt_affected_rows)                                                             \
    FUNCTION(mysql_stmt_bind_param)                                                                \
    FUNCTION(mysql_stmt_bind_result)                                                               \
    FUNCTION(mysql_stmt_close)                                                                     \
    FUNCTION(mysql_stmt_error)                                                                     \
    FUNCTION(mysql_stmt_execute)                                                                   \
    FUNCTION(mysql_stmt_fetch)                                                                     \
    FUNCTION(mysql_stmt_fetch_column)                                                              \
    FUNCTION(mysql_stmt_free_result)                                                               \
    FUNCTION(mysql_stmt_init)                                                                      \
    FUNCTION(mysql_stmt_param_count)                                                               \
    FUNCTION(mysql_stmt_prepare)                                                                   \
    FUNCTION(mysql_stmt_result_metadata)                                                           \
    FUNCTION(mysql_stmt_store_result)

struct mariadb_library {
#define FUNCTION(name) __typeof__(name) *(name);
    MARIADB_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

/** @return the functions, valid as long as the process; NULL with errno ENOTSUP. */
const struct mariadb_library *mariadb_library(struct apapi_error *err);

#endif
