/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/prometheus.h"

#include "unit/record_fixture.h"

static struct prometheus *prometheus;

static void set_up(void)
{
    prometheus = prometheus_create();
    assert_non_null(prometheus);
}

static void tear_down(void)
{
    prometheus_destroy(prometheus);
    prometheus_destroy(NULL);
}

/* A record that began `start_s` after the usual one and took `length_s`. */
static void add_job(uint32_t job, int64_t start_s, uint64_t length_s, bool running)
{
    struct apapi_record record = usual_record();

    record.id.job = job;
    record.measurement.start_unix_ns += start_s * INT64_C(1000000000);
    record.measurement.elapsed_ns = length_s * UINT64_C(1000000000);
    assert_int_equal(prometheus_add(prometheus, &record, running), 0);
    apapi_record_clear(&record);
}

static void assert_has(size_t count, const char *part)
{
    FREED char *text = NULL;
    size_t size, found = 0;
    FILE *out = open_memstream(&text, &size);

    assert_int_equal(prometheus_write(prometheus, &(struct prometheus_counts){0}, out), 0);
    assert_int_equal(fclose(out), 0);
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part)) {
        found++;
    }
    fail_if(found != count, "%zu times, not %zu: %s\n%s", found, count, part, text);
}

#define PREPARED(name) TEST_WITH(name, set_up, tear_down)

PREPARED(the_running_and_the_newest_have_room)
{
    const uint32_t count = 5 * PROMETHEUS_STEPS_MAX;

    add_job(0, -1000, 1, true);
    for (uint32_t job = 1; job <= count; job++) {
        add_job(job, job, 1, false);
    }
    assert_has(PROMETHEUS_STEPS_MAX, "\napapi_step_running{");
    assert_has(1, "\napapi_steps_left_out 4001\n");
    assert_has(8, "jobid=\"0\"");
    assert_has(8, "jobid=\"5000\"");
    assert_has(8, "jobid=\"4002\"");
    assert_has(0, "jobid=\"4001\"");
}
