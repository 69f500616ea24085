/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIT_UNIT_H
#define UNIT_UNIT_H
/* What cmocka.h wants to be included before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* UNIT_FILTER=TEXT: only the tests that have it in their names. */
__attribute__((constructor)) static void choose_tests(void)
{
    static char pattern[256];
    const char *text = getenv("UNIT_FILTER");

    if (text != NULL && text[0] != '\0') {
        snprintf(pattern, sizeof pattern, "*%s*", text);
        cmocka_set_test_filter(pattern);
    }
}

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#endif
