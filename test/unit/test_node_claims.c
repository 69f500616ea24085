/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps that end between two readings. */
#include <sys/mman.h>

#include "unit/node_fixture.h"

static struct share_end end;

/* A record and the node's own record say the same of the time since the last reading. */
NODE(the_end_of_a_step_is_claimed)
{
    const struct share_key key = {config.live_dir, "n1", 7, "0"};

    put_node_cpu(0);
    put_step("job_0/none", 0, "");
    for (int i = 0; i < 60; i++) {
        add(1, 100);
    }
    put_step("job_7/step_0", 4, "0-3\n");
    put_node_cpu(4);
    add(1, 140);
    put_step("job_7/step_0", 6, "0-3\n"); /* 10 J for each second of CPU time */
    put_node_cpu(6);
    assert_int_equal(share_end_look(&key, &end), 0);
    assert_near(end.found.row.energy_j[PACKAGE], 60);
    assert_near(end.tail_j[PACKAGE], 20);
    share_end_claim(&key, &end);
    add(1, 125); /* its control group is still there */
    drop(V1_CPU "/uid_0/job_7");
    add(1, 100);
    assert_near(row_of(7, "0").energy_j[PACKAGE], 60);
    end_sampler();
    assert_near(read_hour().total.steps_j, 60);
    assert_near(read_hour().total.idle_j + read_hour().total.unattributed_j, 6305);
    assert_near(read_hour().total.energy_j, 6365);
}

/* More than the node used until its sampler ended: the sum closes all the same. */
NODE(what_is_owed_at_the_end_is_nobodys)
{
    const struct share_key key = {config.live_dir, "n1", 7, "0"};

    put_node_cpu(0);
    put_step("job_7/step_0", 0, "0-3\n");
    add(1, 100);
    put_step("job_7/step_0", 1, "0-3\n");
    put_node_cpu(1);
    add(1, 100);
    put_step("job_7/step_0", 3, "0-3\n");
    assert_int_equal(share_end_look(&key, &end), 0);
    assert_true(end.tail_j[PACKAGE] > 100);
    share_end_claim(&key, &end);
    drop(V1_CPU "/uid_0/job_7");
    add(1, 20);
    end_sampler();
    assert_near(read_hour().total.steps_j, end.found.row.energy_j[PACKAGE]);
    assert_near(read_hour().total.energy_j, 220);
    assert_true(read_hour().total.unattributed_j < 0);
    assert_near(read_hour().total.steps_j + read_hour().total.idle_j +
                    read_hour().total.unattributed_j,
                220);
}

NODE(a_short_step_is_claimed_too)
{
    const struct share_key key = {config.live_dir, "n1", 8, "0"};

    put_node_cpu(0);
    put_step("job_0/none", 0, "");
    add(1, 100);
    put_step("job_8/step_0", 0.5, "0\n");
    assert_int_equal(share_end_look(&key, &end), -1); /* nobody has used anything yet */
    put_step("job_7/step_0", 1, "0-3\n");
    drop(V1_CPU "/uid_0/job_8");
    put_node_cpu(1);
    add(1, 40);
    put_step("job_8/step_0", 0.5, "0\n");
    assert_int_equal(share_end_look(&key, &end), 0);
    assert_near(end.found.row.energy_j[PACKAGE], 20);
    share_end_claim(&key, &end);
    drop(V1_CPU "/uid_0/job_8");
    put_step("job_7/step_0", 1.5, "0-3\n");
    put_node_cpu(2);
    add(1, 50);
    assert_near(row_of(8, "0").energy_j[PACKAGE], 20);
    assert_near(row_of(7, "0").energy_j[PACKAGE], 40 + 30);
    end_sampler();
    assert_near(read_hour().total.unattributed_j, 0);
    assert_int_equal(read_hour().steps, 2);
}

/* A writer that was killed in a claim delays the others by one interval at most. */
NODE(a_torn_claim_is_passed_over)
{
    const struct share_key key = {config.live_dir, "n1", 9, "0"};
    struct share_found found;
    int file;
    struct share_page *page = node_folder_map(folder, NODE_SHARES, sizeof *page, &file, NULL);

    assert_non_null(page);
    put_node_cpu(0);
    put_step("job_0/none", 0, "");
    add(1, 100);
    page->claims[2] = (struct share_claim){.number = 2, .inode = 9, .job = 9, .step = "0"};
    page->claims[2].energy_j[PACKAGE] = 5;
    page->head.claims = 2;
    add(1, 100);
    assert_int_equal(share_page_look(&key, &found), -1);
    add(1, 100);
    assert_near(row_of(9, "0").energy_j[PACKAGE], 5);
    munmap(page, sizeof *page);
    close(file);
}

#define ENDED 400 /* steps */

/* As many as end when a job array of short steps is cancelled on a big node. */
NODE(all_steps_that_end_in_an_interval_are_claimed)
{
    const struct share_key key = {config.live_dir, "n1", 0, "0"};

    put_node_cpu(0);
    put_step("job_0/none", 0, "");
    add(1, 100);
    for (uint32_t job = 1; job <= ENDED; job++) {
        struct share_end end = {.found.row = {.inode = job, .job = job, .step = "0"}};

        end.found.row.energy_j[PACKAGE] = 0.5;
        share_end_claim(&key, &end);
    }
    add(1, 300);
    end_sampler();
    assert_near(read_hour().total.steps_j, 0.5 * ENDED);
    assert_near(read_hour().total.energy_j, 400);
    assert_int_equal(read_hour().steps, ENDED);
}
