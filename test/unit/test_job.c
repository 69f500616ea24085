/* SPDX-License-Identifier: BSD-3-Clause */
#include "sum/sum.h"
#include "unit/near.h"
#include "unit/step_fixture.h"

/* As exact as a timeline of a few bins. */
static void assert_about(double value, double wanted)
{
    assert_within(value, wanted, 1e-4);
}

/* The same with the power of each second, known (1) or not (0). */
static void draw(struct apapi_record *record, const double *power_w, const int *known)
{
    struct apapi_domain_result *domain = &record->measurement.domains[PACKAGE];
    uint64_t seconds = record->measurement.elapsed_ns / S;
    struct apapi_timeline_meter meter;

    apapi_timeline_meter_init(&meter, 0, 10000000);
    domain->energy_j = 0;
    for (uint64_t s = 0; s < seconds; s++) {
        if (known[s]) {
            apapi_timeline_meter_add(&meter, s * S, (s + 1) * S, power_w[s]);
            domain->energy_j += power_w[s];
        }
    }
    apapi_timeline_meter_finish(&meter, record->measurement.elapsed_ns, &domain->timeline);
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
    const double a_w[] = {150, 150, 150, 150}, b_w[] = {100, 100, 100, 100, 100, 100, 100, 100};
    const int known[] = {1, 1, 1, 1, 1, 1, 1, 1};
    struct apapi_record records[] = {step("0", "n1", 0, 4, 150), step("1", "n1", 2, 10, 100)};
    struct sum_store store = {.lists = true};
    struct sum_entries entries;
    struct apapi_job_total total;
    double power_w[10], energy_j = 0;

    draw(&records[0], a_w, known);
    draw(&records[1], b_w, known);
    assert_int_equal(sum_add(&store, &records[0], NULL), 0);
    assert_int_equal(sum_add(&store, &records[1], NULL), 0);
    assert_int_equal(sum_gather(&store, NULL, 2, &entries), 0);
    assert_int_equal(sum_total(&store, &entries, &total), 0);
    assert_int_equal(sum_find_ends(&entries), 0);
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

TEST(the_record_that_knows_more_counts)
{
    static const double high_w[] = {100, 300, 100, 200}, low_w[] = {300, 100};
    static const int all[] = {1, 1, 1, 1}, broken[] = {1, 0, 0, 1};
    struct apapi_record records[] = {step("batch", "n1", 0, 4, 0), step("0", "n1", 1, 3, 0)};
    struct apapi_job_total total;

    draw(&records[0], high_w, broken);
    draw(&records[1], low_w, all);
    total = total_of(records, 2);
    assert_about(total.energy_j, 100 + 300 + 100 + 200);
    assert_about((double)total.covered_ns, 4e9);
}

TEST(a_step_without_dram_leaves_220_w)
{
    struct apapi_record records[] = {step("0", "n1", 0, 100, 200), step("1", "n1", 100, 200, 200)};
    struct apapi_job_total total;

    add_domain(&records[0], APAPI_DOMAIN_DRAM, 40);
    total = total_of(records, 2);
    assert_about(total.energy_j, 44000);
    assert_about(total.mean_w, 220);
    assert_about(apapi_job_measured(&total, 0), 1);
}

/* A step whose counter of the package never moved; another one knows 5 s of its time. */
TEST(an_unknown_domain_is_missing_in_the_total)
{
    struct apapi_record records[] = {step("0", "n1", 0, 10, NAN), step("1", "n1", 5, 10, 100),
                                     step("0", "n2", 0, 10, 100)};
    struct apapi_job_total total;

    for (size_t i = 0; i < 3; i++) {
        add_domain(&records[i], APAPI_DOMAIN_DRAM, 10);
    }
    records[0].measurement.domains[PACKAGE].measured = false;
    total = total_of(records, 3);
    assert_int_equal(total.missing_domains, 0);
    records[0].measurement.unknown_domains = 1U << PACKAGE;
    total = total_of(records, 3);
    assert_int_equal(total.missing_domains, 1U << PACKAGE);
    assert_int_equal(total.covered_ns, 15 * S);
    assert_int_equal(total.domains[PACKAGE].covered_ns, 15 * S);
    assert_int_equal(total.domains[PACKAGE].recorded_ns, 20 * S);
    assert_int_equal(total.domains[PACKAGE].unknown, 1);
    assert_about(total.domains[PACKAGE].energy_j, 1500);
    assert_about(total.energy_j, 1700);
    records[1].measurement.start_unix_ns = BEGIN;
    records[1].measurement.elapsed_ns = 10 * S;
    assert_int_equal(total_of(records, 3).missing_domains, 0);
}

TEST(a_gap_that_another_record_knows_is_filled)
{
    static const double power_w[] = {100, 200, 300, 400, 500, 600};
    static const int batch[] = {1, 1, 0, 1, 1, 1}, srun[] = {1, 1, 1, 1, 0, 1};
    struct apapi_record records[] = {step("batch", "n1", 0, 6, 0), step("0", "n1", 0, 6, 0)};
    struct apapi_job_total total;

    draw(&records[0], power_w, batch);
    draw(&records[1], power_w, srun);
    for (int i = 0; i < 2; i++) {
        struct apapi_domain_result *domain = &records[i].measurement.domains[PACKAGE];

        domain->power_w.mean = domain->energy_j / 5;
    }
    total = total_of(records, 2);
    assert_about(total.energy_j, 2100);
    assert_about((double)total.covered_ns, 6e9);
}

/* The last digits of two rounded figures decide nothing. */
TEST(rounding_does_not_choose_the_record)
{
    struct apapi_record records[] = {step("batch", "n1", 0, 100, 200), step("0", "n1", 0, 90, 300)};
    struct apapi_job_total exact, rounded;

    records[0].measurement.domains[PACKAGE].power_w.mean = 200;
    exact = total_of(records, 2);
    records[0].measurement.domains[PACKAGE].power_w.mean = 200.0001;
    rounded = total_of(records, 2);
    assert_about(exact.energy_j, 20000);
    assert_about(rounded.energy_j, 20000);
}

static void set_uncertainty(struct apapi_record *record, double uncertainty_j, double least_w,
                            double greatest_w)
{
    struct apapi_domain_result *domain = &record->measurement.domains[PACKAGE];

    domain->uncertainty_j = uncertainty_j;
    domain->power_w = (struct apapi_summary){least_w, (least_w + greatest_w) / 2, greatest_w, NAN};
}

/* Every step may err to the same side; one that lies within another one is not in the energy. */
TEST(uncertainties_of_nodes_and_steps_add_up)
{
    struct apapi_record records[] = {step("0", "n1", 0, 10, 100), step("1", "n1", 10, 20, 100),
                                     step("0", "n2", 0, 10, 100), step("batch", "n3", 0, 20, 100),
                                     step("0", "n3", 2, 9, 100)};
    struct apapi_job_total total;

    for (size_t i = 0; i < 5; i++) {
        set_uncertainty(&records[i], (double)(1U << i), 100, 100);
    }
    total = total_of(records, 5);
    assert_about(total.domains[PACKAGE].uncertainty_j, 1 + 2 + 4 + 8);
    assert_about(total.uncertainty_j, 1 + 2 + 4 + 8);
    records[1].measurement.domains[PACKAGE].uncertainty_j = NAN;
    total = total_of(records, 5);
    assert_true(isnan(total.uncertainty_j));
}

TEST(a_record_before_all_time_does_no_harm)
{
    struct apapi_record records[] = {step("0", "n1", 0, 4, 100), step("1", "n1", 0, 4, 100)};
    struct apapi_job_total total;

    records[0].measurement.start_unix_ns = INT64_MIN + 5;
    records[1].measurement.start_unix_ns = INT64_MAX - 5;
    total = total_of(records, 2);
    assert_true(total.start_unix_ns == 0 && total.end_unix_ns == INT64_MAX - 1);
}

#define MANY 66000

/* Each runs for half of the time, so that a comparison of all with all would take hours. */
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

/* Two steps that overlap in part: what the longer one says of its time, and the rest of the other.
 */
static struct apapi_job_total add_overlap(struct sum_store *store, size_t first)
{
    static const double watts[] = {300, 300, 300, 300, 100, 100, 100, 100};
    static const int known[] = {1, 1, 1, 1, 1, 1, 1, 1};
    struct apapi_record records[] = {step("0", "n1", 0, 8, 0), step("1", "n1", 4, 10, 50)};
    struct sum_entries entries;
    struct apapi_job_total total;

    draw(&records[0], watts, known);
    records[0].measurement.domains[PACKAGE].power_w = (struct apapi_summary){100, 200, 300, NAN};
    assert_int_equal(sum_add(store, &records[first], NULL), 0);
    assert_int_equal(sum_add(store, &records[1 - first], NULL), 0);
    assert_int_equal(sum_gather(store, NULL, 2, &entries), 0);
    assert_int_equal(sum_total(store, &entries, &total), 0);
    assert_true(store->curveless);
    free(entries.list);
    sum_free(store);
    return total;
}

/* Whichever record has no room: the figures do not depend on the order. */
TEST(too_many_curves_are_none)
{
    for (size_t first = 0; first < 2; first++) {
        struct sum_store store = {.curve_max = 16};
        struct apapi_job_total total = add_overlap(&store, first);

        assert_about(total.energy_j, 1600 + 100);
        assert_int_equal(total.records, 2);
    }
}

/* --- clocks ----------------------------------------------------------------------------------- */

#define HOUR 3600

/* Ten minutes of a step of two nodes, by the node's clock and since its boot. */
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

/* n3 shares no step with n1, but with n2, whose clock is wrong. */
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

/* Components run at the same time, each on its nodes. */
TEST(nodes_of_components_add_up)
{
    struct apapi_record records[] = {timed("n1", "0", 0, "b", 0), timed("n1", "1", 0, "b", 0),
                                     timed("n3", "0", 0, "b", 0)};

    records[2].id.job = 18;
    records[1].id.nodes = APAPI_UNKNOWN;
    assert_int_equal(total_of(records, COUNT_OF(records)).job_nodes, 4);
}

TEST(times_out_of_range_do_no_harm)
{
    struct apapi_record records[] = {timed("n1", "0", 0, "b", 0), timed("n1", "1", 0, "b", HOUR),
                                     timed("n1", "2", 0, "b", -1)};

    records[0].measurement.start_unix_ns = INT64_MAX - 700 * S;
    assert_int_equal(total_of(records, COUNT_OF(records)).records, 3);
    for (size_t i = 1; i < 3; i++) {
        records[i].measurement.boot[0] = (char)('b' + i);
        records[i].measurement.start_unix_ns = INT64_MAX / 2;
        records[i].measurement.elapsed_ns = INT64_MAX / 2;
    }
    assert_int_equal(total_of(records, COUNT_OF(records)).records, 3);
}
