/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apapi/live.h"
#include "base/clock.h"
#include "config/config.h"
#include "node/cgroups.h"
#include "node/folder.h"
#include "node/rest.h"
#include "node/share_claims.h"
#include "node/share_end.h"
#include "node/share_page.h"
#include "node/shares.h"
#include "store/hours.h"
#include "unit/unit.h"

#define PACKAGE APAPI_DOMAIN_PACKAGE
#define V1_CPU "/sys/fs/cgroup/cpuacct/slurm_n1"
#define V1_SET "/sys/fs/cgroup/cpuset/slurm_n1"
#define V2 "/sys/fs/cgroup/system.slice/slurmstepd.scope"

static char top[64];
static struct config config;
static char said[1024];

__attribute__((format(printf, 2, 3))) static void say(int priority, const char *format, ...)
{
    va_list list;

    (void)priority;
    va_start(list, format);
    vsnprintf(said, sizeof said, format, list);
    va_end(list);
}

static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
}

/* Below the test's root. */
static void put(const char *name, const char *text)
{
    char path[512];
    FILE *file;

    snprintf(path, sizeof path, "%s%s", top, name);
    make_folders(path);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int erase(const char *path, const struct stat *status, int flag, struct FTW *where)
{
    (void)status;
    (void)flag;
    (void)where;
    return remove(path);
}

static void drop(const char *name)
{
    char path[512];

    snprintf(path, sizeof path, "%s%s", top, name);
    nftw(path, erase, 16, FTW_DEPTH | FTW_PHYS);
}

/* A step in version 1: CPU time in seconds. */
static void put_step(const char *step, double cpu_s, const char *cores)
{
    char name[256], text[64];

    snprintf(name, sizeof name, V1_CPU "/uid_0/%s/cpuacct.usage", step);
    snprintf(text, sizeof text, "%.0f\n", cpu_s * 1e9);
    put(name, text);
    snprintf(name, sizeof name, V1_SET "/uid_0/%s/cpuset.cpus", step);
    put(name, cores);
}

static void put_node_cpu(double cpu_s)
{
    char text[64];

    snprintf(text, sizeof text, "%.0f\n", cpu_s * 1e9);
    put("/sys/fs/cgroup/cpuacct/cpuacct.usage", text);
}

static int make_root(void **state)
{
    static char acct[128], spool[128], live[128];

    (void)state;
    strcpy(top, "/dev/shm/apapi-shares-XXXXXX");
    assert_non_null(mkdtemp(top));
    setenv("APAPI_SYSROOT", top, 1);
    setenv("SLURM_CONF", "/nonexistent", 1);
    put("/sys/fs/cgroup/empty", "");
    put("/live/n1/empty", "");
    put("/spool/empty", "");
    put("/acct/empty", "");
    config_defaults(&config);
    snprintf(acct, sizeof acct, "%s/acct", top);
    snprintf(spool, sizeof spool, "%s/spool", top);
    snprintf(live, sizeof live, "%s/live", top);
    config.acct_dir = acct;
    config.spool_dir = spool;
    config.live_dir = live;
    *said = '\0';
    return 0;
}

static int remove_root(void **state)
{
    (void)state;
    drop("");
    config_clear(&config);
    return 0;
}

static int open_folder(void)
{
    char path[128];

    snprintf(path, sizeof path, "%s/live/n1", top);
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static struct node_shares *shares_of(int folder)
{
    const struct node_shares_settings settings = {
        .config = &config, .node = "n1", .folder = folder, .say = say};
    struct node_shares *shares = node_shares_new(&settings);

    assert_non_null(shares);
    return shares;
}

/* An interval of `seconds`, right after the one before. */
static struct node_reading reading_of(double seconds, double package_j)
{
    static uint64_t now_ns = 1000000000;
    struct node_reading reading = {.begin_ns = now_ns};

    now_ns += (uint64_t)(seconds * 1e9);
    reading.end_ns = now_ns;
    reading.end_unix_ns = clock_unix_ns();
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        reading.energy_j[d] = NAN;
    }
    for (int i = 0; i < NODE_GPUS; i++) {
        reading.gpu_energy_j[i] = NAN;
    }
    reading.energy_j[PACKAGE] = package_j;
    return reading;
}

static void add(struct node_shares *shares, double seconds, double package_j)
{
    const struct node_reading reading = reading_of(seconds, package_j);

    node_shares_add(shares, &reading);
}

static struct share_row row_of(uint32_t job, const char *step)
{
    const struct share_asked asked = {config.live_dir, "n1", job, step};
    struct share_found found;

    assert_int_equal(share_page_look(&asked, &found), 0);
    return found.row;
}

static void assert_near(double value, double wanted)
{
    if (!(fabs(value - wanted) <= 1e-6 * (1 + fabs(wanted)))) {
        fail_msg("%g instead of %g", value, wanted);
    }
}

/* Two steps side by side, after a minute without any. */
static void steps_get_their_part(void **state)
{
    int folder = open_folder();
    struct node_shares *shares = shares_of(folder);

    (void)state;
    put_node_cpu(0);
    put_step("job_0/none", 0, "");
    for (int i = 0; i < 60; i++) {
        add(shares, 1, 100);
    }
    put_step("job_7/step_0", 3, "0-3\n");
    put_step("job_8/step_batch", 1, "4,6\n");
    put_node_cpu(4);
    add(shares, 1, 140);
    put_step("job_7/step_0", 4, "0-3\n");
    put_node_cpu(6); /* one second of it is of no step */
    add(shares, 1, 120);
    assert_near(row_of(7, "0").energy_j[PACKAGE], 30 + 10);
    assert_near(row_of(8, "batch").energy_j[PACKAGE], 10);
    assert_near(row_of(7, "0").power_w[PACKAGE], 10);
    assert_near(row_of(7, "0").cores, 4);
    assert_near(row_of(8, "batch").cores, 2);
    assert_int_equal(row_of(7, "0").cpu_ns, 4000000000);
    node_shares_free(shares);
    close(folder);
}

static void version_2_is_read(void **state)
{
    int folder = open_folder();
    struct node_shares *shares = shares_of(folder);

    (void)state;
    put(V2 "/empty", "");
    put("/sys/fs/cgroup/cpu.stat", "usage_usec 0\nuser_usec 0\n");
    add(shares, 1, 100);
    put(V2 "/job_12/step_3/cpu.stat", "usage_usec 2000000\nuser_usec 1\n");
    put(V2 "/job_12/step_3/cpuset.cpus.effective", "0-1\n");
    put(V2 "/job_12/step_extern/cpu.stat", "usage_usec 0\n");
    put("/sys/fs/cgroup/cpu.stat", "usage_usec 4000000\n");
    add(shares, 1, 100);
    assert_near(row_of(12, "3").energy_j[PACKAGE], 50); /* idle power is not known yet */
    assert_near(row_of(12, "3").cores, 2);
    assert_near(row_of(12, "extern").energy_j[PACKAGE], 0);
    node_shares_free(shares);
    close(folder);
}

/* Several slurmds on a machine have folders of their own. */
static void only_the_nodes_own_steps_count(void **state)
{
    struct cgroups groups;

    (void)state;
    put("/sys/fs/cgroup/system.slice/slurmstepd.scope/x", "");
    put("/sys/fs/cgroup/system.slice/n1_slurmstepd.scope/x", "");
    assert_true(cgroups_find(&groups, "n1"));
    assert_non_null(strstr(groups.steps, "/n1_slurmstepd.scope"));
    assert_true(cgroups_find(&groups, "n2"));
    assert_non_null(strstr(groups.steps, "system.slice/slurmstepd.scope"));
}

/* proctrack/cgroup alone: who runs is known, and nothing else. */
static void without_cpu_time_energy_is_unattributed(void **state)
{
    int folder = open_folder();
    struct node_shares *shares = shares_of(folder);

    (void)state;
    put("/sys/fs/cgroup/freezer/slurm_n1/uid_0/job_7/step_0/tasks", "");
    add(shares, 1, 100);
    assert_near(row_of(7, "0").energy_j[PACKAGE], 0);
    assert_int_equal(row_of(7, "0").flags & (SHARE_ROW_RUNNING | SHARE_ROW_COUNTED),
                     SHARE_ROW_RUNNING);
    node_shares_free(shares);
    close(folder);
}

/* What was given before counts on, and what was used in between counts too. */
static void another_sampler_goes_on(void **state)
{
    int folder = open_folder();
    struct node_shares *shares = shares_of(folder);

    (void)state;
    put_step("job_7/step_0", 5, "0\n"); /* has run before anybody looked */
    add(shares, 1, 100);
    assert_near(row_of(7, "0").energy_j[PACKAGE], 0);
    put_step("job_7/step_0", 6, "0\n");
    add(shares, 1, 100);
    assert_near(row_of(7, "0").energy_j[PACKAGE], 100);
    node_shares_free(shares);
    shares = shares_of(folder);
    put_step("job_7/step_0", 7, "0\n");
    add(shares, 1, 50);
    assert_near(row_of(7, "0").energy_j[PACKAGE], 150);
    node_shares_free(shares);
    close(folder);
}

/* A job that was requeued has the same numbers. */
static void a_step_that_runs_again_has_a_row_of_its_own(void **state)
{
    int folder = open_folder();
    struct node_shares *shares = shares_of(folder);

    (void)state;
    put_step("job_1/step_0", 0, "0\n");
    add(shares, 1, 10);
    put_step("job_7/step_0", 1, "0\n");
    add(shares, 1, 100);
    put(V1_CPU "/uid_0/held", ""); /* so that the next folder has another number */
    drop(V1_CPU "/uid_0/job_7");
    put_step("job_9/step_0", 0, "0\n");
    add(shares, 1, 100);
    assert_int_equal(row_of(7, "0").flags & SHARE_ROW_RUNNING, 0);
    assert_near(row_of(7, "0").energy_j[PACKAGE], 100);
    put_step("job_7/step_0", 1, "0\n");
    add(shares, 1, 30);
    assert_near(row_of(7, "0").energy_j[PACKAGE], 30);
    node_shares_free(shares);
    close(folder);
}

/* Live pages show that steps run; without control groups it is not known what they use. */
static void steps_without_control_groups_are_said(void **state)
{
    struct apapi_live_head head = {.magic = "", .writer = (uint32_t)getpid()};
    char path[256];
    FILE *page;
    int folder = open_folder();
    struct node_shares *shares = shares_of(folder);

    (void)state;
    put("/live/n1/1000/7.0", "");
    snprintf(path, sizeof path, "%s/live/n1/1000/7.0", top);
    page = fopen(path, "w");
    assert_non_null(page);
    memcpy(head.magic, APAPI_LIVE_MAGIC, sizeof head.magic);
    head.state = APAPI_LIVE_RUNNING;
    fwrite(&head, sizeof head, 1, page);
    fclose(page);
    add(shares, 1, 100);
    assert_non_null(strstr(said, "steps have no control groups"));
    node_shares_free(shares);
    close(folder);
}

static int keep_hour(const struct hour *hour, void *context)
{
    struct hour *kept = context;

    assert_true(isnan(kept->total.energy_j));
    *kept = *hour;
    return 0;
}

static struct hour read_hour(void)
{
    struct hour hour = {.total = {.energy_j = NAN}};
    const struct hours_sink sink = {.hour = keep_hour, .context = &hour};
    const struct apapi_scan_filter all = {.nodes = NULL};
    struct apapi_scan_counts counts;
    struct apapi_error err;

    assert_int_equal(hours_read(config.acct_dir, &all, &sink, &counts, &err), 0);
    assert_int_equal(counts.skipped, 0);
    return hour;
}

static void an_hour_closes(void **state)
{
    int folder = open_folder();
    struct node_shares *shares = shares_of(folder);
    struct node_reading reading;
    struct hour hour;

    (void)state;
    put_node_cpu(0);
    put_step("job_0/none", 0, "");
    for (int i = 0; i < 60; i++) {
        reading = reading_of(1, 100);
        reading.end_unix_ns = INT64_C(1795350000000000000) + i * INT64_C(1000000000);
        reading.energy_j[APAPI_DOMAIN_NODE] = i % 5 == 0 ? 1000 : 0; /* a slow meter */
        reading.gap = i == 3;
        node_shares_add(shares, &reading);
    }
    put_step("job_7/step_0", 3, "0-3\n");
    put_node_cpu(4);
    reading = reading_of(1, 140);
    reading.end_unix_ns = INT64_C(1795350060000000000);
    node_shares_add(shares, &reading);
    node_shares_free(shares);
    close(folder);
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

static unsigned count_lines(const char *path)
{
    FILE *file = fopen(path, "r");
    unsigned count = 0;

    for (int c = file ? fgetc(file) : EOF; c != EOF; c = fgetc(file)) {
        count += c == '\n';
    }
    if (file) {
        fclose(file);
    }
    return count;
}

static void wait_for_lines(const char *path, unsigned count)
{
    for (int i = 0; i < 6000 && count_lines(path) < count; i++) {
        usleep(10000);
    }
    assert_int_equal(count_lines(path), count);
}

static void a_day_adds_up_its_hours(void **state)
{
    const int64_t hour_ns = INT64_C(3600000000000), last_ns = INT64_C(1795388400000000000);
    int folder = open_folder();
    struct node_shares *shares = shares_of(folder);
    const unsigned lines[] = {0, 1, 3, 3}; /* another thread writes them */
    char path[256], line[4096] = "", found[4096] = "";
    FILE *file;

    (void)state;
    snprintf(path, sizeof path, "%s/acct/2026-11-22/n1.hours", top);
    put_step("job_0/none", 0, "");
    for (int i = -1; i <= 2; i++) { /* 22 h, 23 h, 0 h, 0 h */
        struct node_reading reading = reading_of(1, 100);

        reading.end_unix_ns = last_ns + (i < 1 ? i : 1) * hour_ns + 5 * INT64_C(1000000000) + i;
        node_shares_add(shares, &reading);
        wait_for_lines(path, lines[i + 1]);
    }
    node_shares_free(shares);
    close(folder);
    file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        strcpy(found, line);
    }
    fclose(file);
    assert_non_null(strstr(found, "\"type\":\"day\""));
    assert_non_null(strstr(found, "\"total\":{\"energy_j\":200.0,"));
}

static void idle_power_survives(void **state)
{
    int folder = open_folder();
    struct node_shares *shares = shares_of(folder);
    struct node_rest rest;

    (void)state;
    put_step("job_0/none", 0, "");
    for (int i = 0; i < 60; i++) {
        add(shares, 1, 100);
    }
    node_shares_free(shares);
    close(folder);
    node_rest_load(&rest, config.spool_dir, "n1");
    assert_near(rest.idle_w[PACKAGE], 100);
    assert_near(node_rest_w(&rest), 100);
    assert_true(isnan(rest.idle_w[APAPI_DOMAIN_DRAM]));
    put("/spool/n1.idle", "rubbish");
    node_rest_load(&rest, config.spool_dir, "n1");
    assert_true(isnan(node_rest_w(&rest)));
}

/* A meter that moves every ten seconds has the same idle power, whatever is read in between. */
static void a_slow_meter_has_its_power(void **state)
{
    static struct node_rest rest;
    double energy_j[APAPI_DOMAINS] = {0};

    (void)state;
    node_rest_load(&rest, "", "n1");
    node_rest_busy(&rest);
    for (int i = 1; i <= 200; i++) {
        energy_j[APAPI_DOMAIN_NODE] = i % 10 == 0 ? 2000 : 0;
        node_rest_add(&rest, energy_j, NAN, 1);
    }
    assert_near(rest.idle_w[APAPI_DOMAIN_NODE], 200);
}

/* What a record says of the time since the last reading is what the node's own record says. */
static void the_end_of_a_step_is_claimed(void **state)
{
    const struct share_asked asked = {config.live_dir, "n1", 7, "0"};
    int folder = open_folder();
    struct node_shares *shares = shares_of(folder);
    struct share_end end;

    (void)state;
    put_node_cpu(0);
    put_step("job_0/none", 0, "");
    for (int i = 0; i < 60; i++) {
        add(shares, 1, 100);
    }
    put_step("job_7/step_0", 4, "0-3\n");
    put_node_cpu(4);
    add(shares, 1, 140);
    put_step("job_7/step_0", 6, "0-3\n"); /* 10 J for each second of CPU time */
    put_node_cpu(6);
    assert_int_equal(share_end_look(&asked, &end), 0);
    assert_near(end.found.row.energy_j[PACKAGE], 60);
    assert_near(end.tail_j[PACKAGE], 20);
    share_end_claim(&asked, &end);
    add(shares, 1, 125); /* its control group is still there */
    drop(V1_CPU "/uid_0/job_7");
    add(shares, 1, 100);
    assert_near(row_of(7, "0").energy_j[PACKAGE], 60);
    node_shares_free(shares);
    close(folder);
    assert_near(read_hour().total.steps_j, 60);
    assert_near(read_hour().total.idle_j + read_hour().total.unattributed_j, 6305);
    assert_near(read_hour().total.energy_j, 6365);
}

static void a_short_step_is_claimed_too(void **state)
{
    const struct share_asked asked = {config.live_dir, "n1", 8, "0"};
    int folder = open_folder();
    struct node_shares *shares = shares_of(folder);
    struct share_end end;

    (void)state;
    put_node_cpu(0);
    put_step("job_0/none", 0, "");
    add(shares, 1, 100);
    put_step("job_8/step_0", 0.5, "0\n");
    assert_int_equal(share_end_look(&asked, &end), -1); /* nobody has used anything yet */
    put_step("job_7/step_0", 1, "0-3\n");
    drop(V1_CPU "/uid_0/job_8");
    put_node_cpu(1);
    add(shares, 1, 40);
    put_step("job_8/step_0", 0.5, "0\n");
    assert_int_equal(share_end_look(&asked, &end), 0);
    assert_near(end.found.row.energy_j[PACKAGE], 20);
    share_end_claim(&asked, &end);
    drop(V1_CPU "/uid_0/job_8");
    put_step("job_7/step_0", 1.5, "0-3\n");
    put_node_cpu(2);
    add(shares, 1, 50);
    assert_near(row_of(8, "0").energy_j[PACKAGE], 20);
    assert_near(row_of(7, "0").energy_j[PACKAGE], 40 + 30);
    node_shares_free(shares);
    close(folder);
    assert_near(read_hour().total.unattributed_j, 0);
    assert_int_equal(read_hour().steps, 2);
}

/* A writer that was killed in a claim holds nobody up for longer than one interval. */
static void a_torn_claim_is_passed_over(void **state)
{
    static struct share_page page;
    static struct share_row rows[SHARE_PAGE_ROWS];
    struct share_claims claims = {.taken = 0};
    const struct node_reading reading = reading_of(1, 0);

    (void)state;
    share_page_init(&page);
    page.head.claims = 2;
    page.claims[2].number = 2;
    page.claims[2].energy_j[PACKAGE] = 5;
    share_claims_take(&claims, &page, rows, &reading);
    assert_false(claims.any);
    share_claims_take(&claims, &page, rows, &reading);
    assert_true(claims.any);
    assert_near(claims.owed_j[PACKAGE], 5);
    assert_int_equal(claims.taken, 2);
}

/* More steps than the table holds: theirs is unattributed, and nothing breaks. */
static void more_steps_than_the_table_holds(void **state)
{
    int folder = open_folder();
    struct node_shares *shares = shares_of(folder);

    (void)state;
    put_node_cpu(0);
    put_step("job_0/none", 0, "");
    add(shares, 1, 100);
    for (int i = 1; i <= SHARE_PAGE_ROWS + 4; i++) {
        char step[64];

        snprintf(step, sizeof step, "job_%d/step_0", i);
        put_step(step, 1, "0\n");
    }
    put_node_cpu(SHARE_PAGE_ROWS + 4);
    add(shares, 1, 100);
    node_shares_free(shares);
    close(folder);
    assert_near(read_hour().total.energy_j, 200);
    assert_near(read_hour().total.steps_j, 100.0 * SHARE_PAGE_ROWS / (SHARE_PAGE_ROWS + 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(steps_get_their_part, make_root, remove_root),
        cmocka_unit_test_setup_teardown(version_2_is_read, make_root, remove_root),
        cmocka_unit_test_setup_teardown(only_the_nodes_own_steps_count, make_root, remove_root),
        cmocka_unit_test_setup_teardown(without_cpu_time_energy_is_unattributed, make_root,
                                        remove_root),
        cmocka_unit_test_setup_teardown(another_sampler_goes_on, make_root, remove_root),
        cmocka_unit_test_setup_teardown(a_step_that_runs_again_has_a_row_of_its_own, make_root,
                                        remove_root),
        cmocka_unit_test_setup_teardown(steps_without_control_groups_are_said, make_root,
                                        remove_root),
        cmocka_unit_test_setup_teardown(an_hour_closes, make_root, remove_root),
        cmocka_unit_test_setup_teardown(a_day_adds_up_its_hours, make_root, remove_root),
        cmocka_unit_test_setup_teardown(idle_power_survives, make_root, remove_root),
        cmocka_unit_test_setup_teardown(a_slow_meter_has_its_power, make_root, remove_root),
        cmocka_unit_test_setup_teardown(the_end_of_a_step_is_claimed, make_root, remove_root),
        cmocka_unit_test_setup_teardown(a_short_step_is_claimed_too, make_root, remove_root),
        cmocka_unit_test_setup_teardown(a_torn_claim_is_passed_over, make_root, remove_root),
        cmocka_unit_test_setup_teardown(more_steps_than_the_table_holds, make_root, remove_root),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
