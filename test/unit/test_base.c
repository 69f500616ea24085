/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of every folder: numbers, arrays that grow. */
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

        fail_if(number != cases[i].number, "'%s' is taken for %lu", cases[i].text, number);
    }
}

TEST(what_cannot_be_had_changes_nothing)
{
    static const size_t rooms[] = {SIZE_MAX / 2 + 1, SIZE_MAX};

    for (size_t i = 0; i < COUNT_OF(rooms); i++) {
        size_t room = rooms[i], *none = NULL;

        assert_fails(ENOMEM, array_add(&none, room, &room, 1));
        assert_null(none);
        assert_int_equal(room, rooms[i]);
    }
}
