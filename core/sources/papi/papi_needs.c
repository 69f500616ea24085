/* SPDX-License-Identifier: BSD-3-Clause */
#include "sources/papi/papi_needs.h"

#include <errno.h>
#include <limits.h>
#include <papi.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/count_of.h"
#include "base/kernel_file.h"
#include "sources/papi/papi_msr.h"

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
#if PAPI_VERSION < PAPI_VERSION_NUMBER(7, 1, 0, 0)
    {"nvml", {NULL}, "before 7.1 it takes one GPU's values for another's"},
#endif
};

static bool exists(const char *absolute)
{
    char path[PATH_MAX];

    kernel_file_path(path, sizeof path, absolute);
    return access(path, F_OK) == 0;
}

static bool is_met(const struct need *need)
{
    for (size_t i = 0; i < NEEDS_MAX && need->any_of[i]; i++) {
        if (exists(need->any_of[i])) {
            return true;
        }
    }
    return false;
}

int papi_needs_check(const char *component, struct apapi_error *err)
{
    if (strcmp(component, "rapl") == 0) {
        return papi_msrs_check(err);
    }
    for (size_t i = 0; i < COUNT_OF(needs); i++) {
        if (strcmp(needs[i].component, component) == 0 && !is_met(&needs[i])) {
            return apapi_fail(err, ENODEV, "PAPI's %s: %s", component, needs[i].missing);
        }
    }
    return 0;
}
