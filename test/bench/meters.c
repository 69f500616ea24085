/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/meters.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apapi/catalog.h"
#include "base/array.h"
#include "bench/bench.h"

#define RANGE_UJ UINT64_C(262143328850)
#define ENERGY_UJ UINT64_C(123456789012)

/* Each package has these zones; the package itself comes first. */
static const char *const children[] = {"dram", "core", "uncore"};
#define ZONES_PER_PACKAGE (1 + COUNT_OF(children))

static void make_root(struct powercap_tree *tree)
{
    snprintf(tree->root, sizeof tree->root, "%s/apapi-bench-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(tree->root)) {
        bench_die("no temporary folder");
    }
    setenv("APAPI_SYSROOT", tree->root, 1);
}

static void name_zone(size_t index, char *folder, size_t folder_size, char *name, size_t name_size)
{
    size_t package = index / ZONES_PER_PACKAGE, child = index % ZONES_PER_PACKAGE;

    if (child == 0) {
        snprintf(folder, folder_size, "intel-rapl:%zu", package);
        snprintf(name, name_size, "package-%zu", package);
    } else {
        snprintf(folder, folder_size, "intel-rapl:%zu:%zu", package, child - 1);
        snprintf(name, name_size, "%s", children[child - 1]);
    }
}

static int open_energy(const struct powercap_tree *tree, const char *folder)
{
    char path[256];
    int fd;

    snprintf(path, sizeof path, "%s/sys/class/powercap/%s/energy_uj", tree->root, folder);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        bench_die("a file that was just made cannot be opened");
    }
    return fd;
}

void bench_meters_create(struct bench_meters *meters, size_t count)
{
    meters->count = count < METERS_MAX ? count : METERS_MAX;
    make_root(&meters->tree);
    for (size_t i = 0; i < meters->count; i++) {
        char folder[64], name[64];

        name_zone(i, folder, sizeof folder, name, sizeof name);
        powercap_tree_zone(&meters->tree, folder, name, RANGE_UJ);
        powercap_tree_energy(&meters->tree, folder, ENERGY_UJ + i);
        meters->fds[i] = open_energy(&meters->tree, folder);
    }
}

void bench_meters_read(const struct bench_meters *meters)
{
    char text[METER_TEXT_SIZE];

    for (size_t i = 0; i < meters->count; i++) {
        if (pread(meters->fds[i], text, sizeof text, 0) <= 0) {
            bench_die("a bare read failed");
        }
    }
}

void bench_meters_open(const struct bench_meters *meters, struct component *component,
                       uint64_t interval_ns)
{
    const struct component_settings settings = {.order = "sysfs", .interval_ns = interval_ns};
    struct apapi_reader *reader = apapi_catalog_open("rapl", settings.order, &component->reason);

    component_begin(component, "rapl", &settings);
    if (!reader || component_adopt(component, reader) || reader->count != meters->count) {
        bench_die("the files do not open as a component");
    }
}

void bench_meters_destroy(struct bench_meters *meters)
{
    for (size_t i = 0; i < meters->count; i++) {
        close(meters->fds[i]);
    }
    powercap_tree_destroy(&meters->tree);
}
