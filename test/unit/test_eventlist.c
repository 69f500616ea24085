/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/selection.h"
#include "unit/problem_log.h"
#include "unit/unit.h"

static struct problem_log reported;

static struct apapi_eventlist *parse(const char *text)
{
    struct apapi_problem_sink sink = {log_problem, &reported};

    memset(&reported, 0, sizeof reported);
    return apapi_eventlist_parse("list", text, strlen(text), &sink, NULL);
}

/* Entries that name the component, joined by blanks. */
static const char *grouped(const struct apapi_eventlist *list, const char *component)
{
    static char names[8192];

    names[0] = '\0';
    for (size_t i = 0; i < apapi_eventlist_count(list); i++) {
        const struct apapi_listed *listed = apapi_eventlist_at(list, i);

        if (apapi_listed_names(listed, component)) {
            strcat(names, *names ? " " : "");
            strcat(names, listed->name);
        }
    }
    return names;
}

TEST(names_comments_and_blanks)
{
    struct apapi_eventlist *list = parse("# rapl\r\n"
                                         "\r\n"
                                         "rapl:::B \r\n"
                                         "\trapl:::A\r\n"
                                         "  # indented\n"
                                         "rapl:::B\n"
                                         "nvml:::x");

    assert_int_equal(apapi_eventlist_count(list), 4);
    assert_string_equal(grouped(list, "rapl"), "rapl:::B rapl:::A rapl:::B");
    assert_string_equal(grouped(list, "nvml"), "nvml:::x");
    assert_int_equal(apapi_eventlist_at(list, 3)->line, 7);
    assert_null(apapi_eventlist_at(list, 4));
    apapi_eventlist_destroy(list);
}

TEST(whose_an_entry_is)
{
    static const struct {
        const char *name, *component;
        bool names;
    } entries[] = {
        {"rapl:::X", "rapl", true},
        {"rapl::X", "rapl", true},
        {"rapl*", "rapl", true},
        {"rapl", "rapl", true},
        {"rapl[x]", "rapl", true},
        {"rapl_gpu:::X", "rapl", false},
        {"rapl_gpu:::X", "rapl_gpu", true},
        {"rap", "rapl", false},
        {"*:power", "nvml", false},
        {"RAPL:::X", "rapl", false},
        {"powercap_ppc:::X", "powercap", false},
        {"rapl:::X", "", false},
        {":::X", "", false},
    };

    for (size_t i = 0; i < COUNT_OF(entries); i++) {
        struct apapi_listed listed = {.name = entries[i].name};

        if (apapi_listed_names(&listed, entries[i].component) != entries[i].names) {
            fail_msg("'%s' and '%s'", entries[i].name, entries[i].component);
        }
    }
}

TEST(bad_lines_are_reported)
{
    static char longest[APAPI_EVENTS_LINE_MAX + 2];
    struct apapi_error err;
    struct apapi_problem_sink sink = {log_problem, &reported};
    const char *text = "rapl:::A\tsome energy\n"
                       "ok:::x\n"
                       "nvml:::x,APAPI_OP1_NOP,APAPI_STAT_ALL,APAPI_STAT_NO,0,a,b,1,c,d,1\n"
                       "\x7f"
                       "ELF\x02\x01\n";

    memset(&reported, 0, sizeof reported);
    assert_null(apapi_eventlist_parse("list", text, strlen(text), &sink, &err));
    assert_int_equal(errno, EINVAL);
    assert_string_equal(err.text, "list: 3 lines are bad, the first is line 1");
    assert_non_null(
        strstr(reported.text, "list:1:9: expected the name of an event, found byte 0x09"));
    assert_non_null(
        strstr(reported.text, "list:3:1: expected the name of an event, found a definition"));
    assert_non_null(strstr(reported.text,
                           "list:4:1: expected the name of an event, found byte 0x7f in "
                           "'?ELF"));
    memset(longest, 'x', sizeof longest - 1);
    assert_null(parse(longest));
    assert_non_null(strstr(reported.text, "found 4096 bytes"));
    longest[APAPI_EVENTS_LINE_MAX] = '\0';
    apapi_eventlist_destroy(parse(longest));
    assert_int_equal(reported.errors, 0);
}

TEST(environment)
{
    static const struct {
        const char *text;
        long number;
    } numbers[] = {
        {"1", 1}, {"0", 0},  {"-1", -1}, {"0x10", 16}, {"010", 8}, {"", 0},
        {"x", 0}, {"1x", 0}, {"1 ", 0},  {" 1", 1},    {"yes", 0}, {"9999999999999999999999", 0},
    };
    struct apapi_environment environment;

    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        setenv("APAPI_VERBOSE", numbers[i].text, 1);
        setenv("APAPI_SOFTFAIL", numbers[i].text, 1);
        apapi_environment_read(&environment);
        assert_int_equal(environment.verbose, numbers[i].number);
        assert_int_equal(environment.softfail, numbers[i].number != 0);
    }
    setenv("APAPI_EVENTLIST", "", 1);
    setenv("APAPI_EVENTOPS", "/a b", 1);
    setenv("APAPI_CMPLIST", "", 1);
    apapi_environment_read(&environment);
    assert_null(environment.eventlist);
    assert_string_equal(environment.eventops, "/a b");
    assert_string_equal(environment.components, "");
    unsetenv("APAPI_EVENTOPS");
    unsetenv("APAPI_CMPLIST");
    unsetenv("APAPI_VERBOSE");
    apapi_environment_read(&environment);
    assert_null(environment.eventops);
    assert_null(environment.components);
    assert_int_equal(environment.verbose, 0);
}
