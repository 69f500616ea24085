/* SPDX-License-Identifier: BSD-3-Clause */
#include "ms_common/resource.h"

#include <string.h>

#include "ms_common/interface.h"

#define RESOURCE(flag, name, component, tag, prefix)                                               \
    {                                                                                              \
        flag, name, component, sizeof(struct tag), offsetof(struct tag, prefix##_time_wait),       \
            offsetof(struct tag, prefix##_check_for_exit_interrupts),                              \
            offsetof(struct tag, prefix##_time_runtime)                                            \
    }

static const struct {
    int flag;
    const char *name;
    const char *component;
    size_t size, wait, checks, runtime;
} resources[RESOURCES] = {
    [RESOURCE_CPU] = RESOURCE(MS_CPU, "CPU", "rapl", ms_cpu, msr),
    [RESOURCE_GPU] = RESOURCE(MS_GPU, "GPU", "nvml", ms_gpu, nvml),
    [RESOURCE_FPGA] = RESOURCE(MS_FPGA, "FPGA", "maxeler", ms_fpga, maxeler),
    [RESOURCE_SYSTEM] = RESOURCE(MS_SYSTEM, "SYSTEM", "ipmi", ms_sys, ipmi),
    [RESOURCE_MIC] = RESOURCE(MS_MIC, "MIC", "micknc", ms_mic, mic),
};

int resource_flag(enum resource resource)
{
    return resources[resource].flag;
}

enum resource resource_of_flag(int flag)
{
    int r = 0;

    while (r < RESOURCES && resources[r].flag != flag) {
        r++;
    }
    return r;
}

const char *resource_name(enum resource resource)
{
    return resources[resource].name;
}

const char *resource_component(enum resource resource)
{
    return resources[resource].component;
}

size_t resource_size(enum resource resource)
{
    return resources[resource].size;
}

static void *resource_member(void *measurement, size_t offset)
{
    return (char *)measurement + offset;
}

struct timespec *resource_wait(enum resource resource, void *measurement)
{
    return resource_member(measurement, resources[resource].wait);
}

uint32_t *resource_checks(enum resource resource, void *measurement)
{
    return resource_member(measurement, resources[resource].checks);
}

double *resource_runtime(enum resource resource, void *measurement)
{
    return resource_member(measurement, resources[resource].runtime);
}

void resource_clear(enum resource resource, void *measurement)
{
    struct timespec wait = *resource_wait(resource, measurement);
    uint32_t checks = *resource_checks(resource, measurement);

    memset(measurement, 0, resources[resource].size);
    *resource_wait(resource, measurement) = wait;
    *resource_checks(resource, measurement) = checks;
}
