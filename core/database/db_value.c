/* SPDX-License-Identifier: BSD-3-Clause */
#include "database/db_value.h"

#include <math.h>
#include <string.h>

struct db_value db_real(double value)
{
    return (struct db_value){.type = isfinite(value) ? DB_REAL : DB_NULL, .real = value};
}

struct db_value db_integer(int64_t value)
{
    return (struct db_value){.type = DB_INTEGER, .integer = value};
}

struct db_value db_text(const char *text)
{
    return (struct db_value){
        .type = text ? DB_TEXT : DB_NULL, .text = text, .size = text ? strlen(text) : 0};
}
