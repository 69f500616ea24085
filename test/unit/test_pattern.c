/* SPDX-License-Identifier: BSD-3-Clause */
#include <fnmatch.h>

#include "base/text.h"
#include "unit/unit.h"

static void random_text(char *text, size_t most, const char *letters)
{
    size_t length = (size_t)rand() % (most + 1);

    for (size_t i = 0; i < length; i++) {
        text[i] = letters[(size_t)rand() % strlen(letters)];
    }
    text[length] = '\0';
}

/* Stars and question marks match as in fnmatch(3). */
TEST(random_patterns_agree_with_fnmatch)
{
    size_t fits = 0;

    srand(1);
    for (int i = 0; i < 300000; i++) {
        char pattern[16], name[16];
        bool expected;

        random_text(pattern, 8, "ab:*?");
        random_text(name, 8, "ab:");
        expected = fnmatch(pattern, name, FNM_NOESCAPE) == 0;
        fits += expected;
        if (apapi_pattern_matches(pattern, name) != expected) {
            fail_msg("'%s' and '%s'", pattern, name);
        }
    }
    assert_in_range(fits, 1000, 299000);
}

/* fnmatch(3) would take years. */
TEST(many_stars_take_no_time)
{
    char pattern[512] = "", name[192];

    for (int i = 0; i < 100; i++) {
        strcat(pattern, "*a");
    }
    strcat(pattern, "b");
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_false(apapi_pattern_matches(pattern, name));
}
