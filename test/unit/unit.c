/* SPDX-License-Identifier: BSD-3-Clause */
/* The tests of one program, which their constructors add. */
#define UNIT_KEEPS_THE_USER /* each test decides that */
#include "unit/unit.h"

#define TESTS_MAX 100

static struct unit_test tests[TESTS_MAX];
static size_t count;
static struct unit_test frame;

void unit_add(const struct unit_test *test)
{
    if (count == TESTS_MAX) {
        abort();
    }
    tests[count++] = *test;
}

void unit_frame(void (*before)(void), void (*after)(void))
{
    frame.before = before;
    frame.after = after;
}

void unit_contains(const char *text, const char *part, const char *file, int line)
{
    if (!strstr(text, part)) {
        print_error("\"%s\" is not in\n%s\n", part, text);
        _fail(file, line);
    }
}

void unit_fails(int result, int code, const char *file, int line)
{
    if (result != -1 || errno != code) {
        print_error("%d with \"%s\", not -1 with \"%s\"\n", result, strerror(errno),
                    strerror(code));
        _fail(file, line);
    }
}

void unit_fails_null(const void *result, int code, const char *file, int line)
{
    unit_fails(result ? 0 : -1, code, file, line);
}

void unit_free(void *pointer)
{
    free(*(void **)pointer);
}

static int call(void (*function)(void))
{
    if (function) {
        function();
    }
    return 0;
}

/* cmocka calls this. `*state` is the test. */

static void run(void **state)
{
    ((const struct unit_test *)*state)->run();
}

static int before(void **state)
{
    return call(((const struct unit_test *)*state)->before);
}

static int after(void **state)
{
    return call(((const struct unit_test *)*state)->after);
}

static int before_all(void **state)
{
    (void)state;
    return call(frame.before);
}

static int after_all(void **state)
{
    (void)state;
    return call(frame.after);
}

int unit_run(void)
{
    static char pattern[256];
    struct CMUnitTest cases[TESTS_MAX];
    const char *text = getenv("UNIT_FILTER");

    if (text != NULL && text[0] != '\0') {
        snprintf(pattern, sizeof pattern, "*%s*", text);
        cmocka_set_test_filter(pattern);
    }
    for (size_t i = 0; i < count; i++) {
        cases[i] = (struct CMUnitTest){tests[i].name, run, before, after, &tests[i]};
    }
    return _cmocka_run_group_tests("tests", cases, count, before_all, after_all);
}

__attribute__((weak)) int main(void)
{
    return unit_run();
}
