/* SPDX-License-Identifier: BSD-3-Clause */
/* Which nodes of a step have no record, and when that is not known. */
#include "sum/sum.h"

#include "unit/unit.h"

static struct namelist split(const char *text)
{
    struct namelist list = {0};
    char *copy = strdup(text), *rest = NULL;

    assert_non_null(copy);
    for (char *name = strtok_r(copy, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
        assert_int_equal(namelist_add(&list, name), 0);
    }
    free(copy);
    namelist_sort(&list);
    return list;
}

TEST(what_the_list_has_and_the_records_have_not)
{
    static const struct {
        const char *list;
        uint32_t nodes;
        const char *own, *lacking; /* NULL: not believed */
    } cases[] = {
        {"n[1-2]", 2, "n1", "n2"},
        {"n[1-2]", 2, "n1 n2", ""},
        {"n[1-2]", 2, "", "n1 n2"},
        {"n[1-3,10]", 4, "n2", "n1 n3 n10"},
        {"login,n[001-003]", 4, "n002 login", "n001 n003"},
        /* another number of nodes */
        {"n[1-2]", 3, "n1", NULL},
        {"n[1-3]", 2, "n1", NULL},
        {"n[1-65000]", 2, "n1", NULL},
        {"", 2, "n1", NULL},
        /* a node that is not among them, or is there twice */
        {"n[1-2]", 2, "n3", NULL},
        {"n1,n1,n3", 3, "n1 n2", NULL},
        {"n1,n2,n2", 3, "n1", NULL},
        /* no list */
        {"n[1-", 2, "n1", NULL},
        {"n[1-2] and 3 more", 5, "n1", NULL},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct namelist own = split(cases[i].own), lacking;
        struct namelist want = split(cases[i].lacking ? cases[i].lacking : "");

        print_message("# %s of %u\n", cases[i].list, cases[i].nodes);
        assert_int_equal(lacking_nodes(cases[i].list, cases[i].nodes, &own, &lacking),
                         cases[i].lacking != NULL);
        assert_int_equal(lacking.count, want.count);
        for (size_t k = 0; k < want.count; k++) {
            assert_string_equal(lacking.names[k], want.names[k]);
        }
        namelist_free(&lacking);
        namelist_free(&want);
        namelist_free(&own);
    }
}
