/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIT_UNIT_H
#define UNIT_UNIT_H
/* cmocka.h needs these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

#include <cmocka.h>

/* Skip the test, and print why: cmocka's own line has no room for it. */
#define skip_because(...)                                                                          \
    do {                                                                                           \
        printf("# skip: " __VA_ARGS__);                                                            \
        putchar('\n');                                                                             \
        skip();                                                                                    \
    } while (0)

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

#ifndef UNIT_KEEPS_THE_USER
/*
 * Runs before main(): the user's settings for own jobs and files, and his locale, must not affect
 * tests. Except for a test that starts its own program to see its environment.
 */
__attribute__((constructor)) static void unit_forget_the_user(void)
{
    static const char *const prefixes[] = {"APAPI_", "SLURM_", "FAKE_", "LC_", "LANG"};
    size_t i = 0;

    while (environ[i]) {
        char name[256] = "";
        size_t length = strcspn(environ[i], "=");

        for (size_t p = 0; p < COUNT_OF(prefixes) && length < sizeof name; p++) {
            if (strncmp(environ[i], prefixes[p], strlen(prefixes[p])) == 0) {
                memcpy(name, environ[i], length);
            }
        }
        if (!*name || unsetenv(name)) {
            i++;
        }
    }
    umask(022);
}
#endif

#endif
