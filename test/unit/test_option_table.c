/* SPDX-License-Identifier: BSD-3-Clause */
/* One table: the options of a command line, and the text of --help. */
#include <getopt.h>

#include "base/option_table.h"
#include "unit/unit.h"

struct inner {
    const char *user;
    bool strict;
};

enum form { FORM_TABLE, FORM_JSON, FORM_CSV };

struct options {
    const char *file, *since;
    struct inner inner;
    enum form form;
    int number;
    enum form choice, pick;
    size_t count;
};

static int set_number(void *target, const char *text, struct apapi_error *err)
{
    struct options *options = target;

    options->number = text ? atoi(text) : -1;
    return options->number ? 0 : apapi_fail(err, EINVAL, "--number=%s: not a number", text);
}

static const struct option_row inner_rows[] = {
    {'u', "user", "=USER", "  ", TO_TEXT(struct inner, user)},
    {0, "strict", NULL, "", TO_FLAG(struct inner, strict)},
    {0}};

static const struct option_row rows[] = {
    {'f', "file", " FILE", "what to read;\nor more", TO_TEXT(struct options, file)},
    {OPTION_ROWS_OF(struct options, inner, inner_rows)},
    {0, "json", NULL, ", ", TO_VALUE(struct options, form, FORM_JSON)},
    {'c', "csv", NULL, "for programs", TO_VALUE(struct options, form, FORM_CSV)},
    {0, "starttime", "=T", "from then on", TO_TEXT(struct options, since)},
    {0, "since", "=T", NULL, TO_TEXT(struct options, since)}, /* old name */
    {'n', "number", "[=N]", "a number", TO_CALL(set_number)},
    {0, "choice", "=FORM", NULL, TO_CHOICE(struct options, choice, "table, json or csv")},
    {0, "pick", "=FORM", NULL, TO_CHOICE(struct options, pick, "table, json and csv")},
    {0, "top", "=N", NULL, TO_COUNT(struct options, count)},
    {0}};

static const struct option_table table = {
    .program = "tool sub", .head = "usage\n", .foot = "end\n", .column = 20, .rows = rows};

#define WORDS_MAX 8

static int read_words(struct options *options, const char *const *words)
{
    static char copies[WORDS_MAX][32];
    char *argv[WORDS_MAX + 1] = {NULL};
    int count = 0;

    for (; words[count] && count < WORDS_MAX; count++) {
        snprintf(copies[count], sizeof copies[count], "%s", words[count]);
        argv[count] = copies[count];
    }
    *options = (struct options){0};
    optind = 0;
    return option_table_read(&table, count, argv, options);
}

#define READ(options, ...) read_words(options, (const char *const[]){"sub", __VA_ARGS__, NULL})

TEST(numbers_and_choices)
{
    struct options options;

    assert_int_equal(READ(&options, "--choice=csv", "--pick=json", "--top=17"), -1);
    assert_int_equal(options.choice, FORM_CSV);
    assert_int_equal(options.pick, FORM_JSON);
    assert_int_equal(options.count, 17);
    for (const char **word =
             (const char *[]){"--choice=or", "--pick=and", "--choice=js", "--choice=jsons",
                              "--choice=", "--top=0", "--top=-1", "--top=2x", "--top=", NULL};
         *word; word++) {
        assert_int_equal(READ(&options, *word), USAGE_ERROR);
    }
}

/* Two names of the same are not ambiguous where they begin alike; two of different things are. */
TEST(beginnings)
{
    struct options options;

    assert_int_equal(READ(&options, "--since=1"), -1);
    assert_string_equal(options.since, "1");
    assert_int_equal(READ(&options, "--sta=2"), -1);
    assert_string_equal(options.since, "2");
    assert_int_equal(READ(&options, "--st=3"), USAGE_ERROR); /* --strict, --starttime */
}

TEST(refused)
{
    struct options options;

    assert_int_equal(READ(&options, "--fiel=a"), USAGE_ERROR);
    assert_int_equal(READ(&options, "-x"), USAGE_ERROR);
    assert_int_equal(READ(&options, "-f"), USAGE_ERROR);
    assert_int_equal(READ(&options, "--json=1"), USAGE_ERROR);
    assert_int_equal(READ(&options, "--number=x"), USAGE_ERROR);
}
