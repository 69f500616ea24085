/* SPDX-License-Identifier: BSD-3-Clause */
/* A record is short: what follows from the rest, or is the same for several, is left out. */
#include "measure/result.h"
#include "unit//record_fixture.h"

#define USUAL_COVERED_NS UINT64_C(78642123456789)
#define USUAL_ELAPSED_NS UINT64_C(78642223456789)
#define USUAL_LATE_NS 1200001

/* Nothing went wrong, and all numbers have as many digits as numbers have. */
static void be_usual(struct apapi_event_result *result)
{
    result->incidents = (struct apapi_incidents){.samples = 786421};
    result->raw_total = 23405123456789;
    result->total = 23405123.456789;
    result->covered_ns = USUAL_COVERED_NS;
    result->summary = (struct apapi_summary){91.2512345, NAN, 362.512345, 361.125};
    result->summary.mean = result->total * 1e9 / (double)result->covered_ns;
    result->uncertainty_j =
        apapi_event_uncertainty_j(result, USUAL_ELAPSED_NS + USUAL_LATE_NS, 100000000);
}

/* As long as it can be: 120 bins, of which one is known in part. */
static void draw(struct apapi_domain_result *domain)
{
    struct apapi_timeline *timeline = &domain->timeline;

    timeline->bin_ns = 10000000 * (UINT64_C(1) << 16);
    timeline->length_ns = USUAL_ELAPSED_NS;
    timeline->count = APAPI_TIMELINE_BINS;
    for (size_t i = 0; i < APAPI_TIMELINE_BINS; i++) {
        timeline->energy_j[i] = (float)((101 + 7 * i) * 1000);
        timeline->covered_pct[i] = 100;
    }
    timeline->covered_pct[77] = 50;
}

/* The most usual of the big ones: two packages with memory, four GPUs. */
static struct apapi_record node_with_gpus(void)
{
    struct apapi_record record = usual_record();
    struct apapi_measurement *m = &record.measurement;
    struct apapi_component_result *grown = reallocarray(m->components, 2, sizeof(*grown));
    struct apapi_event_result events[4];

    assert_non_null(grown);
    record.id.nodelist[0] = '\0'; /* there is no room for it */
    for (int i = 0; i < 4; i++) {
        char name[APAPI_NAME_SIZE];

        snprintf(name, sizeof(name), "nvml:::NVIDIA_H200:device_%d:total_energy_consumption", i);
        events[i] = energy_event(name, APAPI_DOMAIN_GPU);
        events[i].event.range_max = 0;
        events[i].event.guard_j = 0;
        be_usual(&events[i]);
    }
    for (int i = 0; i < 4; i++) {
        be_usual(&grown[0].events[i]);
    }
    m->components = grown;
    grown[1] = (struct apapi_component_result){.name = "nvml",
                                               .measured = true,
                                               .source = "PAPI 7.2.0 nvml",
                                               .interval_ns = 100000000,
                                               .period = {31, 0.100004, 1.25e-05, 0.100211}};
    set_events(&grown[1], events, COUNT_OF(events));
    m->component_count = 2;
    m->domains[APAPI_DOMAIN_GPU] =
        (struct apapi_domain_result){.measured = true,
                                     .energy_j = 3577.24938,
                                     .uncertainty_j = 2.61728,
                                     .power_w = {365, 1190.44938, 1450, 1439.25}};
    grown[0].period.count = grown[1].period.count = 786421;
    m->elapsed_ns = USUAL_ELAPSED_NS;
    m->late_ns = USUAL_LATE_NS;
    for (int d = APAPI_DOMAIN_PACKAGE; d <= APAPI_DOMAIN_GPU; d++) {
        m->domains[d].energy_j *= 12345.678;
        m->domains[d].uncertainty_j = (d == APAPI_DOMAIN_GPU ? 4 : 2) * events[0].uncertainty_j;
        draw(&m->domains[d]);
    }
    return record;
}

/* `size` bytes with the NUL. */
static void set_name(char *name, const char *what, size_t size)
{
    memset(name, 'x', size - 1);
    memcpy(name, what, strlen(what));
    name[size - 1] = '\0';
}

/* Of so many bytes. */
static void set_nodelist(struct apapi_identity *id, size_t length)
{
    set_name(id->nodelist, "n[", length + 1);
    memset(id->nodelist + strlen("n["), '1', length - strlen("n[") - 1);
    id->nodelist[length - 1] = ']';
}

/*
 * As long as it gets in practice: host names of 63 letters, users of 32, accounts, QOS and clusters
 * of 40, partitions of 32; 64 for program and job; a task of an array (a component of a
 * heterogeneous job has shorter numbers) that went wrong in every way.
 */
static void be_long_winded(struct apapi_record *record)
{
    struct apapi_identity *id = &record->id;

    set_name(id->cluster, "cluster", 41);
    set_name(id->name, "program", 65);
    set_name(id->job_name, "job", 65);
    set_name(id->node, "node", 64);
    set_name(id->user, "user", 33);
    set_name(id->account, "account", 41);
    set_name(id->partition, "partition", 33);
    set_name(id->qos, "qos", 41);
    set_name(id->step, "interactive", sizeof "interactive");
    id->job = 67108862;
    id->array_job = 67108861;
    id->array_task = 4000000;
    id->node_index = 99998;
    id->nodes = 99999;
    set_nodelist(id, sizeof id->nodelist - 1);
    id->tasks = id->cores = 1024;
    id->restarts = 99;
    id->uid = 2147483647;
    id->verified = true;
    record->ending = (struct apapi_ending){255, 64, 1024};
    record->complete = false;
    set_name(record->reason, "reason", 81);
    record->recovered = record->delayed = true;
}

/* Does the line have so many bins, and do they still add up? */
static void assert_bins(const char *line, const struct apapi_record *record, size_t bins)
{
    struct apapi_record back = decode(line);

    for (int d = APAPI_DOMAIN_PACKAGE; d <= APAPI_DOMAIN_GPU; d++) {
        double energy_j = apapi_timeline_energy_j(&record->measurement.domains[d].timeline);
        const struct apapi_timeline *got = &back.measurement.domains[d].timeline;

        if (record->measurement.domains[d].timeline.count > 0) {
            assert_int_equal(got->count, bins);
            assert_true(fabs(apapi_timeline_energy_j(got) - energy_j) < 0.001 * energy_j);
        }
    }
    apapi_record_clear(&back);
}

TEST(a_usual_line_has_at_most_six_kilobytes)
{
    static const struct {
        const char *name;
        bool long_winded;
        size_t size;
    } nodes[] = {{"usual", false, 6144}, {"long names, trouble", true, 8192}};

    for (size_t i = 0; i < COUNT_OF(nodes); i++) {
        struct apapi_record record = node_with_gpus();
        char *line;

        set_nodelist(&record.id, sizeof "n[1-2]" - 1);
        if (nodes[i].long_winded) {
            be_long_winded(&record);
        }
        line = encode(&record);
        print_message("# %s: %zu bytes\n", nodes[i].name, strlen(line) + 1);
        if (strlen(line) + 1 > nodes[i].size) {
            fail_msg("%s: %zu bytes: %s", nodes[i].name, strlen(line) + 1, line);
        }
        assert_bins(line, &record, 120);
        assert_non_null(strstr(line, "\"nodelist\":"));
        free(line);
        assert_round_trip(&record);
        apapi_record_clear(&record);
    }
}
