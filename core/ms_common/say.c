/* SPDX-License-Identifier: BSD-3-Clause */
#include "ms_common/say.h"

#include <stdarg.h>
#include <stdio.h>

void say(const char *format, ...)
{
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "libms_common_apapi: %s\n", text);
}
