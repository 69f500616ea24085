/* SPDX-License-Identifier: BSD-3-Clause */
#include "apapi/record.h"
#include "record/members.h"
#include "record/record.h"
#include "sum/members.h"
#include "unit/merge_fixture.h"

static void add_component(struct apapi_record *record, const char *event)
{
    struct apapi_measurement *m = &record->measurement;

    m->components = calloc(1, sizeof(*m->components));
    assert_non_null(m->components);
    m->component_count = 1;
    m->components[0].measured = true;
    m->components[0].events = calloc(2, sizeof(*m->components[0].events));
    assert_non_null(m->components[0].events);
    m->components[0].event_count = 2;
    snprintf(m->components[0].events[0].event.name, APAPI_NAME_SIZE, "%s", event);
    m->components[0].events[0].incidents = (struct apapi_incidents){31, 1, 2, 3, 4, 5, 6, 1};
    m->components[0].events[1].incidents = (struct apapi_incidents){30, 10, 20, 30, 40, 50, 60, 1};
}

MERGED(each_node_comes_once)
{
    struct apapi_record record = node_record("n1", 0);

    assert_int_equal(apapi_merge_count(merge), 0);
    assert_false(apapi_merge_has(merge, "n1"));
    add(&record);
    assert_int_equal(apapi_merge_absent(merge, "n2", "no answer"), 0);
    assert_fails(EEXIST, apapi_merge_add(merge, &record));
    assert_fails(EEXIST, apapi_merge_absent(merge, "n1", "no answer"));
    assert_int_equal(apapi_merge_absent(merge, "n2", "no answer"), -1);
    assert_int_equal(apapi_merge_count(merge), 2);
    assert_true(apapi_merge_has(merge, "n1"));
    assert_true(apapi_merge_has(merge, "n2"));
    assert_false(apapi_merge_has(merge, "n"));
    assert_false(apapi_merge_has(merge, ""));
}

MERGED(nodes_come_in_the_order_of_their_index)
{
    static const struct {
        const char *name;
        uint32_t index;
    } given[] = {{"b", 2}, {"n10", 0}, {"a", APAPI_UNKNOWN}, {"n2", 1}, {"n3", 3}};
    static const char *const expected[] = {"n10", "n2", "b", "n3", "a", "x9", "x10"};
    struct merge_result result;

    assert_int_equal(apapi_merge_absent(merge, "x10", "lost"), 0);
    assert_int_equal(apapi_merge_absent(merge, "x9", "lost"), 0);
    for (size_t i = 0; i < COUNT_OF(given); i++) {
        struct apapi_record record = node_record(given[i].name, given[i].index);

        add(&record);
    }
    result = worked_out();
    assert_int_equal(result.recorded, COUNT_OF(given));
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        assert_string_equal(result.nodes[i]->name, expected[i]);
        assert_int_equal(result.nodes[i]->state,
                         i < COUNT_OF(given) ? MERGE_RECORDED : MERGE_ABSENT);
    }
    free(result.nodes);
}

MERGED(the_merge_has_copies_of_its_own)
{
    struct apapi_record record = node_record("n1", 0);

    add_component(&record, "rapl:::A");
    add(&record);
    assert_int_equal(apapi_merge_add(merge, &record), -1);
    memset(record.measurement.components[0].events, 'x', sizeof(struct apapi_event_result));
    apapi_record_clear(&record);
    assert_string_equal(merge->events[0].event.name, "rapl:::A");
}

