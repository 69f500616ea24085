/* SPDX-License-Identifier: BSD-3-Clause */
#include "choice.h"

#include "unit/unit.h"

static struct config config;
static struct spank_apapi_choice choice;

static void reset(void)
{
    config_defaults(&config);
    memset(&choice, 0, sizeof choice);
    choice.config = &config;
}

static void ask(enum spank_apapi_option option, const char *text)
{
    assert_int_equal(choice_note(&choice, option, text, NULL), 0);
}

static void prefer(enum spank_apapi_option option, const char *text)
{
    char argument[2000];

    snprintf(argument, sizeof argument, "%s=%s", choice_variable(option), text);
    ask(option, argument);
}

#define PREPARED(name) TEST_WITH(name, reset, NULL)

PREPARED(order_of_components_and_shares)
{
    ask(SPANK_APAPI_COMPONENTS, NULL);
    assert_string_equal(choice_components(&choice, NULL), "");
    config.components = "rapl";
    assert_string_equal(choice_components(&choice, ""), "rapl");
    assert_string_equal(choice_components(&choice, "nvml"), "nvml");
    ask(SPANK_APAPI_COMPONENTS, "ipmi");
    assert_string_equal(choice_components(&choice, "nvml"), "ipmi");
    ask(SPANK_APAPI_COMPONENTS, "off");
    assert_null(choice_components(&choice, "nvml"));
    assert_null(choice_share(&choice));
    ask(SPANK_APAPI_SHARE, NULL);
    assert_string_equal(choice_share(&choice), "on");
    prefer(SPANK_APAPI_SHARE, "off");
    assert_string_equal(choice_share(&choice), "off");
}

PREPARED(every_option_asks_and_its_variable_does_not)
{
    for (int i = SPANK_APAPI_COMPONENTS; i < SPANK_APAPI_OPTIONS; i++) {
        bool components = i == SPANK_APAPI_COMPONENTS;

        reset();
        prefer((enum spank_apapi_option)i, "json");
        assert_int_equal(choice_asked(&choice), components);
        ask((enum spank_apapi_option)i, "json");
        assert_true(choice_asked(&choice));
        choice_forget(&choice);
        assert_false(choice_asked(&choice));
    }
}

PREPARED(where_nothing_is_enabled_nothing_that_is_asked_for_counts)
{
    config.components = "rapl";
    config.enabled = "no";
    ask(SPANK_APAPI_COMPONENTS, "nvml");
    ask(SPANK_APAPI_TRACE, "t");
    assert_false(choice_asked(&choice));
    assert_null(choice_components(&choice, "rapl"));
    config.enabled = "no:gpu:yes"; /* only the node knows the partition */
    assert_true(choice_asked(&choice));
    assert_string_equal(choice_components(&choice, NULL), "nvml");
    assert_false(policy_extern(&config));
}

PREPARED(format_and_output)
{
    config.components = "rapl";
    config.format = CONFIG_CSV;
    config.output = "site-%j";
    assert_int_equal(choice_format(&choice), CONFIG_CSV);
    assert_string_equal(choice_output(&choice), "site-%j");
    prefer(SPANK_APAPI_FORMAT, "json");
    assert_int_equal(choice_format(&choice), CONFIG_JSON);
    ask(SPANK_APAPI_OUTPUT, "mine");
    assert_string_equal(choice_output(&choice), "mine");
    ask(SPANK_APAPI_OUTPUT, "stderr");
    assert_null(choice_output(&choice));
    ask(SPANK_APAPI_OUTPUT, "none");
    assert_int_equal(choice_format(&choice), CONFIG_NONE);
    prefer(SPANK_APAPI_OUTPUT, "none");
    assert_int_equal(choice_format(&choice), CONFIG_NONE);
    ask(SPANK_APAPI_OUTPUT, "mine");
    ask(SPANK_APAPI_FORMAT, "none");
    assert_int_equal(choice_format(&choice), CONFIG_NONE);
}

PREPARED(components_of_intervals)
{
    char named[32];

    assert_int_equal(choice_interval_components("50ms", named, sizeof named), 0);
    assert_int_equal(choice_interval_components("1s:rapl:50ms:foo:2s", named, sizeof named), 2);
    assert_string_equal(named, "rapl:foo");
}

static void check(enum spank_apapi_option option, const char *text, bool bounded, int code,
                  const char *hint)
{
    ask(option, text);
    if (code == 0) {
        assert_int_equal(choice_check(&choice, option, bounded, &why), 0);
        return;
    }
    assert_fails_with(code, hint, choice_check(&choice, option, bounded, &why));
}

