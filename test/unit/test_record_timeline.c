/* SPDX-License-Identifier: BSD-3-Clause */
/* The curve of power in a record. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/record.h"
#include "measure/domain.h"
#include "unit/near.h"

#define MS UINT64_C(1000000)

/* A domain with one bin's worth of power after the other. */
static void draw(struct apapi_record *record, enum apapi_domain d, const double *power_w, size_t n)
{
    struct apapi_domain_result *domain = &record->measurement.domains[d];
    struct apapi_timeline_meter meter;

    domain->measured = true;
    domain->energy_j = 0;
    apapi_timeline_meter_init(&meter, 0, 10 * MS);
    for (size_t i = 0; i < n; i++) {
        if (!isnan(power_w[i])) {
            apapi_timeline_meter_add(&meter, i * 10 * MS, (i + 1) * 10 * MS, power_w[i] / 100);
            domain->energy_j += power_w[i] / 100;
        }
    }
    apapi_timeline_meter_finish(&meter, record->measurement.elapsed_ns, &domain->timeline);
}

static struct apapi_record empty_record(uint64_t elapsed_ns)
{
    struct apapi_record record = {.id = {.node = "n1"}, .complete = true};

    record.measurement.elapsed_ns = elapsed_ns;
    record.measurement.covered = NAN;
    unmeasure_domains(record.measurement.domains);
    return record;
}

static struct apapi_record there_and_back(const struct apapi_record *record)
{
    struct apapi_record result;
    char *line;

    assert_int_equal(apapi_record_encode(record, &line, &why), 0);
    fail_if(apapi_record_decode(line, strlen(line), &result, &why), "%s: %s", why.text, line);
    free(line);
    return result;
}

TEST(what_is_not_known_is_null_and_comes_back_unknown)
{
    const double power_w[] = {100, NAN, 300};
    struct apapi_record record = empty_record(35 * MS), read;
    const struct apapi_timeline *timeline;
    char *line;

    draw(&record, APAPI_DOMAIN_GPU, power_w, 3);
    assert_int_equal(apapi_record_encode(&record, &line, &why), 0);
    assert_contains(line, "\"timeline\":{\"bin_s\":0.01,\"gpu\":{\"unit_j\":0.001,"
                          "\"n\":[1000,null,3000,null]}}");
    free(line);
    read = there_and_back(&record);
    timeline = &read.measurement.domains[APAPI_DOMAIN_GPU].timeline;
    assert_true(isnan(apapi_timeline_power_w(timeline, 1)));
    assert_within(apapi_timeline_power_w(timeline, 2), 300, 1e-3);
    assert_int_equal(timeline->length_ns, 35 * MS);
    apapi_record_clear(&read);
}

TEST(bad_timelines_are_refused)
{
    static const struct {
        const char *timeline, *message;
    } bad[] = {
        {"{\"bin_s\":0,\"gpu\":{\"unit_j\":1,\"n\":[1]}}", "timeline.bin_s: not a width"},
        {"{\"bin_s\":-1}", "timeline.bin_s"},
        {"{\"bin_s\":1e300}", "timeline.bin_s"},
        {"[]", "timeline.bin_s"},
        {"{\"bin_s\":1,\"gpu\":{\"unit_j\":0,\"n\":[1]}}", "timeline.gpu: unit_j: not above 0"},
        {"{\"bin_s\":1,\"gpu\":{\"unit_j\":1,\"n\":[]}}", "timeline.gpu: n: not an array"},
        {"{\"bin_s\":1,\"gpu\":{\"unit_j\":1,\"n\":[-1]}}", "n: not a whole number"},
        {"{\"bin_s\":1,\"gpu\":{\"unit_j\":1,\"n\":[1.5]}}", "n: not a whole number"},
        {"{\"bin_s\":1,\"gpu\":{\"unit_j\":1,\"n\":[1,1,1,1]}}", "n: bins of another length"},
        {"{\"bin_s\":0.1,\"gpu\":{\"unit_j\":1,\"n\":[1]}}", "n: bins of another length"},
        {"{\"bin_s\":1,\"gpu\":{\"unit_j\":1,\"n\":[1],\"covered_pct\":{\"1\":5}}}", "not a bin"},
        {"{\"bin_s\":1,\"gpu\":{\"unit_j\":1,\"n\":[1],\"covered_pct\":{\"x\":5}}}", "not a bin"},
        {"{\"bin_s\":1,\"gpu\":{\"unit_j\":1,\"n\":[1],\"covered_pct\":{\"0\":500}}}", "share"},
        {"{\"bin_s\":1,\"gpu\":{\"unit_j\":1,\"n\":[1],\"covered_pct\":[5]}}", "not an object"},
    };

    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct apapi_record record;
        char line[1024];

        snprintf(line, sizeof line,
                 "{\"apapi\":1,\"node\":\"n1\",\"start\":\"2026-11-21T11:20:01.5Z\","
                 "\"elapsed_s\":0.9,\"late_s\":0,\"complete\":true,"
                 "\"domains\":{\"gpu\":{\"energy_j\":1}},\"components\":[],\"timeline\":%s,"
                 "\"trust\":{\"cpu_s\":0}}",
                 bad[i].timeline);
        assert_fails_with(EINVAL, bad[i].message,
                          apapi_record_decode(line, strlen(line), &record, &why));
    }
}
