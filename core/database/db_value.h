/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_DATABASE_DB_VALUE_H
#define APAPI_DATABASE_DB_VALUE_H
#include <stddef.h>
#include <stdint.h>

#define DB_ROWS_MAX 64 /* that one statement adds */

enum db_type { DB_NULL, DB_INTEGER, DB_REAL, DB_TEXT };

/** A value of a row. */
struct db_value {
    enum db_type type;
    int64_t integer;
    double real;
    const char
        *text; /* `size` bytes; a parameter's text must stay valid until the statement has run */
    size_t size;
};

/** NaN becomes NULL. */
struct db_value db_real(double value);
struct db_value db_integer(int64_t value);
/** NULL becomes NULL. */
struct db_value db_text(const char *text);

#endif
