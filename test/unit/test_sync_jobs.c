/* SPDX-License-Identifier: BSD-3-Clause */
/* The jobs of apapi sync: those found in records, and their runs. */
#include "unit.h"

#include "base/array.h"
#include "sync/jobs.h"

#define HOUR 3600

TEST(a_job_is_found_once)
{
    static const struct found_job jobs[] = {{"b", 7, 1, 50}, {"a", 9, 1, 50},  {"a", 9, 1, 50},
                                            {"b", 7, 1, 40}, {"a", 10, 1, 50}, {"", 9, 1, 50},
                                            {"a", 9, 1, 60}};
    static const struct found_job sorted[] = {
        {"", 9, 1, 50}, {"a", 9, 3, 50}, {"a", 10, 1, 50}, {"b", 7, 2, 40}};
    struct found found = {0};

    for (size_t i = 0; i < COUNT_OF(jobs); i++) {
        assert_int_equal(found_add(&found, &jobs[i]), 0);
    }
    found_sort(&found);
    assert_int_equal(found.count, COUNT_OF(sorted));
    assert_memory_equal(found.jobs, sorted, sizeof sorted);
    found_free(&found);
}

static struct dbd_run run(uint32_t job, int64_t submit_s, int64_t start_s, int64_t end_s,
                          const char *comment)
{
    return (struct dbd_run){.job = job,
                            .uid = 1000,
                            .submit_s = submit_s,
                            .start_s = start_s,
                            .end_s = end_s,
                            .ended = end_s > 0,
                            .comment = comment};
}

static struct runs_job find(const struct dbd_run *list, size_t count, uint32_t job)
{
    static struct runs runs;

    runs_free(&runs);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(runs_add(&runs, &list[i]), 0);
    }
    runs_sort(&runs);
    return runs_find(&runs, job);
}

TEST(a_jobs_runs_are_taken_together)
{
    const struct dbd_run list[] = {run(7, 300, 400, 500, "third"), run(8, 1, 2, 3, "another"),
                                   run(7, 100, 110, 200, "first"), run(7, 200, 0, 300, "second"),
                                   run(6, 1, 2, 3, "another")};
    const struct runs_job job = find(list, COUNT_OF(list), 7);

    assert_string_equal(job.latest->comment, "third");
    assert_true(job.start_s == 110);
    assert_null(find(list, COUNT_OF(list), 5).latest);
    assert_null(find(list, COUNT_OF(list), 9).latest);
    assert_null(find(NULL, 0, 9).latest);
}

TEST(a_number_that_came_again_is_another_job)
{
    struct dbd_run list[] = {run(7, 100, 110, 200, "old"),
                             run(7, 200 + 24 * HOUR, 200000, 200100, "new")};
    struct runs_job job = find(list, 2, 7);

    assert_true(job.start_s == 200000);
    list[1].submit_s--;
    job = find(list, 2, 7);
    assert_true(job.start_s == 110);
    list[0].uid = 1001;
    job = find(list, 2, 7);
    assert_true(job.start_s == 200000);
    find(NULL, 0, 7);
}
