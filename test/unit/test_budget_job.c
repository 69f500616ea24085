/* SPDX-License-Identifier: BSD-3-Clause */
#include "limit/totals.h"

#include "base/random.h"

#include "unit/unit.h"

#define S UINT64_C(1000000000)

/* @param elapsed_s, total_j  of the step on the node */
static void report(struct limit_sum *job, const char *node, const char *step, double elapsed_s,
                   double total_j, double now_s)
{
    const struct limit_report what = {1, (uint64_t)(elapsed_s * S), total_j, false};

    assert_int_equal(limit_job_report(job, node, step, &what, (uint64_t)(now_s * S)), 0);
}

static void end(struct limit_sum *job, const char *node, const char *step, double elapsed_s,
                double total_j, double now_s)
{
    const struct limit_report what = {1, (uint64_t)(elapsed_s * S), total_j, true};

    limit_job_report(job, node, step, &what, (uint64_t)(now_s * S));
}

static double total_at(struct limit_sum *job, double now_s)
{
    return limit_job_total_j(job, (uint64_t)(now_s * S));
}

#define assert_total(job, now_s, joules)                                                           \
    do {                                                                                           \
        double total_j = total_at(job, now_s);                                                     \
        if (fabs(total_j - (joules)) > 1e-6) {                                                     \
            fail_msg("%g J, not %g J", total_j, (double)(joules));                                 \
        }                                                                                          \
    } while (0)

TEST(who_begins_late_leads_from_the_end_of_the_other)
{
    struct limit_sum job = {.silent_ns = 3 * S};

    report(&job, "n1", "1.0", 4, 400, 4);
    end(&job, "n1", "1.0", 5, 500, 5);
    report(&job, "n1", "1.1", 4, 400, 8); /* it began at 4, and is heard for the first time */
    assert_total(&job, 8, 800);
    limit_sum_clear(&job);
}

TEST(a_silent_leader)
{
    struct limit_sum job = {.silent_ns = 3 * S};

    report(&job, "n1", "1.0", 1, 100, 1);
    report(&job, "n1", "1.0", 2, 200, 2);
    assert_total(&job, 10, 1000); /* it counts as drawing its latest power */
    report(&job, "n1", "1.1", 1, 100, 11);
    report(&job, "n1", "1.1", 2, 200, 12);
    assert_total(&job, 12, 1200); /* another one is heard and leads */
    report(&job, "n1", "1.1", 4, 600, 14);
    assert_total(&job, 14, 1600);
    limit_sum_clear(&job);
}

TEST(unknown_energy_does_not_lead)
{
    struct limit_sum job = {.silent_ns = 3 * S};

    report(&job, "n1", "batch", 1, NAN, 1);
    report(&job, "n1", "1.0", 1, 100, 2);
    assert_total(&job, 2, 100);
    end(&job, "n1", "batch", 2, NAN, 2);
    assert_total(&job, 2, 100);
    limit_sum_clear(&job);
}

#define STEPS 6
#define SECONDS 60

/* Steps of constant power that begin and end at any second, on one node. */
TEST(random_steps)
{
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        struct limit_sum job = {.silent_ns = 3 * S};
        struct random random = {seed};
        unsigned begin[STEPS], until[STEPS];
        double truth_j = 0, power_w = 50 + (double)random_below(&random, 300);

        for (size_t i = 0; i < STEPS; i++) {
            begin[i] = (unsigned)random_below(&random, SECONDS - 1);
            until[i] = begin[i] + 1 + (unsigned)random_below(&random, SECONDS - begin[i]);
        }
        for (unsigned now = 1; now <= SECONDS; now++) {
            bool measured = false;

            for (size_t i = 0; i < STEPS; i++) {
                char step[] = {'1', '.', (char)('0' + i), '\0'};
                double elapsed_s = (double)now - begin[i];

                measured |= begin[i] < now && until[i] >= now;
                if (now > begin[i] && now < until[i]) {
                    report(&job, "n1", step, elapsed_s, power_w * elapsed_s, now);
                } else if (now == until[i]) {
                    end(&job, "n1", step, elapsed_s, power_w * elapsed_s, now);
                    limit_job_end_step(&job, step, now * S);
                }
            }
            truth_j += measured ? power_w : 0;
            assert_total(&job, now, truth_j);
        }
        limit_sum_clear(&job);
    }
}

/* The others go on. */
TEST(a_node_too_many_does_not_count)
{
    const struct limit_report what = {1, S, 50, false};
    struct limit_sum job = {.silent_ns = 3 * S, .most = 2};

    report(&job, "n1", "1.0", 1, 100, 1);
    report(&job, "n2", "1.0", 1, 100, 1);
    assert_int_equal(limit_job_report(&job, "n3", "1.0", &what, S), -1);
    assert_int_equal(errno, ENOSPC);
    assert_total(&job, 1, 200);
    report(&job, "n1", "1.0", 2, 150, 2);
    assert_total(&job, 2, 250);
    limit_sum_clear(&job);
}
