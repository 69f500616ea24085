/* SPDX-License-Identifier: BSD-3-Clause */
#include <jansson.h>

#include "unit.h"

#include "base/array.h"
#include "sync/jobs.h"

#define OWN "\"apapi\":{\"v\":1,\"energy_j\":7}"
#define OLD "\"apapi\":{\"v\":1,\"energy_j\":1234.5,\"nodes\":2}"

TEST(what_is_known_is_said)
{
    struct apapi_job_total total = {.nodes = 2,
                                    .energy_j = 1440.1234567,
                                    .uncertainty_j = 2.51234,
                                    .mean_w = 480.05123,
                                    .covered_ns = 98765 * UINT64_C(1000000),
                                    .node_s = 100,
                                    .elapsed_ns = 50 * UINT64_C(1000000000),
                                    .runs = 1};
    char own[COMMENT_OWN_SIZE];

    comment_own(own, &total);
    assert_string_equal(own,
                        "\"apapi\":{\"v\":1,\"energy_j\":1440.12346,\"uncertainty_j\":2.51,"
                        "\"mean_w\":480.051,\"nodes\":2,\"measured_pct\":98.77,\"elapsed_s\":50}");
    total.missing_domains = 1U << APAPI_DOMAIN_PACKAGE | 1U << APAPI_DOMAIN_DRAM;
    comment_own(own, &total);
    assert_contains(own, ",\"uncertainty_j\":2.51,\"missing_domains\":\"package,dram\",");
    total.missing_domains = 0;
    total.incomplete = 3;
    total.runs = 2;
    total.node_s = 0;
    total.energy_j = total.uncertainty_j = total.mean_w = NAN;
    comment_own(own, &total);
    assert_string_equal(
        own, "\"apapi\":{\"v\":1,\"nodes\":2,\"elapsed_s\":50,\"runs\":2,\"incomplete\":3}");
}

TEST(it_is_short_whatever_the_numbers_are)
{
    const struct apapi_job_total total = {.nodes = SIZE_MAX,
                                          .incomplete = SIZE_MAX,
                                          .energy_j = -1.23456789e-300,
                                          .uncertainty_j = -1.23456789e-300,
                                          .missing_domains = UINT32_MAX,
                                          .covered_ns = 123456,
                                          .node_s = 1,
                                          .elapsed_ns = UINT64_MAX,
                                          .runs = SIZE_MAX,
                                          .mean_w = 1e300};
    char own[COMMENT_OWN_SIZE], text[COMMENT_OWN_SIZE + 2];
    json_t *root;

    comment_own(own, &total);
    assert_true(strlen(own) < 280);
    snprintf(text, sizeof text, "{%s}", own);
    root = json_loads(text, 0, NULL);
    assert_non_null(root);
    json_decref(root);
}

TEST(what_others_wrote_stays)
{
    static const struct {
        const char *there, *put;
    } cases[] = {
        {NULL, "{" OWN "}"},
        {"", "{" OWN "}"},
        {"{}", "{" OWN "}"},
        {"{ }", "{ " OWN "}"},
        {"{" OLD "}", "{" OWN "}"},
        {"{\"a\":0.10,\"b\":[1, 2]}", "{\"a\":0.10,\"b\":[1, 2]," OWN "}"},
        {"{\"a\":1}\n", "{\"a\":1," OWN "}\n"},
        {"{\"a\":0.1," OLD ", \"b\":\"x\"}", "{\"a\":0.1," OWN ", \"b\":\"x\"}"},
        {"{\"a\":\""
         "\\\"apapi\\\":{}"
         "\"," OLD "}",
         "{\"a\":\""
         "\\\"apapi\\\":{}"
         "\"," OWN "}"},
        /* a member of a member is not ours */
        {"{\"x\":{" OLD "}}", "{\"x\":{" OLD "}," OWN "}"},
        {"{\"x\":{" OLD "}," OLD "}", "{\"x\":{" OLD "}," OWN "}"},
        /* our key, written by another program */
        {"{\"apapi\" : {\"v\" : 1, \"x\" : {}}, \"a\" : 2}", "{" OWN ", \"a\" : 2}"},
        {"{\"a\\\\\": [\"}\", {\"apapi\": 1}] , \"apapi\" :7 }",
         "{\"a\\\\\": [\"}\", {\"apapi\": 1}] , " OWN " }"},
        {"{\"apapi\":7}", "{" OWN "}"},
        {"{\"apapi\":{\"s\":\"}\"}}", "{" OWN "}"},
        /* texts */
        {"see ticket 17", "see ticket 17 {" OWN "}"},
        {"see ticket 17 {" OLD "}", "see ticket 17 {" OWN "}"},
        {"see ticket 17{" OLD "}", "see ticket 17{" OWN "}"},
        {"{" OLD "} see ticket 17", "{" OLD "} see ticket 17 {" OWN "}"},
        {"a {" OLD "} b {" OLD "}", "a {" OLD "} b {" OWN "}"},
        {"a {" OLD ",\"more\":1}", "a {" OLD ",\"more\":1} {" OWN "}"},
        {"[1,2]", "[1,2] {" OWN "}"},
        {"\"text\"", "\"text\" {" OWN "}"},
        {"{\"a\":1,\"a\":2}", "{\"a\":1,\"a\":2} {" OWN "}"},
        {"{broken", "{broken {" OWN "}"},
        {"it's 5 % \\n \xff", "it's 5 % \\n \xff {" OWN "}"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        FREED char *put = NULL, *again = NULL;

        assert_int_equal(comment_put(cases[i].there, OWN, &put), 0);
        fail_if(strcmp(put, cases[i].put) != 0, "%s: %s, not %s", cases[i].there, put,
                cases[i].put);
        assert_int_equal(comment_put(put, OWN, &again), 0);
        assert_string_equal(again, put);
    }
}

TEST(there_must_be_room)
{
    size_t room = COMMENT_MAX - strlen(" {" OWN "}");
    char *there = malloc(room + 2), *put;

    memset(there, 'x', room + 1);
    there[room] = '\0';
    assert_int_equal(comment_put(there, OWN, &put), 0);
    assert_int_equal(strlen(put), COMMENT_MAX);
    free(put);
    there[room] = 'x';
    there[room + 1] = '\0';
    assert_fails(EMSGSIZE, comment_put(there, OWN, &put));
    free(there);
}
