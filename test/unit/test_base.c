/* SPDX-License-Identifier: BSD-3-Clause */
/* What every folder uses to read words and numbers. */
#include <limits.h>

#include "base/text.h"
#include "unit/unit.h"

TEST(a_positive_number_is_digits_alone)
{
    static const struct {
        const char *text;
        unsigned long most, number;
    } cases[] = {{"1", 1, 1},
                 {"17", 17, 17},
                 {"18", 17, 0},
                 {"017", 17, 17},
                 {"4294967295", UINT32_MAX, UINT32_MAX},
                 {"4294967296", UINT32_MAX, 0},
                 {"18446744073709551615", ULONG_MAX - 1, 0},
                 {"18446744073709551617", ULONG_MAX - 1, 0},
                 {"0", 17, 0},
                 {"", 17, 0},
                 {"-1", 17, 0},
                 {"+1", 17, 0},
                 {" 1", 17, 0},
                 {"1 ", 17, 0},
                 {"1.0", 17, 0},
                 {"0x1", 17, 0}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        unsigned long number = positive_number(cases[i].text, cases[i].most);

        if (number != cases[i].number) {
            fail_msg("'%s' is taken for %lu", cases[i].text, number);
        }
    }
}

TEST(a_word_is_a_whole_name)
{
    static const struct {
        const char *word;
        size_t length;
        const char *name;
        bool is;
    } cases[] = {
        {"rapl:nvml", 4, "rapl", true}, {"rapl", 4, "rapl", true},      {"", 0, "", true},
        {"rap", 3, "rapl", false},      {"rapl_gpu", 8, "rapl", false}, {"Rapl", 4, "rapl", false},
        {"", 0, "rapl", false},         {"rapl", 4, "", false}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        if (word_is(cases[i].word, cases[i].length, cases[i].name) != cases[i].is) {
            fail_msg("'%s' and '%s'", cases[i].word, cases[i].name);
        }
    }
}
