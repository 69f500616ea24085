/* SPDX-License-Identifier: BSD-3-Clause */
#include "sources/papi/papi_exit.h"

#include <err.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/count_of.h"
#include "sources/papi/papi_slots.h"

static _Thread_local jmp_buf *way_back; /* NULL: no guarded call into PAPI */
static _Thread_local int exit_status;

int papi_exit_guard(int (*call)(void *context), void *context)
{
    jmp_buf here;
    jmp_buf *const outer = way_back;
    int result = PAPI_EXITED;

    if (setjmp(here) == 0) {
        way_back = &here;
        result = call(context);
    }
    way_back = outer;
    return result;
}

int papi_exit_status(void)
{
    return exit_status;
}

/* What libpapi calls instead of the functions of libc. */

static _Noreturn void caught_exit(int status)
{
    if (way_back) {
        exit_status = status;
        longjmp(*way_back, 1);
    }
    exit(status);
}

static _Noreturn void caught_err(int status, const char *format, ...)
{
    va_list values;

    if (!way_back) {
        va_start(values, format);
        vwarn(format, values);
        va_end(values);
    }
    caught_exit(status);
}

static bool papi_exit_is_silent(const FILE *stream)
{
    return way_back && (stream == stdout || stream == stderr);
}

static void caught_perror(const char *text)
{
    if (!way_back) {
        perror(text);
    }
}

__attribute__((format(printf, 2, 0))) static int caught_vfprintf(FILE *stream, const char *format,
                                                                 va_list values)
{
    return papi_exit_is_silent(stream) ? 0 : vfprintf(stream, format, values);
}

__attribute__((format(printf, 2, 3))) static int caught_fprintf(FILE *stream, const char *format,
                                                                ...)
{
    va_list values;
    int result;

    va_start(values, format);
    result = caught_vfprintf(stream, format, values);
    va_end(values);
    return result;
}

/* The names of the two if the compiler checks buffers. */
__attribute__((format(printf, 3, 0))) static int
caught_vfprintf_chk(FILE *stream, int flag, const char *format, va_list values)
{
    (void)flag;
    return caught_vfprintf(stream, format, values);
}

__attribute__((format(printf, 3, 4))) static int caught_fprintf_chk(FILE *stream, int flag,
                                                                    const char *format, ...)
{
    va_list values;
    int result;

    (void)flag;
    va_start(values, format);
    result = caught_vfprintf(stream, format, values);
    va_end(values);
    return result;
}

static size_t caught_fwrite(const void *items, size_t size, size_t count, FILE *stream)
{
    return papi_exit_is_silent(stream) ? count : fwrite(items, size, count, stream);
}

static int caught_fputc(int letter, FILE *stream)
{
    return papi_exit_is_silent(stream) ? letter : fputc(letter, stream);
}

static int caught_putchar(int letter)
{
    return caught_fputc(letter, stdout);
}

static int caught_puts(const char *text)
{
    return way_back ? 0 : puts(text);
}

static const struct replacement {
    const char *name;
    papi_function_f ours;
} replacements[] = {
    {"exit", (papi_function_f)caught_exit},
    {"err", (papi_function_f)caught_err},
    {"perror", (papi_function_f)caught_perror},
    {"fprintf", (papi_function_f)caught_fprintf},
    {"vfprintf", (papi_function_f)caught_vfprintf},
    {"__fprintf_chk", (papi_function_f)caught_fprintf_chk},
    {"__vfprintf_chk", (papi_function_f)caught_vfprintf_chk},
    {"fwrite", (papi_function_f)caught_fwrite},
    {"fputc", (papi_function_f)caught_fputc},
    {"putc", (papi_function_f)caught_fputc}, /* putchar() calls it where it is inlined */
    {"putchar", (papi_function_f)caught_putchar},
    {"puts", (papi_function_f)caught_puts},
};

int papi_exit_catch(void *handle, struct apapi_error *err)
{
    for (size_t i = 0; i < COUNT_OF(replacements); i++) {
        if (papi_slots_set(handle, replacements[i].name, replacements[i].ours) < 0) {
            return apapi_fail(err, ENOTSUP, "PAPI's calls of %s() cannot be caught: %s",
                              replacements[i].name, strerror(errno));
        }
    }
    return 0;
}
