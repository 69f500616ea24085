/* SPDX-License-Identifier: BSD-3-Clause */
#include "apapi/event.h"
#include "unit/unit.h"

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
