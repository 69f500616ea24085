/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/array.h"
#include "sum/sum.h"
#include "unit.h"

#define S INT64_C(1000000000)
#define HOUR (3600 * S)
#define UNKNOWN APAPI_UNKNOWN

/* A step of two nodes, by the node's clock and since its boot. */
static struct sum_entry timing(const char *node, const char *step, int64_t start_ns,
                               const char *boot, int64_t monotonic_ns)
{
    return (struct sum_entry){.node = node,
                              .step = step,
                              .boot = boot,
                              .monotonic_ns = (uint64_t)monotonic_ns,
                              .elapsed_ns = 600 * S,
                              .job = 17,
                              .nodes = 2,
                              .restarts = UNKNOWN,
                              .start_ns = start_ns};
}

static void align(struct sum_entry *timings, size_t count)
{
    assert_int_equal(timings_align(timings, count), 0);
}

TEST(boots_of_a_node_do_not_overlap)
{
    struct sum_entry timings[] = {timing("n1", "0", 2 * HOUR, "late", 0),
                                  timing("n1", "1", HOUR + 3500 * S, "early", 0),
                                  timing("n1", "2", HOUR, "early", 100 * S)};

    align(timings, COUNT_OF(timings));
    assert_true(timings[1].start_ns == HOUR + 3500 * S);
    assert_true(timings[2].start_ns == HOUR + 3600 * S);
    assert_true(timings[0].start_ns == HOUR + 4200 * S);
}

/* n3 shares no step with n1, but with n2, whose clock is wrong. */
TEST(a_step_begins_on_all_nodes)
{
    struct sum_entry timings[] = {
        timing("n1", "0", HOUR, "a", 0),         timing("n2", "0", 3 * HOUR, "b", 9 * S),
        timing("n4", "0", HOUR + 9 * S, "d", 0), timing("n2", "1", 4 * HOUR, "b", 9 * S + HOUR),
        timing("n3", "1", 9 * HOUR, "c", 5),     timing("n3", "2", 9 * HOUR + S, "c", S + 5)};

    timings[0].nodes = timings[1].nodes = timings[2].nodes = 3;
    align(timings, COUNT_OF(timings));
    assert_true(timings[0].start_ns == HOUR && timings[2].start_ns == HOUR + 9 * S);
    assert_true(timings[1].start_ns == HOUR + 9 * S && timings[1].apart_ns == 2 * HOUR - 9 * S);
    assert_true(timings[3].start_ns == 2 * HOUR + 9 * S);
    assert_true(timings[4].start_ns == 2 * HOUR + 9 * S && timings[4].apart_ns == 7 * HOUR - 9 * S);
    assert_true(timings[5].start_ns == 2 * HOUR + 10 * S);
}

/* Components run at the same time, each on its nodes. */
TEST(nodes_of_components_add_up)
{
    struct sum_entry timings[] = {timing("n1", "0", 0, "b", 0), timing("n1", "1", 0, "b", 0),
                                  timing("n3", "0", 0, "b", 0)};

    timings[2].job = 18;
    timings[1].nodes = UNKNOWN;
    timings_find_runs(timings, 3);
    assert_int_equal(timings_sum(timings, 3).nodes, 4);
}

TEST(times_out_of_range_stay)
{
    struct sum_entry timings[] = {timing("n1", "0", INT64_MAX - 700 * S, "b", 0),
                                  timing("n1", "1", 0, "b", HOUR), timing("n1", "2", 0, "b", -1)};

    align(timings, COUNT_OF(timings));
    assert_true(timings[1].start_ns == 0 && timings[2].start_ns == 0);
    timings[1].boot = "c";
    timings[2].boot = "d";
    timings[1].start_ns = timings[2].start_ns = INT64_MAX / 2;
    timings[1].elapsed_ns = timings[2].elapsed_ns = INT64_MAX / 2;
    align(timings, COUNT_OF(timings));
    align(NULL, 0);
}
