/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cray's power management counters, /sys/cray/pm_counters: "123456 J", newer ones with a time. The
 * node's controller writes all files together, raw_scan_hz times a second, and counts that in
 * `freshness`. `generation` counts changes of the power cap, `startup` restarts of the controller,
 * after which the energies restart, too.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/kernel_file.h"
#include "sources/sysfs/sysfs_family.h"

#define USUAL_SCAN_HZ 10
#define STALE_SCANS 10 /* scans without a new value: the controller has stopped */
#define TRIES 3
/* Offset between counters of different starts: no plausible increment is so large. */
#define LIFE_SHIFT 48

static const struct sysfs_quantity joules = {
    .suffix = "J", .unit = "J", .scale = 1, .kind = APAPI_KIND_ENERGY, .accumulates = true};
static const struct sysfs_quantity watts = {
    .suffix = "W", .unit = "W", .scale = 1, .kind = APAPI_KIND_POWER};
/* Not a power that is drawn. */
static const struct sysfs_quantity limit = {
    .suffix = "W", .unit = "W", .scale = 1, .kind = APAPI_KIND_COUNT};

#define PART 1 /* rank: if there is a sum, its parts are not added */
#define ENERGY(of, as, what, ...)                                                                  \
    {                                                                                              \
        .file = of "_energy", .name = "PM_ENERGY:" as, .text = "energy of " what,                  \
        .quantity = &joules, __VA_ARGS__                                                           \
    }
#define POWER(of, as, what, ...)                                                                   \
    {                                                                                              \
        .file = of "_power", .name = "PM_POWER:" as, .text = "power of " what, .quantity = &watts, \
        __VA_ARGS__                                                                                \
    }
#define LIMIT(of, as, what)                                                                        \
    {                                                                                              \
        .file = (of), .name = "PM_POWER_CAP:" as, .text = "power limit of " what ", 0: none",      \
        .quantity = &limit                                                                         \
    }

/* Names as in Cray's own PAPI component. On nodes without accelerators their files contain 0. */
static const struct sysfs_row cray_rows[] = {
    {.file = "energy", "PM_ENERGY:NODE", "energy of the node", &joules, APAPI_DOMAIN_NODE},
    ENERGY("cpu", "CPU", "all CPUs", .domain = APAPI_DOMAIN_PACKAGE),
    ENERGY("cpu#", "CPU#", "CPU #", .domain = APAPI_DOMAIN_PACKAGE, .rank = PART),
    ENERGY("memory", "MEMORY", "the memory", .domain = APAPI_DOMAIN_DRAM),
    ENERGY("accel", "ACC", "all accelerators", .domain = APAPI_DOMAIN_GPU, .zero_is_absent = true),
    ENERGY("accel#", "ACC#", "accelerator #", .domain = APAPI_DOMAIN_GPU, .rank = PART,
           .zero_is_absent = true),
    {.file = "power", "PM_POWER:NODE", "power of the node", &watts, APAPI_DOMAIN_NODE},
    POWER("cpu", "CPU", "all CPUs", .domain = APAPI_DOMAIN_PACKAGE),
    POWER("cpu#", "CPU#", "CPU #", .domain = APAPI_DOMAIN_PACKAGE, .rank = PART),
    POWER("memory", "MEMORY", "the memory", .domain = APAPI_DOMAIN_DRAM),
    POWER("accel", "ACC", "all accelerators", .domain = APAPI_DOMAIN_GPU, .zero_is_absent = true),
    POWER("accel#", "ACC#", "accelerator #", .domain = APAPI_DOMAIN_GPU, .rank = PART,
          .zero_is_absent = true),
    LIMIT("power_cap", "NODE", "the node"),
    LIMIT("accel_power_cap", "ACC", "all accelerators"),
    LIMIT("accel#_power_cap", "ACC#", "accelerator #"),
    {0},
};

/* The counters that show whether values belong together and are new. */
enum { FRESHNESS, GENERATION, STARTUP, STAMPS };

struct watch {
    int fds[STAMPS]; /* -1: no such file */
    uint64_t freshness;
    uint64_t moved_ns; /* last change of freshness (CLOCK_MONOTONIC) */
    uint64_t stale_ns;
    uint64_t startup;
    uint64_t lives; /* restarts of the controller since open() */
};

/* @return 0 or the errno. */
static int read_stamps(const struct watch *watch, uint64_t stamps[STAMPS])
{
    for (int i = 0; i < STAMPS; i++) {
        int error;

        stamps[i] = 0;
        error = watch->fds[i] < 0 ? 0 : kernel_file_read_value(watch->fds[i], "", &stamps[i]);
        if (error) {
            return error;
        }
    }
    return 0;
}

