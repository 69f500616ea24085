/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/hostlist.h"
#include "unit/unit.h"

static int join(void *context, const char *name)
{
    char *text = context;

    strcat(strcat(text, *text ? " " : ""), name);
    return 0;
}

TEST(lists_are_expanded)
{
    static const struct {
        const char *list, *names;
        int count;
    } cases[] = {
        {"", "", 0},
        {"n1", "n1", 1},
        {"n[1-3]", "n1 n2 n3", 3},
        {"n[1-3,7]", "n1 n2 n3 n7", 4},
        {"n[008-011]", "n008 n009 n010 n011", 4},
        {"n[9-11]", "n9 n10 n11", 3},
        {"login,n[1-2]-ib,gpu07", "login n1-ib n2-ib gpu07", 4},
        {"r[1-2]n[1-2]", "r1n1 r1n2 r2n1 r2n2", 4},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[256] = "";

        assert_int_equal(hostlist_each(cases[i].list, join, text), cases[i].count);
        assert_string_equal(text, cases[i].names);
    }
}

static int count_one(void *context, const char *name)
{
    (void)name;
    ++*(size_t *)context;
    return 0;
}

TEST(what_is_no_list_is_refused)
{
    char lists[] = ",|n1,,n2|n[|n[]|n[1|n[1-]|n[-1]|n[2-1]|n[a]|n[1,]|n[1-2-3]|n[1-99999999]|"
                   "n[1 -2]|n[+1-2]|n[1-2|n[[1-2]]|n[1-65537]|n[0-9][0-9][0-9][0-9][0-9]|"
                   "n[1234567890]";
    char *rest = lists, *list;
    char name[600];

    while ((list = strsep(&rest, "|"))) {
        size_t count = 0;

        assert_fails(EINVAL, (int)hostlist_each(list, count_one, &count));
        assert_true(count <= HOSTLIST_MAX);
    }
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_int_equal(hostlist_each(name, count_one, &(size_t){0}), -1);
    memcpy(name + 250, "[100000-100001]", 16);
    assert_int_equal(hostlist_each(name, count_one, &(size_t){0}), -1);
}

static char *compressed(const char *list, size_t columns)
{
    char *copy = strdup(list), *text = NULL, *rest = NULL;
    const char *names[64];
    size_t count = 0, size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_non_null(copy);
    for (char *name = strtok_r(copy, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
        names[count++] = name;
    }
    hostlist_put(out, names, count, columns);
    assert_int_equal(fclose(out), 0);
    free(copy);
    return text;
}

TEST(names_are_compressed)
{
    static const struct {
        const char *names, *list;
    } cases[] = {
        {"", ""},
        {"n1", "n1"},
        {"n2 n1", "n[1-2]"},
        {"n008 n009 n010", "n[008-010]"},
        {"n9 n09 n10", "n[09,9-10]"},
        {"n099 n100 n101", "n[099-101]"},
        {"a b a1", "a,a1,b"},
        {"n2 x1 n1 x2", "n[1-2],x[1-2]"},
        {"n1-ib n2-ib", "n1-ib,n2-ib"},
        {"r1n1 r1n2 r2n1", "r1n[1-2],r2n1"},
        {"x1234567890 x1234567891", "x1234567890,x1234567891"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        FREED char *text = compressed(cases[i].names, 100);

        assert_string_equal(text, cases[i].list);
    }
}

TEST(a_long_list_is_cut)
{
    FREED char *text = compressed("n1 n3 n5 n7 n9 n11 n13 a b c", 8);

    assert_string_equal(text, "a,b,c,n[1] and 6 more");
    free(text);
    text = compressed("n1 n3 n5 n7 n9 n11 n13", 8);
    assert_string_equal(text, "n[1,3,5,7] and 3 more");
}
