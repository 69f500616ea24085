/* SPDX-License-Identifier: BSD-3-Clause */
#include "sum/sum.h"
#include "unit/near.h"
#include "unit/step_fixture.h"

/* Check a value as exactly as a timeline of a few bins allows. */
static void assert_about(double value, double wanted)
{
    assert_within(value, wanted, 1e-4);
}

/*
 * @return the record of "NAME NODE FROM TO WATTS", a step of constant power from second to second,
 * or of "NAME NODE FROM : WATTS ...", a step with a power for each second; "-": not known.
 */
static struct apapi_record written(const char *text)
{
    struct apapi_record record;
    struct apapi_timeline_meter meter;
    char name[16], node[16], to[16];
    struct apapi_domain_result *domain;
    unsigned seconds = 0, known = 0;
    long from_s;
    int at;

    assert_int_equal(sscanf(text, "%15s %15s %ld %15s%n", name, node, &from_s, to, &at), 4);
    text += at;
    if (*to != ':') {
        return step(name, node, from_s, atol(to), atof(text));
    }
    for (const char *blank = text; (blank = strchr(blank, ' ')); blank++) {
        seconds++;
    }
    record = step(name, node, from_s, from_s + seconds, 0);
    domain = &record.measurement.domains[PACKAGE];
    apapi_timeline_meter_init(&meter, 0, 10000000);
    for (uint64_t s = 0; s < seconds; s++, text = strchr(text + 1, ' ')) {
        if (text[1] != '-') {
            apapi_timeline_meter_add(&meter, s * S, (s + 1) * S, atof(text), true);
            domain->energy_j += atof(text);
            known++;
        }
    }
    domain->power_w.mean = domain->energy_j / known;
    apapi_timeline_meter_finish(&meter, record.measurement.elapsed_ns, &domain->timeline);
    return record;
}

static struct apapi_job_total total_of(const struct apapi_record *records, size_t count)
{
    struct apapi_job *job = apapi_job_create();
    struct apapi_job_total total;

    assert_non_null(job);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(apapi_job_add(job, &records[i]), 0);
    }
    assert_int_equal(apapi_job_total(job, &total), 0);
    apapi_job_destroy(job);
    return total;
}

TEST(power_over_time_is_that_of_the_records_whose_energy_counts)
{
    struct apapi_record records[] = {written("0 n1 0 : 150 150 150 150"),
                                     written("1 n1 2 : 100 100 100 100 100 100 100 100")};
    struct sum_store store = {.lists = true};
    struct sum_entries entries;
    struct apapi_job_total total;
    double power_w[10], energy_j = 0;

    assert_int_equal(sum_add(&store, &records[0], NULL), 0);
    assert_int_equal(sum_add(&store, &records[1], NULL), 0);
    assert_int_equal(sum_gather(&store, NULL, 2, &entries), 0);
    assert_int_equal(sum_total(&store, &entries, &total), 0);
    sum_find_ends(&entries);
    assert_int_equal(sum_power(&store, &entries,
                               &(struct sum_power_request){
                                   .start_ns = BEGIN, .end_ns = BEGIN + 10 * S, .columns = 10},
                               power_w),
                     0);
    for (int s = 0; s < 10; s++) {
        assert_about(power_w[s], s < 2 ? 150 : 100);
        energy_j += power_w[s];
    }
    assert_about(total.energy_j, energy_j);
    free(entries.list);
    sum_free(&store);
}

/* @param mean_w  mean power of the first step, rounded; NAN: not known */
static void assert_pair(const char *first, const char *second, double mean_w, double energy_j,
                        double covered_s)
{
    struct apapi_record records[] = {written(first), written(second)};
    struct apapi_job_total total;

    if (!isnan(mean_w)) {
        records[0].measurement.domains[PACKAGE].power_w.mean = mean_w;
    }
    total = total_of(records, 2);
    assert_about(total.energy_j, energy_j);
    assert_about((double)total.covered_ns, covered_s * 1e9);
}

TEST(the_record_that_knows_more_counts)
{
    assert_pair("batch n1 0 : 100 300 100 200", "0 n1 1 : 300 100", NAN, 700, 4);
    /* a gap is filled by a record that knows it */
    assert_pair("batch n1 0 : 100 200 - 400 500 600", "0 n1 0 : 100 200 300 400 - 600", NAN, 2100,
                6);
    assert_pair("batch n1 0 : 100 100 - - 100 100 100 100", "0 n1 4 : 200 200", NAN, 800, 6);
    /* the last digits of two rounded figures decide nothing */
    assert_pair("batch n1 0 100 200", "0 n1 0 90 300", 200.0001, 20000, 100);
}

/* @return a step with GPUs, as "01"; "": its GPUs are not known. @param text  for written() */
static struct apapi_record with_gpus(const char *gpus, const char *text)
{
    static struct apapi_event_result events[3][2];
    static struct apapi_component_result components[3];
    static size_t count;
    struct apapi_component_result *component = &components[count % 3];
    struct apapi_record record = written(text);
    struct apapi_domain_result *domains = record.measurement.domains;