MERGED(awaited_nodes_come_or_are_given_up)
{
    struct apapi_record record = node_record("n2", 1);
    struct merge_result result;

    add(&record);
    assert_int_equal(apapi_merge_expect(merge, "n[1-3]"), 0);
    assert_int_equal(apapi_merge_expect(merge, "n[2-4]"), 0);
    assert_int_equal(apapi_merge_awaited(merge), 3);
    assert_int_equal(apapi_merge_count(merge), 1);
    assert_true(apapi_merge_awaits(merge, "n1") && !apapi_merge_has(merge, "n1"));
    assert_true(!apapi_merge_awaits(merge, "n2") && apapi_merge_has(merge, "n2"));
    assert_true(!apapi_merge_awaits(merge, "n5") && !apapi_merge_has(merge, "n5"));
    record = node_record("n3", 2);
    add(&record);
    assert_int_equal(apapi_merge_awaited(merge), 2);
    assert_int_equal(apapi_merge_give_up(merge, "late"), 0);
    assert_int_equal(apapi_merge_awaited(merge), 0);
    assert_int_equal(apapi_merge_count(merge), 4);
    result = worked_out();
    assert_int_equal(result.recorded, 2);
    assert_string_equal(result.nodes[2]->name, "n1");
    assert_string_equal(result.nodes[3]->name, "n4");
    free(result.nodes);
    assert_fails(EINVAL, apapi_merge_expect(merge, "n[1-"));
}

/* Add n1: 100 W, 9 s and 1 s late; n2: 200 W, 5 s; n3 without a meter; n4 without a record. */
static void add_uneven(void)
{
    struct apapi_record n1 = node_record("n1", 0);
    struct apapi_record n2 = node_record("n2", 1);
    struct apapi_record n3 = node_record("n3", 2);

    n1.measurement.elapsed_ns = 9 * S;
    n1.measurement.late_ns = 1 * S;
    n2.measurement.elapsed_ns = 5 * S;
    n3.measurement.elapsed_ns = 2 * S;
    set_domain(&n1, APAPI_DOMAIN_PACKAGE, 900, (struct apapi_summary){80, 100, 120, 119});
    set_domain(&n2, APAPI_DOMAIN_PACKAGE, 1000, (struct apapi_summary){150, 200, 250, 249});
    set_domain(&n1, APAPI_DOMAIN_DRAM, 90, (struct apapi_summary){NAN, 10, 12, NAN});
    set_domain(&n2, APAPI_DOMAIN_DRAM, NAN, (struct apapi_summary){NAN, 20, 25, NAN});
    set_domain(&n1, APAPI_DOMAIN_PSYS, NAN, (struct apapi_summary){NAN, NAN, NAN, NAN});
    add(&n2);
    add(&n3);
    add(&n1);
    assert_int_equal(apapi_merge_absent(merge, "n4", "lost"), 0);
}

/* The mean is below the sum of both means: the minimum of the whole time is unknown. n2 has memory
 * whose energy is unknown. */
MERGED(mean_power_is_energy_by_time)
{
    struct merge_result result;

    add_uneven();
    assert_domain(APAPI_DOMAIN_PACKAGE, 2, 1900, (struct apapi_summary){NAN, 1900.0 / 9, 370, NAN},
                  0);
    assert_domain(APAPI_DOMAIN_DRAM, 1, 90, (struct apapi_summary){NAN, 10, 12, NAN}, 0);
    assert_domain(APAPI_DOMAIN_PSYS, 0, NAN, (struct apapi_summary){NAN, NAN, NAN, NAN}, 0);
    assert_domain(APAPI_DOMAIN_GPU, 0, NAN, (struct apapi_summary){NAN, NAN, NAN, NAN}, 0);
    result = worked_out();
    assert_int_equal(result.domains[APAPI_DOMAIN_DRAM].unknown, 1);
    assert_int_equal(result.missing, 1U << APAPI_DOMAIN_DRAM);
    free(result.nodes);
}

/* Events that have other names on each node must not fill the memory. */
MERGED(rows_of_events_are_bounded)
{
    for (unsigned i = 0; i < 1000; i++) {
        char name[32];
        CLEARED struct apapi_record record = {.id = {.job = 0}};

        snprintf(name, sizeof(name), "x%u", i);
        record = node_record(name, i);
        add_component(&record, name);
        snprintf(record.measurement.components[0].reason, 256, "reason %u", i);
        add(&record);
    }
    assert_true(merge->event_rows.full && merge->event_rows.keys.count < 500);
    assert_true(merge->note_rows.full && merge->note_rows.keys.count < 500);
    assert_int_equal(apapi_merge_count(merge), 1000);
}

