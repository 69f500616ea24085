/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIT_NODE_FIXTURE_H
#define UNIT_NODE_FIXTURE_H
/* A node whose control groups, folders and readings are made by the test. */
#include <fcntl.h>

#include "base/clock.h"
#include "config/config.h"
#include "node/share_page.h"
#include "node/shares.h"
#include "record/hour.h"
#include "unit/near.h"
#include "unit/temporary.h"

#define PACKAGE APAPI_DOMAIN_PACKAGE
#define V1_CPU "/sys/fs/cgroup/cpuacct/slurm_n1"
#define V1_SET "/sys/fs/cgroup/cpuset/slurm_n1"
#define V2 "/sys/fs/cgroup/system.slice/slurmstepd.scope"

static struct config config;
static char said[1024];

__attribute__((format(printf, 2, 3))) static inline void say(int priority, const char *format, ...)
{
    va_list list;

    (void)priority;
    va_start(list, format);
    vsnprintf(said, sizeof said, format, list);
    va_end(list);
}

static inline void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
}

/* Write a file below the test's root. */
static inline void put_bytes(const char *name, const void *bytes, size_t size)
{
    char path[512];
    int file;

    snprintf(path, sizeof path, "%s%s", base, name);
    file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0 && errno == ENOENT) {
        make_folders(path);
        file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    }
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, size), (int)size);
    if (lseek(file, 0, SEEK_END) > (off_t)size) { /* to truncate each time would take too long */
        assert_int_equal(ftruncate(file, (off_t)size), 0);
    }
    close(file);
}

static inline void put(const char *name, const char *text)
{
    put_bytes(name, text, strlen(text));
}

static inline void drop(const char *name)
{
    remove_folder(in_base(name));
}

/* Set the state of a step in control groups of version 1: its CPU time [s] and its cores. */
static inline void put_step(const char *step, double cpu_s, const char *cores)
{
    char name[256], text[64];

    snprintf(name, sizeof name, V1_CPU "/uid_0/%s/cpuacct.usage", step);
    snprintf(text, sizeof text, "%.0f\n", cpu_s * 1e9);
    put(name, text);
    snprintf(name, sizeof name, V1_SET "/uid_0/%s/cpuset.cpus", step);
    put(name, cores);
}

static inline void put_node_cpu(double cpu_s)
{
    char text[64];

    snprintf(text, sizeof text, "%.0f\n", cpu_s * 1e9);
    put("/sys/fs/cgroup/cpuacct/cpuacct.usage", text);
}

static inline void make_root(void)
{
    static char acct[256], spool[256], live[256];

    make_base_below("/dev/shm");
    setenv("APAPI_SYSROOT", base, 1);
    setenv("SLURM_CONF", "/nonexistent", 1);
    put("/sys/fs/cgroup/empty", "");
    put("/live/n1/empty", "");
    put("/spool/empty", "");
    put("/acct/empty", "");
    config_defaults(&config);
    config.acct_dir = strcpy(acct, in_base("acct"));
    config.spool_dir = strcpy(spool, in_base("spool"));
    config.live_dir = strcpy(live, in_base("live"));
    *said = '\0';
}

static inline void remove_root(void)
{
    remove_base();
    config_clear(&config);
}

static int folder;                 /* folder of the node */
static struct node_shares *shares; /* of the running sampler; NULL: it has ended */

static inline void begin_sampler(void)
{
    struct node_shares_settings settings = {.config = &config, .node = "n1", .say = say};

    settings.folder = folder = open(in_base("live/n1"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    shares = node_shares_new(&settings);
    assert_non_null(shares);
}

/* End the sampler, which writes its hour. */
static inline void end_sampler(void)
{
    node_shares_free(shares);
    shares = NULL;
    close(folder);
}

static inline void make_node(void)
{
    make_root();
    begin_sampler();
}

static inline void remove_node(void)
{
    if (shares) {
        end_sampler();
    }
    remove_root();
}

/* A test with a running node sampler. */
#define NODE(name) TEST_WITH(name, make_node, remove_node)

/* @return a reading of the next interval of `seconds`. All are in one hour, of 2100-01-01. */
static inline struct node_reading reading_of(double seconds, double package_j)
{
    static uint64_t now_ns = 1000000000;
    struct node_reading reading = {.begin_ns = now_ns};

    now_ns += (uint64_t)(seconds * 1e9);
    reading.end_ns = now_ns;
    reading.end_unix_ns = INT64_C(4102488000) * NS_PER_S + (int64_t)now_ns;
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        reading.energy_j[d] = NAN;
    }
    for (int i = 0; i < NODE_GPUS; i++) {
        reading.gpu_energy_j[i] = NAN;
    }
    reading.energy_j[PACKAGE] = package_j;
    return reading;
}

static inline void add(double seconds, double package_j)
{
    const struct node_reading reading = reading_of(seconds, package_j);

    node_shares_add(shares, &reading);
}

static inline struct share_row row_of(uint32_t job, const char *step)
{
    const struct share_key key = {config.live_dir, "n1", job, step};
    struct share_found found;

    assert_int_equal(share_page_look(&key, &found), 0);
    return found.row;
}

static inline int keep_hour(const struct hour *hour, void *context)
{
    struct hour *kept = context;

    assert_true(isnan(kept->total.energy_j));
    *kept = *hour;
    return 0;
}

static inline void read_hours(int (*take)(const struct hour *hour, void *context), void *context)
{
    const struct apapi_scan_sink sink = {.context = context};
    const struct apapi_scan_filter all = {.nodes = NULL};

    assert_int_equal(hours_read(config.acct_dir, &all, &sink, take, &why), 0);
}

static inline struct hour read_hour(void)
{
    struct hour hour = {.total = {.energy_j = NAN}};

    read_hours(keep_hour, &hour);
    return hour;
}

static inline unsigned count_lines(const char *path)
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

#endif
