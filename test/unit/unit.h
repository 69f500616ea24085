/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIT_UNIT_H
#define UNIT_UNIT_H
/* Headers of C that nearly every test needs, and that cmocka.h needs before it. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apapi/error.h"
#include "base/array.h"

#include <cmocka.h>

/* Functions that replace others by --wrap have no prototypes. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* Skip the test, and print why: cmocka's own line has no room for it. */
#define skip_because(...)                                                                          \
    do {                                                                                           \
        printf("# skip: " __VA_ARGS__);                                                            \
        putchar('\n');                                                                             \
        skip();                                                                                    \
    } while (0)

#define needs_root()                                                                               \
    do {                                                                                           \
        if (geteuid() != 0) {                                                                      \
            skip_because("needs root");                                                            \
        }                                                                                          \
    } while (0)

/* Fail with a message that says what was found. */
#define fail_if(condition, ...)                                                                    \
    do {                                                                                           \
        if (condition) {                                                                           \
            fail_msg(__VA_ARGS__);                                                                 \
        }                                                                                          \
    } while (0)

/* An object with this attribute is freed at the end of its block. */
#define FREED __attribute__((cleanup(unit_free)))
#define CLEARED __attribute__((cleanup(apapi_record_clear)))

/* Error of the latest call with a place for it. assert_fails() empties it before the call. */
__attribute__((unused)) static struct apapi_error why;

/* Check that a call returns -1 or NULL with this errno, and that `why` has or is this text. */
#define assert_fails(code, call)                                                                   \
    (errno = 0, why.text[0] = '\0',                                                                \
     _Generic((call), int                                                                          \
              : unit_fails, default                                                                \
              : unit_fails_null)(call, code, __FILE__, __LINE__))
#define assert_fails_with(code, part, call)                                                        \
    (assert_fails(code, call), assert_contains(why.text, part))
#define assert_fails_saying(code, said, call)                                                      \
    do {                                                                                           \
        assert_fails(code, call);                                                                  \
        assert_string_equal(why.text, said);                                                       \
    } while (0)

/* Fail, and print both texts, if `part` is not in `text`. */
#define assert_contains(text, part) unit_contains(text, part, __FILE__, __LINE__)

/*
 * A test of this file: TEST(what_holds) { ... }. Tests run in the order of the file. `before` and
 * `after`, or NULL, are called before and after the test, and may assert, too. unit.c has main(),
 * except for files that have their own.
 */
#define TEST(name) TEST_WITH(name, NULL, NULL)
#define TEST_WITH(name, before, after)                                                             \
    static void test_##name(void);                                                                 \
    __attribute__((constructor)) static void add_test_##name(void)                                 \
    {                                                                                              \
        unit_add(&(struct unit_test){#name, test_##name, before, after});                          \
    }                                                                                              \
    static void test_##name(void)

/* Functions that are called before the first and after the last test of this file. */
#define ALL_TESTS_IN(before, after)                                                                \
    __attribute__((constructor)) static void frame_tests(void)                                     \
    {                                                                                              \
        unit_frame(before, after);                                                                 \
    }

struct unit_test {
    const char *name;
    void (*run)(void), (*before)(void), (*after)(void);
};

void unit_add(const struct unit_test *test);
void unit_frame(void (*before)(void), void (*after)(void));
void unit_fails(int result, int code, const char *file, int line);
void unit_fails_null(const void *result, int code, const char *file, int line);
void unit_free(void *pointer);
void unit_contains(const char *text, const char *part, const char *file, int line);

/* Run the tests. UNIT_FILTER=TEXT: only those whose names contain TEXT. @return exit status */
int unit_run(void);

#ifndef UNIT_KEEPS_THE_USER
/*
 * Runs before main(), so that the user's settings for jobs and files, and his locale, do not affect
 * tests. A test that starts its own program to see its environment is an exception.
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
