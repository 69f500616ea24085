/* SPDX-License-Identifier: BSD-3-Clause */
/* The shares of steps while they run. */
#include <sys/mman.h>

#include "apapi/live.h"
#include "base/shared_page.h"
#include "node/idle.h"
#include "node/steps.h"
#include "session/live.h"
#include "unit/node_fixture.h"

#define HOUR_FILE "spool/n1.hour"
#define IDLE_FILE "spool/n1.idle"

static const struct share_key *key_of(uint32_t job)
{
    static struct share_key key;

    key = (struct share_key){config.live_dir, "n1", job, "0"};
    return &key;
}

/* Add seconds of 100 J in which no step runs. */
static void rest_for(int seconds)
{
    put_node_cpu(0);
    put_step("job_0/none", 0, "");
    for (int i = 0; i < seconds; i++) {
        add(1, 100);
    }
}

/* Add a second of job 7 on four cores. step_s and node_s are the CPU times so far. */
static void second_of_7(double step_s, double node_s, double package_j)
{
    put_step("job_7/step_0", step_s, "0-3\n");
    put_node_cpu(node_s);
    add(1, package_j);
}

static void add_at(int64_t end_unix_ns, double package_j)
{
    struct node_reading reading = reading_of(1, package_j);

    reading.end_unix_ns = end_unix_ns;
    node_shares_add(shares, &reading);
}

static void empty_accounting(void)
{
    drop("/acct");
    put("/acct/empty", "");
}

/* Two steps run at the same time, after a minute without steps. */
NODE(steps_get_their_part)
{
    rest_for(60);
    put_step("job_7/step_0", 3, "0-3\n");
    put_step("job_8/step_batch", 1, "4,6\n");
    put_node_cpu(4);
    add(1, 140);
    put_step("job_7/step_0", 4, "0-3\n");
    put_node_cpu(6); /* one second is not of a step */
    add(1, 120);
    assert_near(row_of(7, "0").energy_j[PACKAGE], 30 + 10);
    assert_near(row_of(8, "batch").energy_j[PACKAGE], 10);
    assert_near(row_of(7, "0").power_w[PACKAGE], 10);
    assert_near(row_of(7, "0").cores, 4);
    assert_near(row_of(8, "batch").cores, 2);
    assert_int_equal(row_of(7, "0").cpu_ns, 4000000000);
}

/* A node is busy from the start: its idle power is between 0 and its least power. */
NODE(a_busy_node_leaves_shares_open)
{
    struct share_found found;

    second_of_7(0, 0, 100);
    for (int i = 1; i <= 30; i++) {
        put_step("job_7/step_0", 3 * i, "0-3\n");
        put_node_cpu(4 * i);
        add(1, i > 15 && i < 18 ? 40 : 140);
    }
    assert_int_equal(share_page_look(key_of(7), &found), 0);
    assert_near(found.row.energy_j[PACKAGE], 0.75 * (28 * 140 + 80));
    assert_near(found.row.open_s[PACKAGE], 0.75 * 30);
    assert_true(isnan(found.head.idle_w[PACKAGE]));
    assert_near(found.head.least_w[PACKAGE], (8 * 140 + 80) / 10.0);
    assert_true(isnan(found.head.least_w[APAPI_DOMAIN_DRAM]));
}

/* The site's idle power counts until it is measured, unless it is above what the node has drawn. */
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

/* The clock is set back by an hour while the step runs. The step owns its cores all the time. */
TEST_WITH(a_clock_that_is_set_back_takes_no_share, make_root, remove_root)
{
    config.settings[0] = (struct config_setting){"shares", "method", "equal-cores", 1};
    config.setting_count = 1;
    begin_sampler();
    rest_for(1);
    put_step("job_7/step_0", 0, "0-3\n");
    for (int i = 0; i < 3; i++) {
        add_at(clock_unix_ns() + (i == 0 ? 60 : -3600) * NS_PER_S, 100);
    }
    assert_near(row_of(7, "0").energy_j[PACKAGE], 300);
    end_sampler();
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
    assert_near(row_of(12, "3").energy_j[PACKAGE], 50); /* with idle power, not yet known */
    assert_near(row_of(12, "3").cores, 2);
    assert_near(row_of(12, "extern").energy_j[PACKAGE], 0);
}

