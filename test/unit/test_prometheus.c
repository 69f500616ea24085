/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/prometheus.h"

#include "unit/record_fixture.h"

/* Add a record that begins `start_s` after the usual one and takes 1 s. */
static void add_job(struct prometheus *prometheus, uint32_t job, int64_t start_s, bool running)
{
    CLEARED struct apapi_record record = usual_record();

    record.id.job = job;
    record.measurement.start_unix_ns += start_s * INT64_C(1000000000);
    record.measurement.elapsed_ns = 1000000000;
    assert_int_equal(prometheus_add(prometheus, &record, running), 0);
}

static void assert_has(const char *text, size_t count, const char *part)
{
    size_t found = 0;

    for (const char *at = text; (at = strstr(at, part)); at += strlen(part)) {
        found++;
    }
    fail_if(found != count, "%zu times, not %zu: %s\n%s", found, count, part, text);
}

TEST(the_running_and_the_newest_have_room)
{
    const uint32_t count = 5 * PROMETHEUS_STEPS_MAX;
    struct prometheus *prometheus = prometheus_create();
    FREED char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(prometheus);
    add_job(prometheus, 0, -1000, true);
    for (uint32_t job = 1; job <= count; job++) {
        add_job(prometheus, job, job, false);
    }
    assert_int_equal(prometheus_write(prometheus, &(struct prometheus_counts){0}, out), 0);
    assert_int_equal(fclose(out), 0);
    assert_has(text, PROMETHEUS_STEPS_MAX, "\napapi_step_running{");
    assert_has(text, 1, "\napapi_steps_left_out 4001\n");
    assert_has(text, 8, "jobid=\"0\"");
    assert_has(text, 8, "jobid=\"5000\"");
    assert_has(text, 8, "jobid=\"4002\"");
    assert_has(text, 0, "jobid=\"4001\"");
    prometheus_destroy(prometheus);
    prometheus_destroy(NULL);
}
