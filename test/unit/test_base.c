/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of every folder: words, numbers, arrays that grow. */
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
        fail_if(word_is(cases[i].word, cases[i].length, cases[i].name) != cases[i].is,
                "'%s' and '%s'", cases[i].word, cases[i].name);
    }
}

TEST(an_array_grows_and_keeps_what_it_has)
{
    size_t *numbers = NULL, room = 0, moves = 0;

    for (size_t count = 0; count < 1000; count++) {
        size_t before = room;

        assert_int_equal(array_add(&numbers, count, &room, sizeof *numbers), 0);
        assert_true(room > count);
        numbers[count] = count;
        moves += room != before;
    }
    for (size_t i = 0; i < 1000; i++) {
        assert_int_equal(numbers[i], i);
    }
    assert_true(moves < 10);
    free(numbers);
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
