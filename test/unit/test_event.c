/* SPDX-License-Identifier: BSD-3-Clause */
#include "apapi/event.h"
#include "unit/unit.h"

TEST(domains_know_their_names)
{
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        const char *name = apapi_domain_name((enum apapi_domain)d);

        assert_int_equal(apapi_domain_find(name), d);
        assert_true(apapi_domain_max_w((enum apapi_domain)d) > 0);
    }
    assert_string_equal(apapi_domain_name(APAPI_DOMAIN_PACKAGE), "package");
    assert_string_equal(apapi_domain_name(APAPI_DOMAINS), "?");
    assert_int_equal(apapi_domain_find("nonsense"), APAPI_DOMAIN_NONE);
    assert_int_equal(apapi_domain_find(NULL), APAPI_DOMAIN_NONE);
}

TEST(only_parts_of_a_node_add_up)
{
    assert_true(apapi_domain_adds_up(APAPI_DOMAIN_PACKAGE));
    assert_true(apapi_domain_adds_up(APAPI_DOMAIN_DRAM));
    assert_true(apapi_domain_adds_up(APAPI_DOMAIN_GPU));
    assert_false(apapi_domain_adds_up(APAPI_DOMAIN_CORE));
    assert_false(apapi_domain_adds_up(APAPI_DOMAIN_UNCORE));
    assert_false(apapi_domain_adds_up(APAPI_DOMAIN_PSYS));
    assert_false(apapi_domain_adds_up(APAPI_DOMAIN_NODE));
    assert_false(apapi_domain_adds_up(APAPI_DOMAINS));
}

TEST(kinds_know_their_names)
{
    for (int k = 0; k < APAPI_KINDS; k++) {
        assert_string_not_equal(apapi_kind_name((enum apapi_kind)k), "?");
    }
    assert_string_equal(apapi_kind_name(APAPI_KIND_ENERGY), "energy");
    assert_string_equal(apapi_kind_name(APAPI_KINDS), "?");
}

TEST(fail_fills_in)
{
    struct apapi_error err;
    char longer[1000];

    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    assert_int_equal(apapi_fail(&err, EDOM, "%s %d", "text", 7), -1);
    assert_int_equal(errno, EDOM);
    assert_string_equal(err.text, "text 7");
    apapi_fail(&err, EDOM, "%s", longer);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_int_equal(apapi_fail(NULL, ERANGE, "nowhere"), -1);
    assert_int_equal(errno, ERANGE);
}
