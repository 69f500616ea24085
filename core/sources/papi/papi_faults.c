/* SPDX-License-Identifier: BSD-3-Clause */
#include "sources/papi/papi_faults.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/kernel_file.h"
#include "sources/sources.h"

/* --- events ----------------------------------------------------------------------------------- */

#define RAPL_RANGE_J 65536.0 /* the smallest range of a RAPL counter: 32 bits of 15.3 uJ */
#define RAPL "rapl:::"

/* Units of PAPI's components and of the rules below. */
static const struct unit {
    const char *papi;
    enum apapi_kind kind;
    bool accumulates;
    const char *unit;
    double scale;
} units[] = {
    {"nJ", APAPI_KIND_ENERGY, true, "J", 1e-9},
    {"uJ", APAPI_KIND_ENERGY, true, "J", 1e-6},
    {"mJ", APAPI_KIND_ENERGY, true, "J", 1e-3},
    {"J", APAPI_KIND_ENERGY, true, "J", 1},
    {"2^-32 J", APAPI_KIND_ENERGY, true, "J", 0x1p-32},
    {"uW", APAPI_KIND_POWER, false, "W", 1e-6},
    {"mW", APAPI_KIND_POWER, false, "W", 1e-3},
    {"W", APAPI_KIND_POWER, false, "W", 1},
    {"W limit", APAPI_KIND_COUNT, false, "W", 1}, /* not a power that is drawn */
    {"s", APAPI_KIND_COUNT, false, "s", 1},
    {"mC", APAPI_KIND_TEMPERATURE, false, "C", 1e-3},
    {"C", APAPI_KIND_TEMPERATURE, false, "C", 1},
    {"degrees C", APAPI_KIND_TEMPERATURE, false, "C", 1},
    {"Hz", APAPI_KIND_FREQUENCY, false, "Hz", 1},
    {"kHz", APAPI_KIND_FREQUENCY, false, "Hz", 1e3},
    {"MHz", APAPI_KIND_FREQUENCY, false, "Hz", 1e6},
    {"%", APAPI_KIND_UTILIZATION, false, "%", 1},
    {"m%", APAPI_KIND_UTILIZATION, false, "%", 1e-3},
    {"uV", APAPI_KIND_COUNT, false, "V", 1e-6},
    {"mV", APAPI_KIND_COUNT, false, "V", 1e-3},
    {"uA", APAPI_KIND_COUNT, false, "A", 1e-6},
    {"mA", APAPI_KIND_COUNT, false, "A", 1e-3},
    {"RPM", APAPI_KIND_COUNT, false, "rpm", 1},
    {"mRPM", APAPI_KIND_COUNT, false, "rpm", 1e-3},
    {"B", APAPI_KIND_COUNT, false, "B", 1},
    {"B since", APAPI_KIND_COUNT, true, "B", 1},
    {"4 B since", APAPI_KIND_COUNT, true, "B", 4},
    {"#", APAPI_KIND_COUNT, false, "", 1},
    {"# since", APAPI_KIND_COUNT, true, "", 1},
};

#define AS_PAPI NULL /* use PAPI's unit */