/* --- extremes --------------------------------------------------------------------------------- */

/* Set powers of bins of 1 s, all of them covered, from `start_s` on. */
static void set_powers(struct apapi_record *record, enum apapi_domain domain, unsigned start_s,
                       const double *power_w, size_t count)
{
    struct apapi_timeline *timeline = &record->measurement.domains[domain].timeline;

    record->measurement.start_unix_ns = (int64_t)((1000 + start_s) * S);
    record->measurement.elapsed_ns = count * S;
    *timeline = (struct apapi_timeline){.bin_ns = S, .length_ns = count * S, .count = count};
    for (size_t i = 0; i < count; i++) {
        timeline->energy_j[i] = (float)power_w[i];
        timeline->covered_pct[i] = 100;
    }
}

/* Add nodes n1 and n2 with four bins each; bin number `partial` is covered by half. */
static void add_pair(double energy_j, struct apapi_summary summary, const double *n1_w,
                     const double *n2_w, int partial)
{
    for (unsigned i = 0; i < 2; i++) {
        struct apapi_record record = node_record(i ? "n2" : "n1", i);

        set_domain(&record, APAPI_DOMAIN_PACKAGE, energy_j, summary);
        set_powers(&record, APAPI_DOMAIN_PACKAGE, 0, i ? n2_w : n1_w, 4);
        record.measurement.domains[APAPI_DOMAIN_PACKAGE].timeline.covered_pct[partial] = 50;
        add(&record);
    }
}

/* Each node has its peak while the other one rests. */
static const double up_w[] = {100, 300, 100, 300}, down_w[] = {300, 120, 280, 100};
static const struct apapi_summary up_summary = {95, 200, 310, NAN};
static const struct apapi_summary down_summary = {98, 200, 305, NAN};

static void add_alternating(unsigned late_s)
{
    struct apapi_record n1 = node_record("n1", 0), n2 = node_record("n2", 1);

    set_domain(&n1, APAPI_DOMAIN_PACKAGE, 800, up_summary);
    set_domain(&n2, APAPI_DOMAIN_PACKAGE, 800, down_summary);
    set_powers(&n1, APAPI_DOMAIN_PACKAGE, 0, up_w, 4);
    set_powers(&n2, APAPI_DOMAIN_PACKAGE, late_s, down_w, 4);
    snprintf(n1.measurement.boot, sizeof n1.measurement.boot, "one");
    snprintf(n2.measurement.boot, sizeof n2.measurement.boot, "other");
    add(&n1);
    add(&n2);
}

/* The means are of 8 s, or of 4 s: a clock that is wrong by 17 minutes does not make time. */
MERGED(with_a_wrong_clock_extremes_are_added_up)
{
    for (unsigned late_s = 6; late_s < 2000; late_s += 1000) {
        bool wrong = late_s > 600;

        renew_merge();
        add_alternating(late_s);
        assert_domain(APAPI_DOMAIN_PACKAGE, 2, 1600,
                      wrong ? (struct apapi_summary){193, 400, 615, NAN}
                            : (struct apapi_summary){100, 200, 300, NAN},
                      wrong ? 0 : S);
    }
}