PREPARED(checks)
{
    check(SPANK_APAPI_COMPONENTS, "rapl:nvml", true, 0, NULL);
    check(SPANK_APAPI_COMPONENTS, "rapl:all", true, EINVAL, "'all' must be alone");
    check(SPANK_APAPI_COMPONENTS, "rapl:off", true, EINVAL, "off");
    check(SPANK_APAPI_COMPONENTS, "x=1:y-2:x=1:offline", true, 0, NULL);
    check(SPANK_APAPI_COMPONENTS, "", true, EINVAL, "empty");
    check(SPANK_APAPI_COMPONENTS, ":", true, EINVAL, "a name is missing");
    check(SPANK_APAPI_COMPONENTS, "a::b", true, EINVAL, "'a::b'");
    check(SPANK_APAPI_COMPONENTS, "rapl:\033[2J", true, EINVAL, "character");
    check(SPANK_APAPI_FORMAT, "json", true, 0, NULL);
    check(SPANK_APAPI_FORMAT, "JSON", true, EINVAL, "table, json, csv, merged, none");
    check(SPANK_APAPI_OUTPUT, "e-%z", true, EINVAL, "'%z'");
    check(SPANK_APAPI_TRACE, "", true, EINVAL, "empty");
    check(SPANK_APAPI_OUTPUT, "no-%j", true, 0, NULL);
    check(SPANK_APAPI_TRACE, "no-%J", true, 0, NULL);
    check(SPANK_APAPI_TRACE, "no-%j", true, EINVAL, "report and trace are the same file: no-%j");
    check(SPANK_APAPI_INTERVAL, "soon", true, EINVAL, "soon");
    check(SPANK_APAPI_SHARE, "off", true, 0, NULL);
    check(SPANK_APAPI_SHARE, "half", true, EINVAL, "'half' is neither on nor off");
    check(SPANK_APAPI_REPORT, "jobs", true, EINVAL, "'jobs' is none of all, job, steps and none");
}

PREPARED(a_script_has_one_table_if_nobody_says_more)
{
    ask(SPANK_APAPI_COMPONENTS, "rapl");
    assert_true(choice_reports_steps(&choice));
    assert_true(choice_prefers_job(&choice));
    assert_true(choice_reports_job(&choice) && !choice_reports_steps(&choice));
    assert_false(choice_prefers_job(&choice)); /* the job's report was chosen, not only preferred */
    choice_forget(&choice);
    ask(SPANK_APAPI_REPORT, "all");
    assert_false(choice_prefers_job(&choice));
    choice_forget(&choice);
    ask(SPANK_APAPI_FORMAT, "csv"); /* a job has no report of this form */
    assert_false(choice_prefers_job(&choice));
}

/* --- thresholds ------------------------------------------------------------------------------- */

static struct overflow overflow;

/* Slurm tells the last text only; the variable has all, if it is of the same option. */
TEST(what_a_job_was_given_is_inherited)
{
    overflow = (struct overflow){.asked = false};
    assert_int_equal(overflow_inherit(&overflow, "b > 2", "a > 1\nb > 2", &why), 0);
    assert_string_equal(overflow.lines, "a > 1\nb > 2");
    assert_int_equal(overflow_inherit(&overflow, "b > 2", "b > 2", &why), 0);
    assert_string_equal(overflow.lines, "b > 2");
    assert_int_equal(overflow_inherit(&overflow, "b > 2", "b > 2\na > 1", &why), 0);
    assert_string_equal(overflow.lines, "b > 2");
    assert_int_equal(overflow_inherit(&overflow, "b > 2", NULL, &why), 0);
    assert_string_equal(overflow.lines, "b > 2");
    assert_int_equal(overflow_add(&overflow, "c > 3", &why), 0);
    assert_string_equal(overflow.lines, "c > 3");
}

TEST(too_much_is_refused)
{
    static char text[1000];

    overflow = (struct overflow){.asked = false};
    memset(text, 'x', sizeof text - 1);
    for (int i = 0; i < 32; i++) {
        assert_int_equal(overflow_add(&overflow, text, &why), 0);
    }
    assert_fails(E2BIG, overflow_add(&overflow, text, &why));
    assert_fails(EINVAL, overflow_add(&overflow, "a > 1\nb > 2", &why));
    assert_fails(EINVAL, overflow_add(&overflow, " \t", &why));
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
