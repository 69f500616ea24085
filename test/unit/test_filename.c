/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/filename.h"

#include <limits.h>

#include "unit/unit.h"

static const struct filename_values values = {.job = 4711,
                                              .step = "3",
                                              .array_job = 4700,
                                              .array_index = 11,
                                              .node = "n1.cluster.example",
                                              .node_index = 2,
                                              .task = 0,
                                              .user = "al/ice",
                                              .name = "../x"};

TEST(each_letter)
{
    static const struct {
        const char *pattern, *name;
    } cases[] = {
        {"%j", "4711"},
        {"%J", "4711.3"},
        {"%s", "3"},
        {"%A_%a", "4700_11"},
        {"%N", "n1"},
        {"%n", "2"},
        {"%t", "0"},
        {"%u", "al_ice"},
        {"%x", ".._x"}, /* no way out of the folder */
        {"100%%", "100%"},
        {"%6j", "004711"},
        {"%10j", "0000004711"},
        {"%4s", "0003"},
        {"%3a", "011"},
        {"%3N", "n1"}, /* a number means nothing to a text */
        {"/a/%j/%s.csv", "/a/4711/3.csv"},
    };
    struct filename_values batch = values;
    char name[PATH_MAX];

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(filename_expand(cases[i].pattern, &values, name, sizeof name, NULL), 0);
        assert_string_equal(name, cases[i].name);
    }
    batch.step = "batch"; /* a name is not filled up */
    assert_int_equal(filename_expand("%8s-%2J", &batch, name, sizeof name, NULL), 0);
    assert_string_equal(name, "batch-4711.batch");
}

TEST(bad_patterns)
{
    static const struct {
        const char *pattern, *hint;
    } cases[] = {
        {"", "empty"},           {"%", "'%'"},   {"a%q", "'%q'"},       {"%11j", "'%11j'"},
        {"%99999999999j", "%j"}, {"%5", "'%5'"}, {"a\nb", "character"}, {"a\033[2J", "character"}};
    char name[64] = "unchanged";

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_fails_with(EINVAL, cases[i].hint, filename_check(cases[i].pattern, &why));
        assert_null(strchr(why.text, '\n'));
        assert_int_equal(filename_expand(cases[i].pattern, &values, name, sizeof name, NULL), -1);
        assert_string_equal(name, "");
    }
}

TEST(lengths)
{
    static char pattern[PATH_MAX];
    char name[16];

    memset(pattern, 'x', sizeof pattern - 1);
    assert_fails(ENAMETOOLONG, filename_check(pattern, NULL));
    assert_fails(ENAMETOOLONG, filename_expand("%j%j%j%j", &values, name, sizeof name, NULL));
    assert_string_equal(name, "");
    assert_int_equal(filename_expand("%j%j%j123", &values, name, sizeof name, NULL), 0);
    assert_int_equal(strlen(name), sizeof name - 1);
}

TEST(has)
{
    assert_true(filename_has("a-%4N", "Nn"));
    assert_false(filename_has("a-%%N", "Nn"));
    assert_false(filename_has("N", "Nn"));
    assert_false(filename_has("100%", "%"));
}

TEST(absolute)
{
    char path[32];

    assert_int_equal(filename_absolute("/home/a", "x", path, sizeof path, NULL), 0);
    assert_string_equal(path, "/home/a/x");
    assert_int_equal(filename_absolute("", "/x", path, sizeof path, NULL), 0);
    assert_string_equal(path, "/x");
    assert_fails(ENOENT, filename_absolute("", "x", path, sizeof path, NULL));
    assert_fails(ENAMETOOLONG, filename_absolute("/home/a", "0123456789012345678901234", path,
                                                 sizeof path, NULL));
}

TEST(traces_do_not_meet)
{
    static const struct {
        const char *pattern;
        uint32_t nodes;
        bool batch;
        const char *unique;
    } cases[] = {{"t", 1, false, "t"},          {"t", 2, false, "t.%N"},
                 {"t%n", 2, false, "t%n"},      {"t", 0, true, "t.batch"},
                 {"t%N", 2, true, "t%N.batch"}, {"t%J", 0, true, "t%J"},
                 {"t-%s", 2, false, "t-%s.%N"}};
    char unique[32];

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(
            filename_trace(cases[i].pattern, cases[i].nodes, cases[i].batch, unique, sizeof unique),
            0);
        assert_string_equal(unique, cases[i].unique);
    }
    assert_int_equal(filename_trace("1234", 2, true, unique, 12), -1);
}
