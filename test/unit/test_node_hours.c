/* SPDX-License-Identifier: BSD-3-Clause */
/* The node's own record, and its idle power. */
#include "node/hours.h"
#include "unit/node_fixture.h"

NODE(an_hour_closes)
{
    struct node_reading reading;
    struct hour hour;

    put_node_cpu(0);
    put_step("job_0/none", 0, "");
    for (int i = 0; i < 60; i++) {
        reading = reading_of(1, 100);
        reading.end_unix_ns = INT64_C(1795350000000000000) + i * INT64_C(1000000000);
        reading.energy_j[APAPI_DOMAIN_NODE] = i % 5 == 0 ? 1000 : 0; /* a slow meter */
        reading.unseen = i == 3;
        node_shares_add(shares, &reading);
    }
    put_step("job_7/step_0", 3, "0-3\n");
    put_node_cpu(4);
    reading = reading_of(1, 140);
    reading.end_unix_ns = INT64_C(1795350060000000000);
    node_shares_add(shares, &reading);
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

/* Counters and the memory of the last sampler end with the boot; the time of its last line does
 * not. */
static void assert_gap(int64_t saved_ns, int64_t begin_ns, const char *reason)
{
    const struct timespec times[] = {
        {.tv_nsec = UTIME_OMIT}, {.tv_sec = saved_ns / NS_PER_S, .tv_nsec = saved_ns % NS_PER_S}};
    struct node_reading reading;
    struct hour hour;
    char path[128];

    drop("/acct");
    put("/spool/n1.idle", "");
    put("/acct/empty", "");
    snprintf(path, sizeof path, "%s/spool/n1.idle", top);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    begin_sampler();
    for (int i = 1; i <= 2; i++) {
        reading = reading_of(1, 100);
        reading.end_unix_ns = begin_ns + i * NS_PER_S;
        node_shares_add(shares, &reading);
    }
    end_sampler();
    hour = read_hour();
    assert_int_equal(hour.gap_total, *reason != '\0');
    assert_string_equal(hour.gap_total ? hour.gaps[0].reason : "", reason);
    if (hour.gap_total) {
        assert_true(hour.gaps[0].elapsed_s > 0 && hour.gaps[0].elapsed_s <= 4200.1);
        assert_near(hour.measured_s, 2);
    }
}

TEST_WITH(a_boot_is_a_gap, make_root, remove_root)
{
    struct timespec now;
    int64_t boot_ns, begin_ns;

    clock_gettime(CLOCK_BOOTTIME, &now);
    boot_ns = clock_unix_ns() - now.tv_sec * NS_PER_S;
    begin_ns = boot_ns + 3600 * NS_PER_S;
    assert_gap(boot_ns - 600 * NS_PER_S, begin_ns, "reboot");
    assert_gap(boot_ns + 1200 * NS_PER_S, begin_ns, "sampler down");
    assert_gap(begin_ns + 60 * NS_PER_S, begin_ns, ""); /* the clock was set */
}

NODE(a_day_has_a_line_for_each_hour)
{
    const int64_t hour_ns = INT64_C(3600000000000), last_ns = INT64_C(1795388400000000000);
    const unsigned lines[] = {0, 1, 2, 2}; /* another thread writes them */
    char path[256], line[4096] = "", found[4096] = "";
    FILE *file;

    snprintf(path, sizeof path, "%s/acct/2026-11-22/n1.hours", top);
    put_step("job_0/none", 0, "");
    for (int i = -1; i <= 2; i++) { /* 22 h, 23 h, 0 h, 0 h */
        struct node_reading reading = reading_of(1, 100);

        reading.end_unix_ns = last_ns + (i < 1 ? i : 1) * hour_ns + 5 * INT64_C(1000000000) + i;
        node_shares_add(shares, &reading);
        wait_for_lines(path, lines[i + 1]);
    }
    end_sampler();
    file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        strcpy(found, line);
    }
    fclose(file);
    assert_non_null(strstr(found, "\"type\":\"hour\""));
    assert_non_null(strstr(found, "\"total\":{\"energy_j\":100.0,"));
}

/* The idle power that a busy node has shown is the next sampler's, until that knows more. */
NODE(extrapolated_idle_power_survives)
{
    struct node_idle idle;
    char path[256];
    double cpu_s = 0;
    FILE *file;
    long size;

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
    assert_near(idle.least_w[PACKAGE], 108);
    assert_true(isnan(idle.idle_w[APAPI_DOMAIN_DRAM]));
    /* The file of an older version: it has no more than percentiles. */
    snprintf(path, sizeof path, "%s/spool/n1.idle", top);
    size = (long)sizeof idle.powers + 16;
    file = fopen(path, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, 8, SEEK_SET), 0);
    assert_int_equal(fwrite(&(uint64_t){(uint64_t)size}, 8, 1, file), 1);
    fclose(file);
    assert_int_equal(truncate(path, size), 0);
    node_idle_load(&idle, config.spool_dir, "n1", NULL);
    assert_true(isnan(idle.idle_w[PACKAGE]) && isnan(idle.least_w[PACKAGE]));
}

/* A meter that moves every ten seconds has the same idle power, whatever is read in between. */
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
