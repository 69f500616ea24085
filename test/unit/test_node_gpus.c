/* SPDX-License-Identifier: BSD-3-Clause */
/* Which GPUs, and which slices of them, a step has: by its live page, and what it is given for
 * them. */
#include <fcntl.h>
#include <ftw.h>

#include "apapi/live.h"
#include "config/config.h"
#include "node/share_page.h"
#include "node/shares.h"
#include "unit/unit.h"

static char top[64];
static struct config config;

__attribute__((format(printf, 2, 3))) static void say(int priority, const char *format, ...)
{
    (void)priority;
    (void)format;
}

static void write_file(const char *name, const void *data, size_t size)
{
    char path[512];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", top, name);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    fclose(file);
}

/* A GPU of a step's page. */
struct shown {
    const char *name;
    uint32_t slices, slices_all;
};

/* `job` has these GPUs; a name of NULL ends them. */
static void put_page(unsigned job, const struct shown *shown)
{
    struct apapi_live_page *page = calloc(1, sizeof *page);
    char name[64];

    assert_non_null(page);
    memcpy(page->head.magic, APAPI_LIVE_MAGIC, sizeof page->head.magic);
    for (; shown->name; shown++) {
        struct apapi_live_event *event = &page->names[page->head.event_count++];

        snprintf(event->name, sizeof event->name, "%s", shown->name);
        event->domain = APAPI_DOMAIN_GPU;
        event->slices = shown->slices;
        event->slices_all = shown->slices_all;
    }
    snprintf(name, sizeof name, "live/n1/1000/%u.0", job);
    write_file(name, page, sizeof *page);
    free(page);
}

static void put_step(unsigned job)
{
    char name[128];

    snprintf(name, sizeof name,
             "sys/fs/cgroup/cpuacct/slurm_n1/uid_1000/job_%u/step_0/cpuacct.usage", job);
    write_file(name, "0\n", 2);
}

static void make_root(void)
{
    static char spool[96], acct[96], live[96];

    strcpy(top, "/dev/shm/apapi-gpus-XXXXXX");
    assert_non_null(mkdtemp(top));
    setenv("APAPI_SYSROOT", top, 1);
    setenv("SLURM_CONF", "/nonexistent", 1);
    write_file("live/n1/empty", "", 0);
    write_file("spool/empty", "", 0);
    write_file("acct/empty", "", 0);
    config_defaults(&config);
    snprintf(acct, sizeof acct, "%s/acct", top);
    snprintf(spool, sizeof spool, "%s/spool", top);
    snprintf(live, sizeof live, "%s/live", top);
    config.acct_dir = acct;
    config.spool_dir = spool;
    config.live_dir = live;
}

static int erase(const char *path, const struct stat *status, int flag, struct FTW *where)
{
    (void)status;
    (void)flag;
    (void)where;
    return remove(path);
}

static void remove_root(void)
{
    nftw(top, erase, 16, FTW_DEPTH | FTW_PHYS);
    config_clear(&config);
}

static int open_folder(void)
{
    char path[96];

    snprintf(path, sizeof path, "%s/live/n1", top);
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

TEST_WITH(a_page_shows_gpus_and_slices, make_root, remove_root)
{
    static const struct shown shown[] = {{"nvml:::NVIDIA_A100:device_0:energy", 3, 7},
                                         {"nvml:::NVIDIA_A100:device_2:energy", 0, 0},
                                         {"nvml:::NVIDIA_A100:device_9:energy", 8, 7},
                                         {"nvml:::NVIDIA_A100:device_10:energy", 300, 301},
                                         {"nvml:::NVIDIA_A100:device_99:energy", 1, 7},
                                         {NULL, 0, 0}};
    struct node_gpus gpus;
    int folder = open_folder();

    put_page(7, shown);
    node_gpus_of(folder, 7, "0", &gpus);
    assert_int_equal(gpus.bits, 1 | 4 | 1 << 9 | 1 << 10);
    assert_int_equal(gpus.slices[0], 3);
    assert_int_equal(gpus.slices_all[0], 7);
    for (int i = 1; i < NODE_GPUS; i++) { /* whole ones, and sizes that no GPU can have */
        assert_int_equal(gpus.slices[i], 0);
        assert_int_equal(gpus.slices_all[i], 0);
    }
    node_gpus_of(folder, 8, "0", &gpus);
    assert_int_equal(gpus.bits, 0);
    close(folder);
}

static void add_reading(struct node_shares *shares, double gpu_j)
{
    static uint64_t now_ns = 1000000000;
    struct node_reading reading = {.begin_ns = now_ns, .end_ns = now_ns + 1000000000, .gpus = 1};

    now_ns = reading.end_ns;
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        reading.energy_j[d] = NAN;
    }
    for (int i = 0; i < NODE_GPUS; i++) {
        reading.gpu_energy_j[i] = NAN;
    }
    reading.energy_j[APAPI_DOMAIN_GPU] = reading.gpu_energy_j[0] = gpu_j;
    node_shares_add(shares, &reading);
}

static void assert_given(unsigned job, double energy_j)
{
    const struct share_key key = {config.live_dir, "n1", job, "0"};
    struct share_found found;

    assert_int_equal(share_page_look(&key, &found), 0);
    assert_true(fabs(found.row.energy_j[APAPI_DOMAIN_GPU] - energy_j) < 1e-9);
    assert_true(found.row.flags & SHARE_ROW_SLICES);
}

/* Of 7 slices, one step has 3 and another one 1; what nobody has is idle. */
TEST_WITH(energy_goes_by_slices, make_root, remove_root)
{
    static const struct shown three[] = {{"nvml:::A100:device_0:energy", 3, 7}, {NULL, 0, 0}};
    static const struct shown one[] = {{"nvml:::A100:device_0:energy", 1, 7}, {NULL, 0, 0}};
    int folder = open_folder();
    const struct node_shares_settings settings = {
        .config = &config, .node = "n1", .folder = folder, .say = say};
    struct node_shares *shares = node_shares_new(&settings);

    assert_non_null(shares);
    put_step(7);
    put_step(8);
    put_page(7, three);
    put_page(8, one);
    add_reading(shares, 70);
    assert_given(7, 30);
    assert_given(8, 10);
    node_shares_free(shares);
    shares = node_shares_new(&settings); /* another node sampler goes on */
    assert_non_null(shares);
    add_reading(shares, 7);
    assert_given(7, 33);
    assert_given(8, 11);
    node_shares_free(shares);
    close(folder);
}