/* Gaps and errors of PAPI. The first matching row counts. */
static const struct rule {
    const char *pattern;
    const char *unit;
    enum apapi_domain domain;
    double guard_j;
} rules[] = {
    {"rapl:::PACKAGE_ENERGY:*", AS_PAPI, APAPI_DOMAIN_PACKAGE, RAPL_RANGE_J},
    {"rapl:::DRAM_ENERGY:*", AS_PAPI, APAPI_DOMAIN_DRAM, RAPL_RANGE_J},
    {"rapl:::PP0_ENERGY:*", AS_PAPI, APAPI_DOMAIN_CORE, RAPL_RANGE_J},
    {"rapl:::PP1_ENERGY:*", AS_PAPI, APAPI_DOMAIN_UNCORE, RAPL_RANGE_J},
    {"rapl:::PSYS_ENERGY:*", AS_PAPI, APAPI_DOMAIN_PSYS, RAPL_RANGE_J},
    {"rapl:::*_ENERGY_CNT:*", "# since", APAPI_DOMAIN_NONE, 0},
    {"rapl:::*_CNT:*", "#", APAPI_DOMAIN_NONE, 0},
    {"rapl:::THERMAL_SPEC:*", "W limit", APAPI_DOMAIN_NONE, 0},
    {"rapl:::M*IMUM_POWER:*", "W limit", APAPI_DOMAIN_NONE, 0},
    {"rapl:::*", AS_PAPI, APAPI_DOMAIN_NONE, 0},
    {"*rapl::RAPL_ENERGY_PKG*", "2^-32 J", APAPI_DOMAIN_PACKAGE, 0},
    {"*rapl::RAPL_ENERGY_DRAM*", "2^-32 J", APAPI_DOMAIN_DRAM, 0},
    {"*rapl::RAPL_ENERGY_CORES*", "2^-32 J", APAPI_DOMAIN_CORE, 0},
    {"*rapl::RAPL_ENERGY_GPU*", "2^-32 J", APAPI_DOMAIN_UNCORE, 0},
    {"*rapl::RAPL_ENERGY_PSYS*", "2^-32 J", APAPI_DOMAIN_PSYS, 0},
    {"coretemp:::*:temp*", "mC", APAPI_DOMAIN_NONE, 0}, /* PAPI says "degrees C" */
    {"coretemp:::*:in*", "mV", APAPI_DOMAIN_NONE, 0},   /* PAPI says "V" */
    {"coretemp:::*:fan*", "RPM", APAPI_DOMAIN_NONE, 0},
    /* libsensors' numbers times 1000 */
    {"lmsensors:::*.temp[0-9]*_input", "mC", APAPI_DOMAIN_NONE, 0},
    {"lmsensors:::*.in[0-9]*_input", "mV", APAPI_DOMAIN_NONE, 0},
    {"lmsensors:::*.curr[0-9]*_input", "mA", APAPI_DOMAIN_NONE, 0},
    {"lmsensors:::*.fan[0-9]*_input", "mRPM", APAPI_DOMAIN_NONE, 0},
    {"lmsensors:::*.power[0-9]*_input", "mW", APAPI_DOMAIN_NONE, 0},
    {"lmsensors:::*.power[0-9]*_average", "mW", APAPI_DOMAIN_NONE, 0},
    {"lmsensors:::*.energy[0-9]*_input", "mJ", APAPI_DOMAIN_NONE, 0},
    {"lmsensors:::*", "#", APAPI_DOMAIN_NONE, 0},
    {"maxeler:::*_POWER:*", "uW", APAPI_DOMAIN_NONE, 0},
    {"maxeler:::*_TEMPERATURE:*", "mC", APAPI_DOMAIN_NONE, 0},
    {"maxeler:::COMPUTE_UTIL:*", "m%", APAPI_DOMAIN_NONE, 0},
    {"micknc:::POWER_*", "uW", APAPI_DOMAIN_NONE, 0},
    {"micknc:::TEMP_*", "C", APAPI_DOMAIN_NONE, 0},
    {"micknc:::FREQ_*", "kHz", APAPI_DOMAIN_NONE, 0},
    {"micknc:::UTIL:*", "%", APAPI_DOMAIN_NONE, 0},
    {"micknc:::*", "#", APAPI_DOMAIN_NONE, 0},
    {"net:::*:byte*", "B since", APAPI_DOMAIN_NONE, 0}, /* PAPI 7.2 cuts off the last letter */
    {"infiniband:::*port_*_data*", "4 B since", APAPI_DOMAIN_NONE, 0},
};

static const struct rule *find_rule(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        if (fnmatch(rules[i].pattern, name, 0) == 0) {
            return &rules[i];
        }
    }
    return NULL;
}

bool papi_event_is_named_only(const char *name)
{
    const struct rule *rule = find_rule(name);

    return rule && rule->domain == APAPI_DOMAIN_NONE && strncmp(name, RAPL, strlen(RAPL)) == 0;
}

static const struct unit *find_unit(const char *unit)
{
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        if (strcmp(units[i].papi, unit) == 0) {
            return &units[i];
        }
    }
    return NULL;
}

