/* SPDX-License-Identifier: BSD-3-Clause */
/* Least and greatest power of several nodes. */
#include "unit/merge_fixture.h"

/* Bins of 1 s, each wholly known, from `start_s` on. */
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

/* Nodes n1 and n2, of whose bin `partial` half is known; -1: all of each is. */
static void add_pair(double energy_j, struct apapi_summary summary, const double *n1_w,
                     const double *n2_w, size_t count, int partial)
{
    for (unsigned i = 0; i < 2; i++) {
        struct apapi_record record = node_record(i ? "n2" : "n1", i);

        set_domain(&record, APAPI_DOMAIN_PACKAGE, energy_j, summary);
        set_powers(&record, APAPI_DOMAIN_PACKAGE, 0, i ? n2_w : n1_w, count);
        if (partial >= 0) {
            record.measurement.domains[APAPI_DOMAIN_PACKAGE].timeline.covered_pct[partial] = 50;
        }
        add(&record);
    }
}

/* Each has its peak when the other one rests. */
static const double up_w[] = {100, 300, 100, 300}, down_w[] = {300, 120, 280, 100};
static const struct apapi_summary up_summary = {95, 200, 310, NAN};
static const struct apapi_summary down_summary = {98, 200, 305, NAN};

static void add_alternating(unsigned late_s, size_t down_count)
{
    struct apapi_record n1 = node_record("n1", 0), n2 = node_record("n2", 1);

    set_domain(&n1, APAPI_DOMAIN_PACKAGE, 800, up_summary);
    set_domain(&n2, APAPI_DOMAIN_PACKAGE, 200.0 * (double)down_count, down_summary);
    set_powers(&n1, APAPI_DOMAIN_PACKAGE, 0, up_w, 4);
    set_powers(&n2, APAPI_DOMAIN_PACKAGE, late_s, down_w, down_count);
    snprintf(n1.measurement.boot, sizeof n1.measurement.boot, "one");
    snprintf(n2.measurement.boot, sizeof n2.measurement.boot, "other");
    add(&n1);
    add(&n2);
}

/* As the mean is of the time in which any node was measured, so are the extremes. */
MERGED(a_node_alone_counts)
{
    /* n1 100 300 100 300, n2 - 300 120 280: alone, n1 needs 100 W */

    add_alternating(1, 3);
    assert_domain(APAPI_DOMAIN_PACKAGE, 2, 1400, (struct apapi_summary){100, 350, 600, NAN}, S);
}

/* The means are of 8 s and of 4 s: a clock that is wrong by 17 minutes does not make time. */
MERGED(with_a_wrong_clock_extremes_are_added_up)
{
    for (unsigned late_s = 4; late_s < 2000; late_s += 1000) {
        bool wrong = late_s > 600;

        renew_merge();
        add_alternating(late_s, 4);
        assert_domain(APAPI_DOMAIN_PACKAGE, 2, 1600,
                      wrong ? (struct apapi_summary){193, 400, 615, NAN}
                            : (struct apapi_summary){100, 200, 300, NAN},
                      wrong ? 0 : S);
    }
}

/* Any times in a record can be added up. */
MERGED(impossible_times_do_no_harm)
{
    static const int64_t starts_ns[] = {INT64_MIN, -1, 0, INT64_MAX / 2, INT64_MAX};
    static const uint64_t lengths_ns[] = {4 * S, INT64_MAX / 2, UINT64_MAX / 2};

    for (size_t i = 0; i < COUNT_OF(starts_ns) * COUNT_OF(lengths_ns); i++) {
        struct apapi_record n3 = node_record("n3", 2);
        struct merge_domain result;

        renew_merge();
        add_alternating(0, 4);
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

    add_alternating(0, 4);
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
    assert_value(result.total.power_w.min, 760);
    assert_value(result.total.power_w.max, 840);
    free(result.nodes);
}

/* The last bin is known in part only: the mean knows that it has less power than any other. */
MERGED(a_minimum_that_the_mean_contradicts_is_unknown)
{
    static const double n1_w[] = {100, 300, 100, 100}, n2_w[] = {300, 120, 310, 100};

    add_pair(780, (struct apapi_summary){95, 195, 310, NAN}, n1_w, n2_w, 4, 3);
    assert_domain(APAPI_DOMAIN_PACKAGE, 2, 1560, (struct apapi_summary){NAN, 390, 420, NAN}, S);
}

/* The peak is known in part only. */
MERGED(a_maximum_that_the_mean_contradicts_is_unknown)
{
    static const double power_w[] = {100, 110, 890, 100};

    add_pair(800, (struct apapi_summary){95, 300, 310, NAN}, power_w, power_w, 4, 2);
    assert_domain(APAPI_DOMAIN_PACKAGE, 2, 1600, (struct apapi_summary){200, 600, NAN, NAN}, S);
}

/* Both end 10 ms after their last whole bin: that is no window of its own. */
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

/* Whatever the nodes do, and when: the three figures are in order, or absent. */
MERGED(minimum_mean_and_maximum_are_in_order)
{
    uint32_t random = 1;

    for (unsigned round = 0; round < 2000; round++) {
        struct merge_domain result;

        renew_merge();
        for (uint32_t node = 0; node < 3; node++) {
            struct apapi_record record = node_record(node ? node == 1 ? "n2" : "n3" : "n1", node);
            struct apapi_summary summary = {10, 0, 400, NAN};
            double power_w[6];
            size_t count = 1 + (random >> 8) % 6;

            for (size_t i = 0; i < count; i++) {
                random = random * 1664525 + 1013904223;
                power_w[i] = 10 + (random >> 8) % 390;
                summary.mean += power_w[i] / (double)count;
            }
            set_domain(&record, APAPI_DOMAIN_PACKAGE, summary.mean * (double)count, summary);
            set_powers(&record, APAPI_DOMAIN_PACKAGE, (random >> 12) % 4, power_w, count);
            record.measurement.domains[APAPI_DOMAIN_PACKAGE].timeline.covered_pct[0] =
                (random >> 16) % 4 ? 100 : 50;
            add(&record);
        }
        result = domain_of(APAPI_DOMAIN_PACKAGE);
        assert_false(result.power_w.min > result.power_w.mean);
        assert_false(result.power_w.max < result.power_w.mean);
    }
}
