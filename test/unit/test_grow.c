/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/array.h"

#include "unit/unit.h"

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

        errno = 0;
        assert_int_equal(array_add(&none, room, &room, 1), -1);
        assert_int_equal(errno, ENOMEM);
        assert_null(none);
        assert_int_equal(room, rooms[i]);
    }
}