bool papi_event_describe(const PAPI_event_info_t *info, const char *name, struct apapi_event *event)
{
    const struct rule *rule = find_rule(name);
    const struct unit *unit = find_unit(rule && rule->unit ? rule->unit : info->units);

    memset(event, 0, sizeof *event);
    if (strlen(name) >= sizeof event->name ||
        (papi_event_is_named_only(name) && !wanted_events_name(name))) {
        return false;
    }
    strcpy(event->name, name);
    event->type = info->data_type == PAPI_DATATYPE_UINT64  ? APAPI_TYPE_UINT64
                  : info->data_type == PAPI_DATATYPE_FP64  ? APAPI_TYPE_FP64
                  : info->data_type == PAPI_DATATYPE_BIT64 ? APAPI_TYPE_BIT64
                                                           : APAPI_TYPE_INT64;
    if (rule) {
        bool of_one_core = rule->domain == APAPI_DOMAIN_CORE && kernel_cpu_is_amd();

        event->domain = of_one_core ? APAPI_DOMAIN_NONE : rule->domain;
        event->guard_j = of_one_core ? 0 : rule->guard_j;
    }
    event->kind = unit ? unit->kind : APAPI_KIND_COUNT;
    event->accumulates = unit ? unit->accumulates : info->timescope != PAPI_TIMESCOPE_POINT;
    event->scale = unit ? unit->scale : 1;
    snprintf(event->unit, sizeof event->unit, "%.*s", (int)sizeof event->unit - 1,
             unit ? unit->unit : info->units);
    return true;
}

/* --- rapl ------------------------------------------------------------------------------------- */

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

/* Open the registers of a CPU: msr_safe first, as PAPI does. */
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

/* Check that PAPI will not call exit() when it starts. Denied access is harmless. */
static int check_registers(struct apapi_error *err)
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

bool papi_msrs_can_read(const struct papi_msrs *msrs, const char *event)
{
    const char *package_text = strstr(event + strlen(RAPL), ":PACKAGE");
    unsigned package;

    for (size_t i = 0; i < COUNT_OF(msrs_of_events); i++) {
        const struct msr *msr = &msrs_of_events[i];
        off_t number = msrs->amd ? msr->amd : msr->intel;

        if (strncmp(event, msr->prefix, strlen(msr->prefix)) == 0) {
            return number && package_text && sscanf(package_text, ":PACKAGE%u", &package) == 1 &&
                   package < PAPI_MSR_PACKAGES_MAX && msrs->fds[package] >= 0 &&
                   read_msr(msrs->fds[package], number) == 0;
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

/* --- needs ------------------------------------------------------------------------------------ */

#define PMU "/sys/bus/event_source/devices/power"
#define NEEDS_MAX 2

static const struct need {
    const char *component;
    const char *any_of[NEEDS_MAX]; /* none: the component must not be used */
    const char *missing;
} needs[] = {
    {"perf_event_uncore", {PMU}, "the kernel has no PMU 'power'"},
    /* A virtual machine may have the PMU without registers: opening it causes a kernel warning. */
    {"perf_event_uncore",
     {PMU "/events/energy-pkg", PMU "/events/energy-cores"},
     "the PMU 'power' has no package counter (a virtual machine?)"},
};

static bool is_met(const struct need *need)
{
    char path[PATH_MAX];

    for (size_t i = 0; i < NEEDS_MAX && need->any_of[i]; i++) {
        kernel_file_path(path, sizeof path, need->any_of[i]);
        if (access(path, F_OK) == 0) {
            return true;
        }
    }
    return false;
}

int papi_check_needs(const char *component, struct apapi_error *err)
{
    if (strcmp(component, "rapl") == 0) {
        return check_registers(err);
    }
    for (size_t i = 0; i < COUNT_OF(needs); i++) {
        if (strcmp(needs[i].component, component) == 0 && !is_met(&needs[i])) {
            return apapi_fail(err, ENODEV, "PAPI's %s: %s", component, needs[i].missing);
        }
    }
    return 0;
}