/* Records with any times can be added up. */
MERGED(impossible_times_do_no_harm)
{
    static const int64_t starts_ns[] = {INT64_MIN, -1, 0, INT64_MAX / 2, INT64_MAX};
    static const uint64_t lengths_ns[] = {4 * S, INT64_MAX / 2, UINT64_MAX / 2};

    for (size_t i = 0; i < COUNT_OF(starts_ns) * COUNT_OF(lengths_ns); i++) {
        struct apapi_record n3 = node_record("n3", 2);
        struct merge_domain result;

        renew_merge();
        add_alternating(0);
        set_domain(&n3, APAPI_DOMAIN_PACKAGE, 800, down_summary);
        set_powers(&n3, APAPI_DOMAIN_PACKAGE, 0, down_w, 4);
        n3.measurement.start_unix_ns = starts_ns[i % COUNT_OF(starts_ns)];
        n3.measurement.domains[APAPI_DOMAIN_PACKAGE].timeline.length_ns =
            lengths_ns[i / COUNT_OF(starts_ns)];
        n3.measurement.domains[APAPI_DOMAIN_PACKAGE].timeline.bin_ns =
            lengths_ns[i / COUNT_OF(starts_ns)] / 4;
        add(&n3);
        result = domain_of(APAPI_DOMAIN_PACKAGE);
        assert_int_equal(result.nodes, 3);
        assert_int_equal(result.bin_ns, 0);
    }
}

MERGED(a_node_without_a_timeline_leaves_only_bounds)
{
    struct apapi_record n3 = node_record("n3", 2);

    add_alternating(0);
    set_domain(&n3, APAPI_DOMAIN_PACKAGE, 800, down_summary);
    n3.measurement.start_unix_ns = (int64_t)(1000 * S);
    n3.measurement.elapsed_ns = 4 * S;
    add(&n3);
    assert_domain(APAPI_DOMAIN_PACKAGE, 3, 2400, (struct apapi_summary){291, 600, 920, NAN}, 0);
}

MERGED(extremes_of_the_total_are_of_all_domains_together)
{
    struct merge_result result = worked_out();

    assert_int_equal(result.total.bin_ns, 0);
    free(result.nodes);
    for (unsigned i = 0; i < 2; i++) {
        struct apapi_record record = node_record(i ? "n2" : "n1", i);

        set_domain(&record, APAPI_DOMAIN_PACKAGE, 800, up_summary);
        set_domain(&record, APAPI_DOMAIN_GPU, 800, down_summary);
        set_domain(&record, APAPI_DOMAIN_PSYS, 9000, down_summary);
        set_powers(&record, APAPI_DOMAIN_PACKAGE, 0, up_w, 4);
        set_powers(&record, APAPI_DOMAIN_GPU, 0, down_w, 4);
        set_powers(&record, APAPI_DOMAIN_PSYS, 0, down_w, 4);
        add(&record);
    }
    result = worked_out();
    assert_int_equal(result.total.bin_ns, S);
    assert_near(result.total.power_w.min, 760);
    assert_near(result.total.power_w.max, 840);
    free(result.nodes);
}

/* The last bin is covered in part: by the mean, its power is less than that of any other bin. Then
 * the peak is covered in part. */
MERGED(extremes_that_the_mean_contradicts_are_unknown)
{
    static const double n1_w[] = {100, 300, 100, 100}, n2_w[] = {300, 120, 310, 100};
    static const double peak_w[] = {100, 110, 890, 100};

    add_pair(780, (struct apapi_summary){95, 195, 310, NAN}, n1_w, n2_w, 3);
    assert_domain(APAPI_DOMAIN_PACKAGE, 2, 1560, (struct apapi_summary){NAN, 390, 420, NAN}, S);
    renew_merge();
    add_pair(800, (struct apapi_summary){95, 300, 310, NAN}, peak_w, peak_w, 2);
    assert_domain(APAPI_DOMAIN_PACKAGE, 2, 1600, (struct apapi_summary){200, 600, NAN, NAN}, S);
}

