/* SPDX-License-Identifier: BSD-3-Clause */
/* The shares of steps while they run. */
#include "apapi/live.h"
#include "base/random.h"
#include "node/steps.h"
#include "unit/node_fixture.h"

/* Two steps side by side, after a minute without any. */
NODE(steps_get_their_part)
{
    put_node_cpu(0);
    put_step("job_0/none", 0, "");
    for (int i = 0; i < 60; i++) {
        add(1, 100);
    }
    put_step("job_7/step_0", 3, "0-3\n");
    put_step("job_8/step_batch", 1, "4,6\n");
    put_node_cpu(4);
    add(1, 140);
    put_step("job_7/step_0", 4, "0-3\n");
    put_node_cpu(6); /* one second of it is of no step */
    add(1, 120);
    assert_near(row_of(7, "0").energy_j[PACKAGE], 30 + 10);
    assert_near(row_of(8, "batch").energy_j[PACKAGE], 10);
    assert_near(row_of(7, "0").power_w[PACKAGE], 10);
    assert_near(row_of(7, "0").cores, 4);
    assert_near(row_of(8, "batch").cores, 2);
    assert_int_equal(row_of(7, "0").cpu_ns, 4000000000);
}

/* A node that is busy from the start: its idle power is between none and its least power. */
NODE(a_busy_node_leaves_shares_open)
{
    const struct share_key key = {config.live_dir, "n1", 7, "0"};
    struct share_found found;

    put_node_cpu(0);
    put_step("job_7/step_0", 0, "0-3\n");
    add(1, 100);
    for (int i = 1; i <= 30; i++) {
        put_step("job_7/step_0", 3 * i, "0-3\n");
        put_node_cpu(4 * i);
        add(1, i > 15 && i < 18 ? 40 : 140);
    }
    assert_int_equal(share_page_look(&key, &found), 0);
    assert_near(found.row.energy_j[PACKAGE], 0.75 * (28 * 140 + 80));
    assert_near(found.row.open_s[PACKAGE], 0.75 * 30);
    assert_true(isnan(found.head.idle_w[PACKAGE]));
    assert_near(found.head.least_w[PACKAGE], (8 * 140 + 80) / 10.0);
    assert_true(isnan(found.head.least_w[APAPI_DOMAIN_DRAM]));
}

/*
 * The first job of a node, beside one that sleeps: its true draw is 25 W for each core, and its
 * load varies by a third.
 */
static bool first_job(uint64_t seed, double *uncertainty)
{
    const struct share_key key = {config.live_dir, "n1", 7, "0"};
    struct share_found found;
    struct random random = {seed};
    int seconds = 5 + (int)random_below(&random, 115);
    double cpu_s = 0, cores = 3, truth_j = 0, u_j, open_s, package_j;

    put_node_cpu(0);
    put_step("job_7/step_0", 0, "0-3\n");
    put_step("job_8/step_0", 0, "4\n");
    add(1, 100);
    for (int i = 0; i < seconds; i++) {
        cores = i % 4 == 0 ? 2 + (double)random_below(&random, 101) / 100 : cores;
        cpu_s += cores;
        truth_j += 25 * cores;
        put_step("job_7/step_0", cpu_s, "0-3\n");
        put_step("job_8/step_0", 1e-5 * i, "4\n");
        put_node_cpu(cpu_s + 1e-5 * i);
        package_j = 100 + 25 * cores + (double)random_below(&random, 201) / 100 - 1;
        add(1, package_j);
    }
    assert_int_equal(share_page_look(&key, &found), 0);
    open_s = found.row.open_s[PACKAGE];
    u_j = found.row.error_j[PACKAGE] +
          fmin(found.row.energy_j[PACKAGE], open_s * fmin(found.head.least_w[PACKAGE], 200));
    *uncertainty = seconds > 60 ? u_j / found.row.energy_j[PACKAGE] : 0;
    end_sampler();
    assert_near(read_hour().total.steps_j + read_hour().total.idle_j +
                    read_hour().total.unattributed_j,
                read_hour().total.energy_j);
    return fabs(found.row.energy_j[PACKAGE] - truth_j) <= u_j;
}

TEST(the_first_job_of_a_node_gets_what_it_draws)
{
    unsigned covered = 0, good = 0;
    double uncertainty;

    for (uint64_t seed = 1; seed <= 100; seed++) {
        make_node();
        covered += first_job(seed, &uncertainty);
        good += uncertainty <= 0.1;
        remove_root();
    }
    print_message("# %u of 100 covered, %u within 10 %% after a minute\n", covered, good);
    assert_true(covered >= 95);
    assert_true(good >= 95);
}

/* The site's figure counts until idle power is measured; one above what the node draws does not. */
TEST_WITH(the_sites_idle_power_is_used_if_it_can_be_true, make_root, remove_root)
{
    static const char *const figures[] = {"80", "120", "80 W"};

    for (int i = 0; i < 3; i++) {
        config.settings[0] = (struct config_setting){"shares", "idle_w", figures[i], 1};
        config.setting_count = 1;
        drop("/live/n1/shares");
        drop("/spool/n1.idle");
        *said = '\0';
        begin_sampler();
        put_node_cpu(0);
        put_step("job_7/step_0", 0, "0-3\n");
        for (int second = 0; second <= 20; second++) {
            put_step("job_7/step_0", second, "0-3\n");
            put_node_cpu(second);
            add(1, 100);
        }
        assert_near(row_of(7, "0").energy_j[PACKAGE], 20 * (i == 0 ? 20 : 100));
        assert_near(row_of(7, "0").error_j[PACKAGE], 0);
        assert_near(row_of(7, "0").open_s[PACKAGE], i == 0 ? 0 : 20);
        assert_true(i != 1 ? !*said
                           : strstr(said, "idle_w = 120 in [shares] is not used: packages and "
                                          "memory have drawn only 100 W") != NULL);
        end_sampler();
    }
}

