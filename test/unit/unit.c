/* SPDX-License-Identifier: BSD-3-Clause */
/* The tests of one program, as their constructors bring them. */
#define UNIT_KEEPS_THE_USER /* as the test wants it */
#include "unit/unit.h"

#define TESTS_MAX 100

static struct CMUnitTest tests[TESTS_MAX];
static size_t count;
static CMFixtureFunction group_setup, group_teardown;

void unit_add(const struct CMUnitTest *test)
{
    if (count == TESTS_MAX) {
        abort();
    }
    tests[count++] = *test;
}

void unit_frame(CMFixtureFunction setup, CMFixtureFunction teardown)
{
    group_setup = setup;
    group_teardown = teardown;
}

int unit_run(void)
{
    static char pattern[256];
    const char *text = getenv("UNIT_FILTER");

    if (text != NULL && text[0] != '\0') {
        snprintf(pattern, sizeof pattern, "*%s*", text);
        cmocka_set_test_filter(pattern);
    }
    return _cmocka_run_group_tests("tests", tests, count, group_setup, group_teardown);
}

__attribute__((weak)) int main(void)
{
    return unit_run();
}