/* Both nodes end 10 ms after their last whole bin. These 10 ms are no window of their own. */
MERGED(what_is_left_at_the_end_belongs_to_the_window_before)
{
    static const struct apapi_summary summary = {95, 810 / 4.01, 310, NAN};
    static const double n1_w[] = {100, 300, 200, 200, 10}, n2_w[] = {300, 100, 200, 200, 10};

    for (unsigned i = 0; i < 2; i++) {
        struct apapi_record record = node_record(i ? "n2" : "n1", i);

        set_domain(&record, APAPI_DOMAIN_PACKAGE, 810, summary);
        set_powers(&record, APAPI_DOMAIN_PACKAGE, 0, i ? n2_w : n1_w, 5);
        record.measurement.elapsed_ns = 4 * S + S / 100;
        record.measurement.domains[APAPI_DOMAIN_PACKAGE].timeline.length_ns = 4 * S + S / 100;
        add(&record);
    }
    assert_domain(APAPI_DOMAIN_PACKAGE, 2, 1620,
                  (struct apapi_summary){400, 2 * 810 / 4.01, 2 * 210 / 1.01, NAN}, S);
}

/* --- regions ---------------------------------------------------------------------------------- */

static struct apapi_region_result region_of(enum apapi_region_kind kind, const char *path,
                                            double energy_j)
{
    struct apapi_region_result region = region_unmeasured();

    snprintf(region.path, sizeof region.path, "%s", path);
    region.kind = kind;
    region.method = APAPI_REGION_MEASURED;
    region.count = 3;
    region.time_ns = 2 * S;
    if (kind == APAPI_REGION_NAMED) {
        region.programs = 1;
        region.threads = 2;
    }
    region.domains[APAPI_DOMAIN_PACKAGE] = (struct apapi_region_energy){energy_j, 0.5, NAN};
    return region;
}

/* Add the regions of a node that has lost four regions. */
static void add_regions(struct region_sums *sums, struct apapi_region_result *list, size_t count)
{
    struct apapi_record record = node_record("n1", 0);

    set_domain(&record, APAPI_DOMAIN_PACKAGE, 100, up_summary);
    record.regions = (struct apapi_regions){.list = list, .count = count, .losses = {.regions = 4}};
    assert_return_code(region_sums_add(sums, &record), errno);
}

static double package_j(const struct apapi_region_result *region)
{
    return region->domains[APAPI_DOMAIN_PACKAGE].energy_j;
}

TEST(those_of_the_least_energy_are_in_the_rest)
{
    struct apapi_region_result list[] = {
        region_of(APAPI_REGION_NAMED, "a", 10), region_of(APAPI_REGION_NAMED, "b", 20),
        region_of(APAPI_REGION_NAMED, "c", 30), region_of(APAPI_REGION_UNMARKED, "", 7),
        region_of(APAPI_REGION_REST, "", 1)};
    struct region_sums sums = {0};
    struct apapi_regions sum;

    add_regions(&sums, list, COUNT_OF(list));
    assert_return_code(region_sums_result(&sums, 1, &sum), errno);
    assert_int_equal(sum.count, 3);
    assert_string_equal(sum.list[0].path, "c");
    assert_int_equal(sum.list[1].kind, APAPI_REGION_UNMARKED);
    assert_int_equal(sum.list[2].kind, APAPI_REGION_REST);
    assert_near(package_j(&sum.list[2]), 31);
    assert_int_equal(sum.losses.regions, 6);
    apapi_regions_clear(&sum);
    region_sums_free(&sums);
}

/* Names from hostile nodes need bounded memory, and no energy is lost. */
TEST(too_many_paths_go_into_the_rest)
{
    struct region_sums sums = {0};
    struct apapi_regions sum;
    double total_j = 0;

    for (int i = 0; i < 2 * REGION_SUMS_MAX; i++) {
        char path[32];
        struct apapi_region_result region;

        snprintf(path, sizeof path, "region %d", i);
        region = region_of(APAPI_REGION_NAMED, path, 1);
        add_regions(&sums, &region, 1);
    }
    assert_return_code(region_sums_result(&sums, APAPI_REGIONS_MAX, &sum), errno);
    assert_int_equal(sum.count, APAPI_REGIONS_MAX + 1);
    for (size_t i = 0; i < sum.count; i++) {
        total_j += package_j(&sum.list[i]);
    }
    assert_near(total_j, 2 * REGION_SUMS_MAX);
    apapi_regions_clear(&sum);
    region_sums_free(&sums);
}