    domains[PACKAGE].power_w.min = domains[PACKAGE].power_w.max = domains[PACKAGE].power_w.mean;
    domains[APAPI_DOMAIN_GPU] = domains[PACKAGE];
    domains[PACKAGE].measured = false;
    *component =
        (struct apapi_component_result){.events = events[count++ % 3], .event_count = strlen(gpus)};
    for (size_t i = 0; gpus[i]; i++) {
        struct apapi_event *event = &component->events[i].event;

        snprintf(event->name, sizeof event->name, "nvml:::NVIDIA_L4:device_%c:power", gpus[i]);
        event->domain = APAPI_DOMAIN_GPU;
    }
    record.measurement.components = component;
    record.measurement.component_count = 1;
    return record;
}

/* A moment counts once for GPUs that several steps have. Steps of unknown GPUs have the same ones.
 * If steps have only some GPUs in common, the others are taken to draw as much. */
TEST(gpus_of_steps_at_the_same_time_add_up)
{
    static const struct {
        const char *gpus[3], *steps[3];
        double energy_j, uncertainty_j, power_w[3]; /* power_w: in each second */
    } rows[] = {
        {{"0", "1"}, {"0 n1 0 : 100 100", "1 n1 1 : 200 200"}, 600, 0, {100, 300, 200}},
        {{"0", "1", "01"},
         {"0 n1 0 : 100 100", "1 n1 1 : 200 200", "batch n1 0 : 300 300 300"},
         900,
         0,
         {300, 300, 300}},
        {{"0", "0"}, {"0 n1 0 : 100 100", "1 n1 1 : 100 100"}, 300, 0, {100, 100, 100}},
        {{"", "1"}, {"0 n1 0 : 100 100", "1 n1 0 : 200 200"}, 200, 0, {100, 100, NAN}},
        {{"01", "12"}, {"0 n1 0 : 200 200", "1 n1 0 : 300 300"}, 800, 400, {400, 400, NAN}}};

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct sum_power_request request = {
            .start_ns = BEGIN, .end_ns = BEGIN + 3 * S, .columns = 3};
        struct sum_store store = {.lists = true};
        struct sum_entries entries;
        struct apapi_job_total total;
        double power_w[3];

        for (size_t k = 0; k < 3 && rows[i].steps[k]; k++) {
            struct apapi_record record = with_gpus(rows[i].gpus[k], rows[i].steps[k]);

            assert_int_equal(sum_add(&store, &record, NULL), 0);
        }
        assert_int_equal(sum_gather(&store, NULL, store.piece_count, &entries), 0);
        assert_int_equal(sum_total(&store, &entries, &total), 0);
        assert_about(total.energy_j, rows[i].energy_j);
        assert_about(total.uncertainty_j, rows[i].uncertainty_j);
        assert_int_equal(total.covered_ns, isnan(rows[i].power_w[2]) ? 2 * S : 3 * S);
        sum_find_ends(&entries);
        assert_int_equal(sum_power(&store, &entries, &request, power_w), 0);
        for (size_t c = 0; c < 3; c++) {
            assert_true(isnan(rows[i].power_w[c]) == isnan(power_w[c]));
            assert_true(isnan(power_w[c]) || fabs(power_w[c] - rows[i].power_w[c]) < 0.1);
        }
        free(entries.list);
        sum_free(&store);
    }
}

#define MANY 66000

/* Each record runs for half of the time: to compare all with all others would take hours. */
TEST(sixty_six_thousand_records_of_a_node_are_added_up)
{
    struct apapi_job *job = apapi_job_create();
    struct apapi_job_total total;

    for (int64_t i = 0; i < MANY; i++) {
        struct apapi_record record = step("0", "n1", i, i + MANY, 100);

        record.measurement.domains[PACKAGE].power_w.mean = i % 2 ? 100 : 200;
        snprintf(record.id.step, sizeof record.id.step, "%d", (int)i);
        assert_int_equal(apapi_job_add(job, &record), 0);
    }
    assert_int_equal(apapi_job_total(job, &total), 0);
    assert_int_equal(total.records, MANY);
    assert_about(total.energy_j, 100.0 * (2 * MANY - 1));
    apapi_job_destroy(job);
}

/* Two steps overlap in part. The longer one counts for its time, the other one for the rest. The
 * result is the same whichever record has no room for its curve. */
TEST(too_many_curves_are_none)
{
    struct apapi_record records[] = {written("0 n1 0 : 300 300 300 300 100 100 100 100"),
                                     written("1 n1 4 10 50")};

    records[0].measurement.domains[PACKAGE].power_w = (struct apapi_summary){100, 200, 300, NAN};
    for (size_t first = 0; first < 2; first++) {
        struct sum_store store = {.curve_max = 16};
        struct sum_entries entries;
        struct apapi_job_total total;

        assert_int_equal(sum_add(&store, &records[first], NULL), 0);
        assert_int_equal(sum_add(&store, &records[1 - first], NULL), 0);
        assert_int_equal(sum_gather(&store, NULL, 2, &entries), 0);
        assert_int_equal(sum_total(&store, &entries, &total), 0);
        assert_true(store.curveless);
        assert_about(total.energy_j, 1600 + 100);
        assert_int_equal(total.records, 2);
        free(entries.list);
        sum_free(&store);
    }
}

