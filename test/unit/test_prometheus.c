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

static void add(struct apapi_record *record, bool running)
{
    assert_int_equal(prometheus_add(prometheus, record, running), 0);
    apapi_record_clear(record);
}

/* A record that began `start_s` after the usual one and took `length_s`. */
static void add_job(uint32_t job, int64_t start_s, uint64_t length_s, bool running)
{
    struct apapi_record record = usual_record();

    record.id.job = job;
    record.measurement.start_unix_ns += start_s * INT64_C(1000000000);
    record.measurement.elapsed_ns = length_s * UINT64_C(1000000000);
    add(&record, running);
}

static char *text_of(struct prometheus_counts counts)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_int_equal(prometheus_write(prometheus, &counts, out), 0);
    assert_int_equal(fclose(out), 0);
    return text;
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;

    while ((text = strstr(text, part))) {
        text += strlen(part);
        count++;
    }
    return count;
}

static void assert_has(size_t count, const char *part)
{
    FREED char *text = text_of((struct prometheus_counts){0});

    fail_if(count_of(text, part) != count, "%zu times, not %zu: %s\n%s", count_of(text, part),
            count, part, text);
}

#define LABELS "cluster=\"mars\",jobid=\"1747302\",step=\"0\",user=\"alice\",node=\"n0417\""
#define ABOUT "account=\"physics\",partition=\"batch\",qos=\"normal\",job_name=\"triad-sweep\""

#define PREPARED(name) TEST_WITH(name, set_up, tear_down)

PREPARED(labels_are_escaped)
{
    static const struct {
        const char *account, *label;
    } cases[] = {
        {"a\"b", "account=\"a\\\"b\","},
        {"a\\b", "account=\"a\\\\b\","},
        {"a\nb", "account=\"a\\nb\","},
        {"\\\n\"", "account=\"\\\\\\n\\\"\","},
        {"physics {}=,", "account=\"physics {}=,\","},
        {"Phy\xc3\xa9", "account=\"Phy\xc3\xa9\","},
        {"a\xff\xc3", "account=\"a??\","},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct apapi_record record = usual_record();

        snprintf(record.id.account, sizeof record.id.account, "%s", cases[i].account);
        add(&record, false);
        assert_has(1, cases[i].label);
        prometheus_destroy(prometheus);
        prometheus = prometheus_create();
        assert_non_null(prometheus);
    }
}

/* A page of the usual record's step, begun `late_s` after it. */
static void add_page(int64_t late_s, double elapsed_s, bool running)
{
    CLEARED struct apapi_record record = usual_record();
    struct prometheus_live live = {.id = &record.id,
                                   .start_unix_ns = START_NS + late_s * INT64_C(1000000000),
                                   .elapsed_s = elapsed_s,
                                   .running = running};

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        live.energy_j[d] = live.power_w[d] = NAN;
    }
    live.energy_j[APAPI_DOMAIN_PACKAGE] = 2000.5;
    live.power_w[APAPI_DOMAIN_PACKAGE] = 123.5;
    assert_int_equal(prometheus_add_live(prometheus, &live), 0);
}

static void add_usual(bool running)
{
    struct apapi_record record = usual_record();

    add(&record, running);
}

/* In any order. */
PREPARED(a_page_and_its_checkpoint_are_one_step)
{
    for (int order = 0; order < 2; order++) {
        if (order == 0) {
            add_usual(true);
        }
        add_page(0, 3.5, true);
        if (order == 1) {
            add_usual(true);
        }
        assert_has(1, "\napapi_step_energy_joules_total{");
        assert_has(1, "\napapi_step_energy_joules_total{" LABELS ",domain=\"package\"} 2000.5\n");
        assert_has(1, "\napapi_step_power_watts{" LABELS ",domain=\"package\"} 595.22469\n");
        assert_has(1, "\napapi_step_covered_ratio{" LABELS "} 0.9991\n");
        assert_has(1, "\napapi_step_elapsed_seconds{" LABELS "} 3.5\n");
        assert_has(1, "\napapi_step_running{");
        assert_has(1, "\napapi_step_info{" LABELS "," ABOUT "} 1\n");
        tear_down();
        set_up();
    }
}

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
