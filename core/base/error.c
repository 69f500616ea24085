/* SPDX-License-Identifier: BSD-3-Clause */
#include "apapi/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int apapi_fail(struct apapi_error *err, int code, const char *format, ...)
{
    if (err) {
        va_list args;

        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
    }
    errno = code;
    return -1;
}