/* --- clocks ----------------------------------------------------------------------------------- */

#define HOUR 3600

/* @return ten minutes of a step on a node, by the node's clock and by its time since boot. */
static struct apapi_record timed(const char *node, const char *name, int64_t start_s,
                                 const char *boot, int64_t monotonic_s)
{
    struct apapi_record record = step(name, node, start_s, start_s + 600, 100);

    record.id.job = 17;
    record.id.nodes = 2;
    snprintf(record.measurement.boot, sizeof record.measurement.boot, "%s", boot);
    record.measurement.monotonic_ns = (uint64_t)(monotonic_s * S);
    return record;
}

static void assert_times(const struct apapi_job_total *total, int64_t start_s, int64_t end_s)
{
    assert_int_equal((total->start_unix_ns - BEGIN) / S, start_s);
    assert_int_equal((total->end_unix_ns - BEGIN) / S, end_s);
}

TEST(boots_of_a_node_do_not_overlap)
{
    const struct apapi_record records[] = {timed("n1", "0", 2 * HOUR, "late", 0),
                                           timed("n1", "1", HOUR + 3500, "early", 0),
                                           timed("n1", "2", HOUR, "early", 100)};
    const struct apapi_job_total total = total_of(records, COUNT_OF(records));

    assert_times(&total, HOUR + 3500, HOUR + 4800);
    assert_int_equal(total.clock_jump_ns, HOUR * S);
    assert_about(total.energy_j, 100 * (700 + 600));
}

/* n3 shares no step with n1. It shares one with n2, whose clock is wrong. */
TEST(a_step_begins_on_all_nodes)
{
    struct apapi_record records[] = {
        timed("n1", "0", HOUR, "a", 0),     timed("n2", "0", 3 * HOUR, "b", 9),
        timed("n4", "0", HOUR + 9, "d", 0), timed("n2", "1", 4 * HOUR, "b", 9 + HOUR),
        timed("n3", "1", 9 * HOUR, "c", 5), timed("n3", "2", 9 * HOUR + 1, "c", 6)};
    struct apapi_job_total total;

    records[0].id.nodes = records[1].id.nodes = records[2].id.nodes = 3;
    total = total_of(records, COUNT_OF(records));
    assert_times(&total, HOUR, 2 * HOUR + 610);
    assert_int_equal(total.clock_apart_ns, (7 * HOUR - 9) * S);
    assert_int_equal(total.busy_ns, (609 + 601) * S);
}

/* The components of a job run at the same time, each on its own nodes. */
TEST(nodes_of_components_add_up)
{
    struct apapi_record records[] = {timed("n1", "0", 0, "b", 0), timed("n1", "1", 0, "b", 0),
                                     timed("n3", "0", 0, "b", 0)};

    records[2].id.job = 18;
    records[1].id.nodes = APAPI_UNKNOWN;
    assert_int_equal(total_of(records, COUNT_OF(records)).job_nodes, 4);
}

TEST(every_node_is_found_whatever_its_number)
{
    const char *const names[] = {"n10", "n2", "n02", "n1", "n", "a3", "n-9", "n010", "N2", "n100"};
    struct apapi_job *job = apapi_job_create();
    struct apapi_job_total total;

    assert_non_null(job);
    assert_false(apapi_job_has_node(job, "n1"));
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const struct apapi_record record = timed(names[i], "0", 0, "b", 0);

        assert_int_equal(apapi_job_add(job, &record), 0);
    }
    assert_int_equal(apapi_job_total(job, &total), 0);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        assert_true(apapi_job_has_node(job, names[i]));
    }
    assert_false(apapi_job_has_node(job, "n3") || apapi_job_has_node(job, "n0"));
    apapi_job_destroy(job);
}

TEST(times_out_of_range_do_no_harm)
{
    struct apapi_record records[] = {timed("n1", "0", 0, "b", 0), timed("n1", "1", 0, "b", HOUR),
                                     timed("n1", "2", 0, "b", -1)};
    struct apapi_job_total total;

    records[0].measurement.start_unix_ns = INT64_MAX - 700 * S;
    assert_int_equal(total_of(records, COUNT_OF(records)).records, 3);
    for (size_t i = 1; i < 3; i++) {
        records[i].measurement.boot[0] = (char)('b' + i);
        records[i].measurement.start_unix_ns = INT64_MAX / 2;
        records[i].measurement.elapsed_ns = INT64_MAX / 2;
    }
    assert_int_equal(total_of(records, COUNT_OF(records)).records, 3);
    records[0] = step("0", "n1", 0, 4, 100);
    records[1] = step("1", "n1", 0, 4, 100);
    records[0].measurement.start_unix_ns = INT64_MIN + 5;
    records[1].measurement.start_unix_ns = INT64_MAX - 5;
    total = total_of(records, 2);
    assert_true(total.start_unix_ns == 0 && total.end_unix_ns == INT64_MAX - 1);
}
