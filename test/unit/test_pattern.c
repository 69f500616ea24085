/* SPDX-License-Identifier: BSD-3-Clause */
#include <fnmatch.h>

#include "base/text.h"
#include "unit/unit.h"

TEST(patterns)
{
    static const struct {
        const char *pattern, *name;
        bool fits;
    } pairs[] = {
        {"nvml:::*:power", "nvml:::Tesla_V100:device_0:power", true},
        {"nvml:::*:power", "nvml:::Tesla_V100:device_0:power_management_limit", false},
        {"rapl:::PACKAGE_ENERGY:PACKAGE*", "rapl:::PACKAGE_ENERGY:PACKAGE0", true},
        {"rapl:::PACKAGE_ENERGY:PACKAGE*", "rapl:::PACKAGE_ENERGY_CNT:PACKAGE0", false},
        {"rapl:::*_ENERGY:*", "rapl:::PACKAGE_ENERGY_CNT:PACKAGE0", false},
        {"*", "", true},
        {"*", "anything", true},
        {"", "", true},
        {"", "x", false},
        {"?", "", false},
        {"a?c", "abc", true},
        {"a?c", "ac", false},
        {"[ab]x", "bx", true},
        {"[!ab]x", "bx", false},
        {"[^ab]x", "cx", true},
        {"[0-9a-c]", "b", true},
        {"[0-9a-c]", "d", false},
        {"[]x]", "]", true},
        {"[!]]", "]", false},
        {"[a-]", "-", true},
        {"[a", "[a", true}, /* no set: the letter '[' */
        {"[a*", "[abc", true},
        {"x[1]", "x1", true},
        {"x[1]", "x[1]", true}, /* a name like any other */
        {"x*y", "x*y", true},
        {"**a**", "bab", true},
        {"*ab*ab", "abab", true},
        {"*ab*ab", "aba", false},
        {"[\x80-\xff]", "\xb0", true},
        {"\\*", "*", false},
    };

    for (size_t i = 0; i < COUNT_OF(pairs); i++) {
        if (apapi_pattern_matches(pairs[i].pattern, pairs[i].name) != pairs[i].fits) {
            fail_msg("'%s' and '%s'", pairs[i].pattern, pairs[i].name);
        }
    }
}

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