/* Read values of the same scan. @return 0 or the errno, EAGAIN if that failed. */
static int read_together(const struct sysfs_reader *reader, struct apapi_reading *readings,
                         uint64_t stamps[STAMPS])
{
    const struct watch *watch = reader->state;
    int error = read_stamps(watch, stamps);

    for (int i = 0; i < TRIES && !error; i++) {
        uint64_t after[STAMPS];

        sysfs_read_files(reader, readings);
        error = read_stamps(watch, after);
        if (!error && memcmp(stamps, after, sizeof after) == 0) {
            return 0;
        }
        memcpy(stamps, after, sizeof after);
    }
    return error ? error : EAGAIN;
}

/* @return 0; ESTALE if the controller has stopped. */
static int check_freshness(struct watch *watch, const uint64_t stamps[STAMPS])
{
    uint64_t at_ns = clock_monotonic_ns();

    if (stamps[STARTUP] != watch->startup) {
        watch->startup = stamps[STARTUP];
        watch->lives++;
    }
    if (watch->fds[FRESHNESS] < 0 || stamps[FRESHNESS] != watch->freshness) {
        watch->freshness = stamps[FRESHNESS];
        watch->moved_ns = at_ns;
    }
    return at_ns - watch->moved_ns > watch->stale_ns ? ESTALE : 0;
}

static void read_counters(struct sysfs_reader *reader, struct apapi_reading *readings)
{
    struct watch *watch = reader->state;
    uint64_t stamps[STAMPS];
    int error = read_together(reader, readings, stamps);

    if (!error) {
        error = check_freshness(watch, stamps);
    }
    for (size_t i = 0; i < reader->base.count; i++) {
        struct apapi_reading *reading = &readings[i];

        if (error) {
            reading->error = error;
        } else if (!reading->error && reader->events[i].accumulates) {
            reading->error = reading->raw >> LIFE_SHIFT ? ERANGE : 0;
            reading->raw += watch->lives << LIFE_SHIFT;
        }
    }
}

static void sysfs_cray_end(struct sysfs_reader *reader)
{
    struct watch *watch = reader->state;

    for (int i = 0; i < STAMPS; i++) {
        if (watch->fds[i] >= 0) {
            close(watch->fds[i]);
        }
    }
    free(watch);
    reader->state = NULL;
}

static uint64_t read_scan_hz(int dir)
{
    int fd = openat(dir, "raw_scan_hz", O_RDONLY | O_CLOEXEC);
    uint64_t hz = USUAL_SCAN_HZ;

    if (fd >= 0) {
        if (kernel_file_read_value(fd, "", &hz) || hz == 0 || hz > NS_PER_S) {
            hz = USUAL_SCAN_HZ;
        }
        close(fd);
    }
    return hz;
}

static int sysfs_cray_begin(struct sysfs_reader *reader, int dir, struct apapi_error *err)
{
    static const char *const files[STAMPS] = {"freshness", "generation", "startup"};
    uint64_t scan_ns = NS_PER_S / read_scan_hz(dir), stamps[STAMPS];
    struct watch *watch = calloc(1, sizeof *watch);
    int error = 0;

    if (!watch) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    for (int i = 0; i < STAMPS; i++) {
        watch->fds[i] = openat(dir, files[i], O_RDONLY | O_CLOEXEC);
        error = watch->fds[i] < 0 && errno != ENOENT ? errno : error;
    }
    watch->stale_ns = STALE_SCANS * scan_ns;
    watch->moved_ns = clock_monotonic_ns();
    if (read_stamps(watch, stamps) == 0) {
        watch->freshness = stamps[FRESHNESS];
        watch->startup = stamps[STARTUP];
    }
    for (size_t i = 0; i < reader->base.count; i++) {
        reader->events[i].update_ns = scan_ns;
    }
    reader->state = watch;
    return error ? apapi_fail(err, error, "%s: %s", reader->family->folder, strerror(error)) : 0;
}

const struct sysfs_family sysfs_cray_pm = {
    .component = "cray_pm",
    .folder = "/sys/cray/pm_counters",
    .detail = "sysfs pm_counters",
    .nothing = "counter of energy or power",
    .rows = cray_rows,
    .begin = sysfs_cray_begin,
    .read = read_counters,
    .end = sysfs_cray_end,
};