NODE(version_2_is_read)
{
    put(V2 "/empty", "");
    put("/sys/fs/cgroup/cpu.stat", "usage_usec 0\nuser_usec 0\n");
    add(1, 100);
    put(V2 "/job_12/step_3/cpu.stat", "usage_usec 2000000\nuser_usec 1\n");
    put(V2 "/job_12/step_3/cpuset.cpus.effective", "0-1\n");
    put(V2 "/job_12/step_extern/cpu.stat", "usage_usec 0\n");
    put("/sys/fs/cgroup/cpu.stat", "usage_usec 4000000\n");
    add(1, 100);
    assert_near(row_of(12, "3").energy_j[PACKAGE], 50); /* idle power is not known yet */
    assert_near(row_of(12, "3").cores, 2);
    assert_near(row_of(12, "extern").energy_j[PACKAGE], 0);
}

/* Several slurmds on a machine have folders of their own. */
TEST_WITH(only_the_nodes_own_steps_count, make_root, remove_root)
{
    struct cgroups groups;

    put("/sys/fs/cgroup/system.slice/slurmstepd.scope/x", "");
    put("/sys/fs/cgroup/system.slice/n1_slurmstepd.scope/x", "");
    assert_true(cgroups_find(&groups, "n1"));
    assert_non_null(strstr(groups.steps, "/n1_slurmstepd.scope"));
    assert_true(cgroups_find(&groups, "n2"));
    assert_non_null(strstr(groups.steps, "system.slice/slurmstepd.scope"));
}

/* proctrack/cgroup alone: who runs is known, and nothing else. */
NODE(without_cpu_time_energy_is_unattributed)
{
    put("/sys/fs/cgroup/freezer/slurm_n1/uid_0/job_7/step_0/tasks", "");
    add(1, 100);
    assert_near(row_of(7, "0").energy_j[PACKAGE], 0);
    assert_int_equal(row_of(7, "0").flags & (SHARE_ROW_RUNNING | SHARE_ROW_COUNTED),
                     SHARE_ROW_RUNNING);
}

/* Earlier shares count on, and energy in between counts too. */
NODE(another_sampler_goes_on)
{
    put_step("job_7/step_0", 5, "0\n"); /* has run before anybody looked */
    add(1, 100);
    assert_near(row_of(7, "0").energy_j[PACKAGE], 0);
    put_step("job_7/step_0", 6, "0\n");
    add(1, 100);
    assert_near(row_of(7, "0").energy_j[PACKAGE], 100);
    end_sampler();
    begin_sampler();
    put_step("job_7/step_0", 7, "0\n");
    add(1, 50);
    assert_near(row_of(7, "0").energy_j[PACKAGE], 150);
}

/* A job that was requeued has the same numbers. */
NODE(a_step_that_runs_again_has_a_row_of_its_own)
{
    put_step("job_1/step_0", 0, "0\n");
    add(1, 10);
    put_step("job_7/step_0", 1, "0\n");
    add(1, 100);
    put(V1_CPU "/uid_0/held", ""); /* so that the next folder has another number */
    drop(V1_CPU "/uid_0/job_7");
    put_step("job_9/step_0", 0, "0\n");
    add(1, 100);
    assert_int_equal(row_of(7, "0").flags & SHARE_ROW_RUNNING, 0);
    assert_near(row_of(7, "0").energy_j[PACKAGE], 100);
    put_step("job_7/step_0", 1, "0\n");
    add(1, 30);
    assert_near(row_of(7, "0").energy_j[PACKAGE], 30);
}

/* Live pages show that steps run; without control groups it is not known what they use. */
NODE(steps_without_control_groups_are_said)
{
    struct apapi_live_head head = {.magic = "", .writer = (uint32_t)getpid()};
    char path[256];
    FILE *page;

    put("/live/n1/1000/7.0", "");
    snprintf(path, sizeof path, "%s/live/n1/1000/7.0", top);
    page = fopen(path, "w");
    assert_non_null(page);
    memcpy(head.magic, APAPI_LIVE_MAGIC, sizeof head.magic);
    head.state = APAPI_LIVE_RUNNING;
    fwrite(&head, sizeof head, 1, page);
    fclose(page);
    add(1, 100);
    assert_non_null(strstr(said, "steps have no control groups"));
}

/* More steps than the table holds: theirs is unattributed, and nothing breaks. */
NODE(more_steps_than_the_table_holds)
{
    put_node_cpu(0);
    put_step("job_0/none", 0, "");
    add(1, 100);
    for (int i = 1; i <= SHARE_PAGE_ROWS + 4; i++) {
        char step[64];

        snprintf(step, sizeof step, "job_%d/step_0", i);
        put_step(step, 1, "0\n");
    }
    put_node_cpu(SHARE_PAGE_ROWS + 4);
    add(1, 100);
    end_sampler();
    assert_near(read_hour().total.energy_j, 200);
    assert_near(read_hour().total.steps_j, 100.0 * SHARE_PAGE_ROWS / (SHARE_PAGE_ROWS + 4));
}
