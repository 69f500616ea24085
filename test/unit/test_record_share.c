/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/members.h"
#include "record/record.h"
#include "unit/record_fixture.h"

static struct apapi_share shared(void)
{
    struct apapi_share share = apapi_share_unknown();

    strcpy(share.method, "cpu-time");
    strcpy(share.idle, "cores");
    share.interval_ns = 1000000000;
    share.domains[APAPI_DOMAIN_PACKAGE] = (struct apapi_share_energy){120.5, 1.5, 20, 80};
    share.domains[APAPI_DOMAIN_DRAM] = (struct apapi_share_energy){10, 0.5, 0, NAN};
    share.domains[APAPI_DOMAIN_NODE] = (struct apapi_share_energy){200, 9, NAN, NAN};
    return share;
}

static struct apapi_record record_with_share(void)
{
    struct apapi_record record = usual_record();

    record.share = shared();
    return record;
}

TEST(a_share_comes_back)
{
    struct apapi_record record = record_with_share(), back;
    char *line = encode(&record), *again;

    assert_non_null(
        strstr(line, "\"share\":{\"method\":\"cpu-time\",\"idle\":\"cores\",\"interval_s\":1.0,"
                     "\"domains\":{\"package\":{\"energy_j\":120.5,\"uncertainty_j\":1.5,"
                     "\"idle_j\":20.0,\"idle_w\":80.0},"
                     "\"dram\":{\"energy_j\":10.0,\"uncertainty_j\":0.5,\"idle_j\":0.0},"
                     "\"node\":{\"energy_j\":200.0,\"uncertainty_j\":9.0}},"
                     "\"total\":{\"energy_j\":130.5,\"uncertainty_j\":2.0}}"));
    back = decode(line);
    again = encode(&back);
    assert_string_equal(line, again);
    assert_true(apapi_share_known(&back.share));
    assert_true(back.share.domains[APAPI_DOMAIN_PACKAGE].idle_w == 80);
    assert_true(isnan(back.share.domains[APAPI_DOMAIN_DRAM].idle_w));
    assert_true(isnan(back.share.domains[APAPI_DOMAIN_GPU].energy_j));
    assert_true(apapi_share_energy_j(&back.share) == 130.5);
    assert_true(apapi_share_uncertainty_j(&back.share) == 2);
    free(line);
    free(again);
    apapi_record_clear(&back);
    apapi_record_clear(&record);
}

TEST(a_share_that_is_not_known_says_why)
{
    struct apapi_record record = usual_record(), back;
    char *line;

    record.share = apapi_share_unknown();
    strcpy(record.share.reason, "no node sampler");
    line = encode(&record);
    assert_non_null(strstr(line, "\"share\":{\"reason\":\"no node sampler\"}"));
    back = decode(line);
    assert_false(apapi_share_known(&back.share));
    assert_string_equal(back.share.reason, "no node sampler");
    assert_true(isnan(apapi_share_uncertainty_j(&back.share)));
    free(line);
    apapi_record_clear(&back);
    apapi_record_clear(&record);
}

TEST(wrong_shares_are_refused)
{
    static const struct {
        const char *share, *message;
    } cases[] = {
        {"3", "record: share: not an object"},
        {"{}", "record: share.method: is missing, without a reason"},
        {"{\"method\":1}", "record: share.method: not a text"},
        {"{\"method\":\"cpu-time\"}", "record: share.domains: is missing"},
        {"{\"method\":\"cpu-time\",\"domains\":[]}", "record: share.domains: not an object"},
        {"{\"method\":\"cpu-time\",\"domains\":{\"gpu\":{}}}",
         "record: share.domains.gpu.energy_j: is missing"},
        {"{\"method\":\"cpu-time\",\"domains\":{\"gpu\":{\"energy_j\":-1}}}",
         "record: share.domains.gpu.energy_j: below 0"},
        {"{\"method\":\"cpu-time\",\"interval_s\":-1,\"domains\":{}}",
         "record: share.interval_s: below 0"}};
    struct apapi_record record = usual_record(), back;
    char *line = encode(&record);

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct apapi_error err = {""};
        char *bad = NULL;

        assert_true(
            asprintf(&bad, "%.*s,\"share\":%s}", (int)strlen(line) - 1, line, cases[i].share) > 0);
        assert_int_equal(apapi_record_decode(bad, strlen(bad), &back, &err), -1);
        assert_int_equal(errno, EINVAL);
        assert_string_equal(err.text, cases[i].message);
        free(bad);
    }
    free(line);
    apapi_record_clear(&record);
}
