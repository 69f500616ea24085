/* SPDX-License-Identifier: BSD-3-Clause */
#include "sources/papi/papi_msr.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/count_of.h"
#include "base/kernel_file.h"

#define RAPL "rapl:::"
#define POWER_INFO_INTEL 0x614

static const struct msr {
    const char *prefix; /* of the event's name */
    off_t intel, amd;   /* 0: AMD has no such register */
} msrs_of_events[] = {
    {"rapl:::PACKAGE_ENERGY:PACKAGE", 0x611, 0xc001029b},
    {"rapl:::DRAM_ENERGY:PACKAGE", 0x619, 0},
    {"rapl:::PP0_ENERGY:PACKAGE", 0x639, 0xc001029a},
    {"rapl:::PP1_ENERGY:PACKAGE", 0x641, 0},
    {"rapl:::PSYS_ENERGY:PACKAGE", 0x64d, 0},
    {"rapl:::PACKAGE_ENERGY_CNT:PACKAGE", 0x611, 0xc001029b},
    {"rapl:::DRAM_ENERGY_CNT:PACKAGE", 0x619, 0},
    {"rapl:::PP0_ENERGY_CNT:PACKAGE", 0x639, 0xc001029a},
    {"rapl:::PP1_ENERGY_CNT:PACKAGE", 0x641, 0},
    {"rapl:::PSYS_ENERGY_CNT:PACKAGE", 0x64d, 0},
    {"rapl:::THERMAL_SPEC", POWER_INFO_INTEL, 0},
    {"rapl:::MINIMUM_POWER", POWER_INFO_INTEL, 0},
    {"rapl:::MAXIMUM_POWER", POWER_INFO_INTEL, 0},
    {"rapl:::MAXIMUM_TIME_WINDOW", POWER_INFO_INTEL, 0},
};

#define UNIT_INTEL 0x606
#define UNIT_AMD 0xc0010299

void papi_first_cpus(int cpus[PAPI_MSR_PACKAGES_MAX])
{
    for (int i = 0; i < PAPI_MSR_PACKAGES_MAX; i++) {
        cpus[i] = -1;
    }
    for (int cpu = 0;; cpu++) {
        char path[PATH_MAX];
        uint64_t package;
        int dir;

        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology", cpu);
        dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir < 0) {
            return;
        }
        if (kernel_file_read_u64_at(dir, "physical_package_id", &package) == 0 &&
            package < PAPI_MSR_PACKAGES_MAX && cpus[package] < 0) {
            cpus[package] = cpu;
        }
        close(dir);
    }
}

void papi_msrs_init(struct papi_msrs *msrs)
{
    msrs->amd = false;
    for (size_t i = 0; i < PAPI_MSR_PACKAGES_MAX; i++) {
        msrs->fds[i] = -1;
    }
}

/* @return 0 or the errno. */
static int read_msr(int fd, off_t number)
{
    uint64_t value;
    ssize_t got = pread(fd, &value, sizeof value, number);

    return got == sizeof value ? 0 : got < 0 ? errno : EIO;
}

/* In the order of PAPI. */
static int open_cpu(int cpu)
{
    char path[64];
    int fd;

    snprintf(path, sizeof path, "/dev/cpu/%d/msr_safe", cpu);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        snprintf(path, sizeof path, "/dev/cpu/%d/msr", cpu);
        fd = open(path, O_RDONLY | O_CLOEXEC);
    }
    return fd;
}

void papi_msrs_open(struct papi_msrs *msrs)
{
    int cpus[PAPI_MSR_PACKAGES_MAX];
    bool intel = false;

    papi_first_cpus(cpus);
    for (int i = 0; i < PAPI_MSR_PACKAGES_MAX; i++) {
        msrs->fds[i] = cpus[i] < 0 ? -1 : open_cpu(cpus[i]);
        intel |= msrs->fds[i] >= 0 && read_msr(msrs->fds[i], UNIT_INTEL) == 0;
    }
    msrs->amd = !intel;
}

int papi_msrs_check(struct apapi_error *err)
{
    int fd = open_cpu(0), error;

    if (fd < 0) {
        return 0;
    }
    error = read_msr(fd, UNIT_INTEL) ? read_msr(fd, UNIT_AMD) : 0;
    close(fd);
    return error ? apapi_fail(err, EIO,
                              "PAPI's rapl: the processor's energy registers cannot be read: %s",
                              strerror(error))
                 : 0;
}

static bool can_read(const struct papi_msrs *msrs, const struct msr *msr, const char *event)
{
    off_t number = msrs->amd ? msr->amd : msr->intel;
    const char *package_text = strstr(event + strlen(RAPL), ":PACKAGE");
    unsigned package;

    return number && package_text && sscanf(package_text, ":PACKAGE%u", &package) == 1 &&
           package < PAPI_MSR_PACKAGES_MAX && msrs->fds[package] >= 0 &&
           read_msr(msrs->fds[package], number) == 0;
}

bool papi_msrs_can_read(const struct papi_msrs *msrs, const char *event)
{
    for (size_t i = 0; i < COUNT_OF(msrs_of_events); i++) {
        const struct msr *msr = &msrs_of_events[i];

        if (strncmp(event, msr->prefix, strlen(msr->prefix)) == 0) {
            return can_read(msrs, msr, event);
        }
    }
    return true;
}

void papi_msrs_close(struct papi_msrs *msrs)
{
    for (size_t i = 0; i < PAPI_MSR_PACKAGES_MAX; i++) {
        if (msrs->fds[i] >= 0) {
            close(msrs->fds[i]);
        }
    }
    papi_msrs_init(msrs);
}
