/* SPDX-License-Identifier: BSD-3-Clause */
#include "choice.h"

#include "unit/unit.h"

static struct overflow overflow;
static struct apapi_error err;

TEST(texts_of_a_command_line_follow_each_other)
{
    overflow = (struct overflow){.lines = "from a variable"};
    assert_int_equal(overflow_add(&overflow, "a > 1 : log", &err), 0);
    assert_string_equal(overflow.lines, "a > 1 : log");
    assert_int_equal(overflow_add(&overflow, "b > 2", &err), 0);
    assert_string_equal(overflow.lines, "a > 1 : log\nb > 2");
    assert_fails(EINVAL, overflow_add(&overflow, "c > 3\nd > 4", &err));
    assert_string_equal(overflow.lines, "a > 1 : log\nb > 2");
}

/* Slurm tells the last text only; the variable has all, if it is of the same option. */
TEST(what_a_job_was_given_is_inherited)
{
    overflow = (struct overflow){.asked = false};
    assert_int_equal(overflow_inherit(&overflow, "b > 2", "a > 1\nb > 2", &err), 0);
    assert_string_equal(overflow.lines, "a > 1\nb > 2");
    assert_int_equal(overflow_inherit(&overflow, "b > 2", "b > 2", &err), 0);
    assert_string_equal(overflow.lines, "b > 2");
    assert_int_equal(overflow_inherit(&overflow, "b > 2", "b > 2\na > 1", &err), 0);
    assert_string_equal(overflow.lines, "b > 2");
    assert_int_equal(overflow_inherit(&overflow, "b > 2", NULL, &err), 0);
    assert_string_equal(overflow.lines, "b > 2");
    assert_int_equal(overflow_add(&overflow, "c > 3", &err), 0);
    assert_string_equal(overflow.lines, "c > 3");
}

TEST(too_much_is_refused)
{
    static char text[1000];

    overflow = (struct overflow){.asked = false};
    memset(text, 'x', sizeof text - 1);
    for (int i = 0; i < 32; i++) {
        assert_int_equal(overflow_add(&overflow, text, &err), 0);
    }
    assert_fails(E2BIG, overflow_add(&overflow, text, &err));
    assert_int_equal(strlen(overflow.lines), 32 * 1000 - 1);
}

TEST(limits_of_a_step_or_a_job_are_found)
{
    assert_true(overflow_has_scope("total > 1W\n  step\ttotal >= 5kJ : term", "step"));
    assert_true(overflow_has_scope("job total every 1kJ\nstep total >= 1J", "job"));
    assert_false(overflow_has_scope("total >= 5J : exec=step total\nnode > 600W", "step"));
    assert_false(overflow_has_scope("step >= 5kJ\nstep every 1J\nsteps total >= 1J\nstep", "step"));
    assert_false(overflow_has_scope(NULL, "step"));
    assert_false(overflow_has_scope("", "job"));
}
