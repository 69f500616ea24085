/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/cgroup.h"
#include "unit/unit.h"

static void test_the_part_above_the_job(void **state)
{
    static const struct {
        const char *path, *parent;
    } cases[] = {
        {"/slurm/uid_1000/job_7/step_0/task_0", "/slurm"},
        {"/slurm_n1/uid_0/job_7/step_batch", "/slurm_n1"},
        {"/system.slice/slurmstepd.scope/job_7/step_0/slurm", "/system.slice/slurmstepd.scope"},
        {"/job_7/step_0", "/"},
        {"/uid_5/job_7", "/"},
    };
    char parent[64];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(cgroup_above_job(cases[i].path, parent, sizeof parent), 0);
        assert_string_equal(parent, cases[i].parent);
    }
}

static void test_outside_a_job(void **state)
{
    char parent[8];

    (void)state;
    assert_int_equal(cgroup_above_job("/", parent, sizeof parent), -1);
    assert_int_equal(cgroup_above_job("/user.slice/uid_7", parent, sizeof parent), -1);
    assert_int_equal(cgroup_above_job("/too/long/for/it/job_7", parent, sizeof parent), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_part_above_the_job),
        cmocka_unit_test(test_outside_a_job),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