/* If several slurmds run on a machine, each has its own folder. */
TEST_WITH(only_the_nodes_own_steps_count, make_root, remove_root)
{
    struct cgroups groups;

    put("/sys/fs/cgroup/system.slice/slurmstepd.scope/x", "");
    put("/sys/fs/cgroup/system.slice/n1_slurmstepd.scope/x", "");
    assert_true(cgroups_find(&groups, "n1"));
    assert_contains(groups.steps, "/n1_slurmstepd.scope");
    assert_true(cgroups_find(&groups, "n2"));
    assert_contains(groups.steps, "system.slice/slurmstepd.scope");
}

/* With proctrack/cgroup alone, it is known which steps run, but not what they use. */
NODE(without_cpu_time_energy_is_unattributed)
{
    put("/sys/fs/cgroup/freezer/slurm_n1/uid_0/job_7/step_0/tasks", "");
    add(1, 100);
    assert_near(row_of(7, "0").energy_j[PACKAGE], 0);
    assert_int_equal(row_of(7, "0").flags & (SHARE_ROW_RUNNING | SHARE_ROW_COUNTED),
                     SHARE_ROW_RUNNING);
}

/* Shares of the earlier sampler count, and so does the energy between both samplers. */
NODE(another_sampler_goes_on)
{
    put_step("job_7/step_0", 5, "0\n"); /* it has run before the first reading */
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

/* A requeued job has the same numbers of job and steps again. */
NODE(a_step_that_runs_again_has_a_row_of_its_own)
{
    put_step("job_1/step_0", 0, "0\n");
    add(1, 10);
    put_step("job_7/step_0", 1, "0\n");
    add(1, 100);
    put(V1_CPU "/uid_0/held", ""); /* so that the next folder gets another inode */
    drop(V1_CPU "/uid_0/job_7");
    put_step("job_9/step_0", 0, "0\n");
    add(1, 100);
    assert_int_equal(row_of(7, "0").flags & SHARE_ROW_RUNNING, 0);
    assert_near(row_of(7, "0").energy_j[PACKAGE], 100);
    put_step("job_7/step_0", 1, "0\n");
    add(1, 30);
    assert_near(row_of(7, "0").energy_j[PACKAGE], 30);
}

/* A GPU on the page of a step. */
struct shown {
    const char *name;
    uint32_t slices, slices_all;
};

/* Write the page of a job with GPUs, up to a name of NULL. @return its file; the sampler is dead */
static int put_page(unsigned job, const struct shown *shown)
{
    struct apapi_live_page *page = calloc(1, sizeof *page);
    char name[64];
    int file;

    assert_non_null(page);
    live_page_init(page);
    page->head.job = job;
    strcpy(page->head.node, "n1");
    strcpy(page->head.step, "0");
    for (; shown->name; shown++) {
        struct apapi_live_event *event = &page->names[page->head.event_count++];

        snprintf(event->name, sizeof event->name, "%s", shown->name);
        event->domain = APAPI_DOMAIN_GPU;
        event->slices = shown->slices;
        event->slices_all = shown->slices_all;
    }
    snprintf(name, sizeof name, "/live/n1/1000/%u.0", job);
    put_bytes(name, page, sizeof *page);
    free(page);
    file = open(in_base(name), O_RDWR | O_CLOEXEC);
    assert_true(file >= 0);
    return file;
}

/* Like put_page(), but the sampler lives until the file is closed. */
static int put_live_page(unsigned job, const struct shown *shown)
{
    int file = put_page(job, shown);

    assert_int_equal(shared_page_lock(file), 0);
    return file;
}

/* Live pages show that steps run. Without control groups, it is unknown what the steps use. */
NODE(steps_without_control_groups_are_said)
{
    static const struct shown none[] = {{NULL, 0, 0}};
    int page = put_page(7, none);

    add(1, 100);
    assert_string_equal(said, "");
    assert_int_equal(shared_page_lock(page), 0);
    add(1, 100);
    assert_contains(said, "steps have no control groups");
    close(page);
}

/* The table cannot hold all steps. The energy of the others is unattributed, and nothing breaks. */
NODE(more_steps_than_the_table_holds)
{
    rest_for(1);
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

/* --- claims ----------------------------------------------------------------------------------- */

static struct share_end end;

/* The step's record and the node's own record agree on the time since the last reading. */
NODE(the_end_of_a_step_is_claimed)
{
    rest_for(60);
    second_of_7(4, 4, 140);
    put_step("job_7/step_0", 6, "0-3\n"); /* 10 J for each second of CPU time */
    put_node_cpu(6);
    assert_int_equal(share_end_look(key_of(7), &end), 0);
    assert_near(end.found.row.energy_j[PACKAGE], 60);
    assert_near(end.tail_j[PACKAGE], 20);
    share_end_claim(key_of(7), &end);
    add(1, 125); /* the step's control group is still there */
    drop(V1_CPU "/uid_0/job_7");
    add(1, 100);
    assert_near(row_of(7, "0").energy_j[PACKAGE], 60);
    end_sampler();
    assert_near(read_hour().total.steps_j, 60);
    assert_near(read_hour().total.idle_j + read_hour().total.unattributed_j, 6305);
    assert_near(read_hour().total.energy_j, 6365);
}

NODE(a_short_step_is_claimed_too)
{
    rest_for(1);
    put_step("job_8/step_0", 0.5, "0\n");
    assert_int_equal(share_end_look(key_of(8), &end), -1); /* so far, no step has used anything */
    put_step("job_7/step_0", 1, "0-3\n");
    drop(V1_CPU "/uid_0/job_8");
    put_node_cpu(1);
    add(1, 40);
    put_step("job_8/step_0", 0.5, "0\n");
    assert_int_equal(share_end_look(key_of(8), &end), 0);
    assert_near(end.found.row.energy_j[PACKAGE], 20);
    share_end_claim(key_of(8), &end);
    drop(V1_CPU "/uid_0/job_8");
    second_of_7(1.5, 2, 50);
    assert_near(row_of(8, "0").energy_j[PACKAGE], 20);
    assert_near(row_of(7, "0").energy_j[PACKAGE], 40 + 30);
    end_sampler();
    assert_near(read_hour().total.unattributed_j, 0);
    assert_int_equal(read_hour().steps, 2);
}

/* A writer that was killed while it made a claim delays the others by one interval at most. */
NODE(a_torn_claim_is_passed_over)
{
    struct share_found found;
    int file;
    struct share_page *page = node_folder_map(folder, NODE_SHARES, sizeof *page, &file, NULL);

    assert_non_null(page);
    rest_for(1);
    page->claims[2] = (struct share_claim){.number = 2, .inode = 9, .job = 9, .step = "0"};
    page->claims[2].energy_j[PACKAGE] = 5;
    page->head.claims = 2;
    add(1, 100);
    assert_int_equal(share_page_look(key_of(9), &found), -1);
    add(1, 100);
    assert_near(row_of(9, "0").energy_j[PACKAGE], 5);
    munmap(page, sizeof *page);
    close(file);
}

/* A record has less energy than the step was given. The rest is unattributed. */
NODE(what_a_record_does_not_say_is_given_back)
{
    second_of_7(0, 0, 100);
    second_of_7(1, 1, 100);
    assert_int_equal(share_end_look(key_of(7), &end), 0);
    end.found.row.energy_j[PACKAGE] = 30;
    share_end_claim(key_of(7), &end);
    drop(V1_CPU "/uid_0/job_7");
    add(1, 20);
    assert_near(row_of(7, "0").energy_j[PACKAGE], 30);
    end_sampler();
    assert_near(read_hour().total.steps_j, 30);
    assert_near(read_hour().total.idle_j + read_hour().total.unattributed_j, 190);
}

/* --- hours ------------------------------------------------------------------------------------ */

NODE(an_hour_closes)
{
    struct node_reading reading;
    struct hour hour;

    put_node_cpu(0);
    put_step("job_0/none", 0, "");
    for (int i = 0; i < 60; i++) {
        reading = reading_of(1, 100);
        reading.end_unix_ns = INT64_C(1795350000000000000) + i * INT64_C(1000000000);
        reading.energy_j[APAPI_DOMAIN_NODE] = i % 5 == 0 ? 1000 : 0; /* the meter is slow */
        reading.unseen = i == 3;
        node_shares_add(shares, &reading);
    }
    put_step("job_7/step_0", 3, "0-3\n");
    put_node_cpu(4);
    add_at(INT64_C(1795350060000000000), 140);
    end_sampler();
    hour = read_hour();
    assert_string_equal(hour.node, "n1");
    assert_string_equal(hour.method, "cpu-time");
    assert_near(hour.total.energy_j, 6140);
    assert_near(hour.total.steps_j, 30);
    assert_near(hour.total.unattributed_j, 10);
    assert_near(hour.total.idle_j, 6100);
    assert_near(hour.node_meter.energy_j, 12000);
    assert_near(hour.idle_w, 100);
    assert_near(hour.measured_s, 60);
    assert_int_equal(hour.steps, 1);
    assert_int_equal(hour.gap_total, 1);
    assert_string_equal(hour.gaps[0].reason, "sampler down");
}

/* Set the time of the last sampler's last line. */
static void end_sampler_at(int64_t unix_ns)
{
    const struct timespec at = {unix_ns / NS_PER_S, unix_ns % NS_PER_S}, times[] = {at, at};

    assert_int_equal(utimensat(AT_FDCWD, in_base(IDLE_FILE), times, 0), 0);
}

/* The next sampler writes the last checkpoint, and the gap begins at the checkpoint. */
NODE(a_killed_sampler_loses_a_checkpoint_at_most)
{
    struct node_reading reading;

    add(1, 100);
    while (link(in_base(HOUR_FILE), in_base("kept"))) {
        usleep(1000);
    }
    end_sampler();
    assert_int_not_equal(access(in_base(HOUR_FILE), F_OK), 0); /* the hour is in acct_dir */
    empty_accounting();
    assert_int_equal(rename(in_base("kept"), in_base(HOUR_FILE)), 0);
    begin_sampler();
    end_sampler();
    assert_near(read_hour().total.energy_j, 100);
    empty_accounting();
    reading = reading_of(60, 6000);
    end_sampler_at(reading.end_unix_ns - 100 * NS_PER_S);
    begin_sampler();
    reading.unseen = true;
    node_shares_add(shares, &reading);
    end_sampler();
    assert_int_equal(read_hour().gap_total, 1); /* one gap up to the last reading, and since then */
    assert_near(read_hour().gaps[0].elapsed_s, 100);
}

/* --- lines that wait -------------------------------------------------------------------------- */

#define NOON INT64_C(1795348800000000000) /* 2026-11-22 */
#define HOUR (3600 * NS_PER_S)

struct hours_read {
    unsigned count;
    double energy_j;
    int64_t starts[8];
};

static int take_hour(const struct hour *hour, void *context)
{
    struct hours_read *all = context;

    for (unsigned i = 0; i < all->count; i++) {
        assert_int_not_equal(all->starts[i], hour->start_ns);
    }
    all->starts[all->count++] = hour->start_ns;
    all->energy_j += hour->total.energy_j;
    return 0;
}

static void assert_hours(unsigned count, double energy_j)
{
    struct hours_read all = {0};

    read_hours(take_hour, &all);
    assert_int_equal(all.count, count);
    assert_near(all.energy_j, energy_j);
}

/* Keep acct_dir from being written while two hours pass, and a third one begins. */
static void lose_accounting(void)
{
    drop("/acct");
    put("/acct", "");
    for (int i = 0; i < 3; i++) {
        add_at(NOON + i * HOUR, 100);
    }
    *said = '\0';
    /* the present hour has no end; the thread that writes is heard after it has ended */
    for (int i = 0; i < 6000 && (count_lines(in_base(HOUR_FILE)) < 2 || !*said); i++) {
        usleep(10000);
        add_at(NOON + 2 * HOUR + NS_PER_S, 0);
    }
    assert_int_equal(count_lines(in_base(HOUR_FILE)), 2);
}

/* The hours are written by the same sampler, or by the next one. */
NODE(hours_wait_until_they_can_be_written)
{
    for (int next = 0; next < 2; next++) {
        lose_accounting();
        assert_non_null(strstr(said, "/acct"));
        if (next) {
            end_sampler();
            assert_int_equal(count_lines(in_base(HOUR_FILE)), 3);
        }
        empty_accounting();
        if (next) {
            begin_sampler();
        }
        end_sampler();
        assert_hours(3, 300);
        assert_int_not_equal(access(in_base(HOUR_FILE), F_OK), 0);
        begin_sampler();
    }
}

NODE(a_day_that_cannot_be_written_keeps_no_other_one)
{
    put("/acct/2026-11-22", "");
    for (int i = 10; i <= 13; i++) {
        add_at(NOON + i * HOUR, 100);
    }
    end_sampler();
    for (int i = 0; i < 4; i++) { /* each tries, up to an hour that it cannot write */
        begin_sampler();
        end_sampler();
    }
    assert_hours(2, 200);
    drop("/acct/2026-11-22");
    begin_sampler();
    end_sampler();
    assert_hours(4, 400);
}

NODE(no_two_hours_begin_at_the_same_moment)
{
    add_at(NOON - NS_PER_S, 100);
    add_at(NOON + NS_PER_S / 2, 100);
    add_at(NOON - NS_PER_S / 2, 100); /* the clock was set back */
    add_at(NOON + NS_PER_S / 4, 100);
    add_at(NOON + NS_PER_S, 100);
    end_sampler();
    assert_hours(4, 500);
}

/* --- a boot ----------------------------------------------------------------------------------- */

/* Check the gap after a boot. Counters and the sampler's memory end with the boot; the time of the
 * sampler's last line does not. */
static void assert_gap(int64_t saved_ns, int64_t begin_ns, const char *reason)
{
    struct hour hour;

    empty_accounting();
    write_string(in_base(IDLE_FILE), "");
    end_sampler_at(saved_ns);
    begin_sampler();
    for (int i = 1; i <= 2; i++) {
        add_at(begin_ns + i * NS_PER_S, 100);
    }
    end_sampler();
    hour = read_hour();
    assert_int_equal(hour.gap_total, *reason != '\0');
    assert_string_equal(hour.gap_total ? hour.gaps[0].reason : "", reason);
    if (hour.gap_total) {
        assert_true(hour.gaps[0].elapsed_s > 0 && hour.gaps[0].elapsed_s <= 6000.1);
        assert_near(hour.measured_s, 2);
    }
}

TEST_WITH(a_boot_is_a_gap, make_root, remove_root)
{
    struct timespec now;
    int64_t boot_ns, begin_ns;

    clock_gettime(CLOCK_BOOTTIME, &now);
    boot_ns = clock_unix_ns() - now.tv_sec * NS_PER_S;
    begin_ns = (boot_ns + 3600 * NS_PER_S) / HOUR * HOUR + HOUR / 2; /* both readings in one hour */
    assert_gap(boot_ns - 600 * NS_PER_S, begin_ns, "reboot");
    assert_gap(boot_ns + 1200 * NS_PER_S, begin_ns, "sampler down");
    assert_gap(begin_ns + 60 * NS_PER_S, begin_ns, ""); /* the clock was set back */
}

/* The next sampler begins with the idle power that was extrapolated, until it knows more. */
NODE(extrapolated_idle_power_survives)
{
    struct node_idle idle;
    const uint64_t size = sizeof idle.kept.powers + 16;
    double cpu_s = 0;
    int file;

    put_node_cpu(0);
    put_step("job_7/step_0", 0, "0-3\n");
    for (int i = 0; i < 60; i++) {
        cpu_s += i % 8 / 4 + 1;
        put_step("job_7/step_0", cpu_s, "0-3\n");
        put_node_cpu(cpu_s);
        add(1, 80 + 20 * (i % 8 / 4 + 1));
    }
    end_sampler();
    node_idle_load(&idle, config.spool_dir, "n1", NULL);
    assert_near(idle.idle_w[PACKAGE], 80);
    assert_true(idle.error_w[PACKAGE] > 1 && idle.error_w[PACKAGE] < 3);
    assert_near(idle.kept.least_w[PACKAGE], 108);
    assert_true(isnan(idle.idle_w[APAPI_DOMAIN_DRAM]));
    /* now the file is one that another version has left */
    file = open(in_base(IDLE_FILE), O_WRONLY | O_CLOEXEC);
    assert_true(pwrite(file, &size, sizeof size, 8) == 8 && ftruncate(file, (off_t)size) == 0);
    close(file);
    node_idle_load(&idle, config.spool_dir, "n1", NULL);
    assert_true(isnan(idle.idle_w[PACKAGE]) && isnan(idle.kept.least_w[PACKAGE]));
}

/* A meter that moves every ten seconds has the same idle power, however often it is read. */
TEST_WITH(a_slow_meter_has_its_power, make_root, remove_root)
{
    static struct node_idle idle;
    double energy_j[APAPI_DOMAINS] = {0};

    node_idle_load(&idle, "", "n1", NULL);
    node_idle_interrupt(&idle);
    for (int i = 1; i <= 200; i++) {
        energy_j[APAPI_DOMAIN_NODE] = i % 10 == 0 ? 2000 : 0;
        node_idle_add(&idle, energy_j, NAN, 1);
    }
    assert_near(idle.idle_w[APAPI_DOMAIN_NODE], 200);
}

/* --- GPUs ------------------------------------------------------------------------------------- */

NODE(a_page_shows_gpus_and_slices)
{
    static const struct shown shown[] = {{"nvml:::NVIDIA_A100:device_0:energy", 3, 7},
                                         {"nvml:::NVIDIA_A100:device_2:energy", 0, 0},
                                         {"nvml:::NVIDIA_A100:device_9:energy", 8, 7},
                                         {"nvml:::NVIDIA_A100:device_10:energy", 300, 301},
                                         {"nvml:::NVIDIA_A100:device_99:energy", 1, 7},
                                         {NULL, 0, 0}};
    struct node_gpus gpus;
    int page = put_live_page(7, shown);

    node_gpus_of(config.live_dir, "n1", 7, "0", &gpus);
    assert_int_equal(gpus.bits, 1 | 4 | 1 << 9 | 1 << 10);
    assert_int_equal(gpus.slices[0], 3);
    assert_int_equal(gpus.slices_all[0], 7);
    for (int i = 1; i < NODE_GPUS; i++) { /* whole GPUs, and sizes that no GPU can have */
        assert_int_equal(gpus.slices[i], 0);
        assert_int_equal(gpus.slices_all[i], 0);
    }
    node_gpus_of(config.live_dir, "n1", 8, "0", &gpus);
    assert_int_equal(gpus.bits, 0);
    close(page);
}

static void assert_given(unsigned job, double energy_j)
{
    assert_near(row_of(job, "0").energy_j[APAPI_DOMAIN_GPU], energy_j);
    assert_true(row_of(job, "0").flags & SHARE_ROW_SLICES);
}

/* Of 7 slices, one step has 3 and another step has 1. The energy of the other slices is idle. */
NODE(energy_goes_by_slices)
{
    static const struct shown three[] = {{"nvml:::A100:device_0:energy", 3, 7}, {NULL, 0, 0}};
    static const struct shown one[] = {{"nvml:::A100:device_0:energy", 1, 7}, {NULL, 0, 0}};
    struct node_reading reading = reading_of(1, NAN);
    int pages[2];

    put_step("job_7/step_0", 0, "0\n");
    put_step("job_8/step_0", 0, "1\n");
    pages[0] = put_live_page(7, three);
    pages[1] = put_live_page(8, one);
    reading.gpus = 1;
    reading.energy_j[APAPI_DOMAIN_GPU] = reading.gpu_energy_j[0] = 70;
    node_shares_add(shares, &reading);
    assert_given(7, 30);
    assert_given(8, 10);
    close(pages[0]);
    close(pages[1]);
}
