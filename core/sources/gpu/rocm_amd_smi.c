/* SPDX-License-Identifier: BSD-3-Clause */
/* libamd_smi, of ROCm from version 6 on. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>

#include "base/count_of.h"
#include "sources/gpu/rocm_driver.h"
#include "sources/sources.h"

/* amdsmi_init_flags_t, amdsmi_status_t, amdsmi_temperature_metric_t, amdsmi_memory_type_t */
#define AMDSMI_INIT_AMD_GPUS 2
enum {
    AMDSMI_STATUS_SUCCESS = 0,
    AMDSMI_STATUS_INVAL = 1,
    AMDSMI_STATUS_NOT_SUPPORTED = 2,
    AMDSMI_STATUS_NOT_YET_IMPLEMENTED = 3,
    AMDSMI_STATUS_TIMEOUT = 8,
    AMDSMI_STATUS_NO_PERM = 10,
    AMDSMI_STATUS_BUSY = 30,
    AMDSMI_STATUS_NOT_FOUND = 31,
    AMDSMI_STATUS_DRIVER_NOT_LOADED = 34,
    AMDSMI_STATUS_NO_DATA = 40,
};
enum { AMDSMI_MEM_TYPE_VRAM };

struct amdsmi_usage {
    uint32_t gfx, umc, mm; /* % */
    uint32_t reserved[61]; /* larger than what any version writes */
};

/* The library's functions, named as there without the prefix. */
static struct {
    int (*init)(uint64_t flags);
    int (*get_lib_version)(uint32_t *version);
    int (*get_socket_handles)(uint32_t *count, void **sockets);
    int (*get_processor_handles)(void *socket, uint32_t *count, void **processors);
    int (*get_gpu_device_uuid)(void *processor, unsigned *length, char *uuid);
    int (*get_energy_count)(void *processor, uint64_t *steps, float *step_uj, uint64_t *time_ns);
    int (*get_power_info)(void *processor, uint32_t *words);
    int (*get_gpu_activity)(void *processor, struct amdsmi_usage *usage);
    int (*get_gpu_memory_usage)(void *processor, int type, uint64_t *used);
} amdsmi;

#define SYMBOL(name) LIBRARY_SYMBOL("amdsmi_" #name, amdsmi, name)
static const struct library_symbol amd_smi_symbols[] = {
    SYMBOL(init),
    SYMBOL(get_lib_version),
    SYMBOL(get_socket_handles),
    SYMBOL(get_processor_handles),
    SYMBOL(get_gpu_device_uuid),
    SYMBOL(get_energy_count),
    SYMBOL(get_power_info),
    SYMBOL(get_gpu_activity),
    SYMBOL(get_gpu_memory_usage),
    {NULL, 0},
};
#undef SYMBOL

static const char *const amd_smi_names[] = {"libamd_smi.so.26", "libamd_smi.so.25",
                                            "libamd_smi.so.24", "/opt/rocm/lib/libamd_smi.so",
                                            "libamd_smi.so",    NULL};

static struct gpu_library amd_smi_library = {.section = "amd_smi",
                                             .names = amd_smi_names,
                                             .missing = "no AMD SMI library",
                                             .symbols = amd_smi_symbols,
                                             .functions = &amdsmi};

/* First number of the version: up to 24 the year, then the release. */
static uint32_t release;

static const struct gpu_status amd_smi_statuses[] = {
    {AMDSMI_STATUS_NOT_SUPPORTED, ENOTSUP}, {AMDSMI_STATUS_NOT_YET_IMPLEMENTED, ENOTSUP},
    {AMDSMI_STATUS_INVAL, EINVAL},          {AMDSMI_STATUS_TIMEOUT, ETIMEDOUT},
    {AMDSMI_STATUS_NO_PERM, EACCES},        {AMDSMI_STATUS_BUSY, EBUSY},
    {AMDSMI_STATUS_NOT_FOUND, ENODEV},      {AMDSMI_STATUS_DRIVER_NOT_LOADED, ENODEV},
    {AMDSMI_STATUS_NO_DATA, ENODATA},       {0, 0},
};

static int rocm_amd_smi_error_of(int status)
{
    return gpu_status_error(amd_smi_statuses, status);
}

static int rocm_amd_smi_get_energy(const struct gpu_device *device, uint64_t *values)
{
    uint64_t steps = 0, time_ns = 0;
    float step_uj = 0;
    int status = amdsmi.get_energy_count(device->handle, &steps, &step_uj, &time_ns);

    values[0] = rocm_microjoules(steps, step_uj);
    return rocm_amd_smi_error_of(status);
}

/* "Not known" has 16 bits in older versions, 32 bits in newer ones. */
static uint64_t watts(uint32_t word)
{
    return word == UINT16_MAX || word == UINT32_MAX ? GPU_ABSENT : word;
}

/*
 * Only the two words for the socket's power are used: current and average. They come first in
 * version 24, and after another 64 bits from version 25 on.
 */
static int rocm_amd_smi_get_power(const struct gpu_device *device, uint64_t *values)
{
    uint32_t words[128] = {0};
    size_t first = release >= 25 ? 2 : 0;
    int status =
        release >= 24 ? amdsmi.get_power_info(device->handle, words) : AMDSMI_STATUS_NOT_SUPPORTED;

    values[0] = watts(words[first + 1]);
    values[1] = watts(words[first]);
    return rocm_amd_smi_error_of(status);
}

static int get_activity(const struct gpu_device *device, uint64_t *values)
{
    struct amdsmi_usage usage = {0};
    int status = amdsmi.get_gpu_activity(device->handle, &usage);

    values[0] = watts(usage.gfx);
    values[1] = watts(usage.umc);
    values[2] = watts(usage.mm);
    return rocm_amd_smi_error_of(status);
}

static int rocm_amd_smi_get_memory(const struct gpu_device *device, uint64_t *values)
{
    return rocm_amd_smi_error_of(
        amdsmi.get_gpu_memory_usage(device->handle, AMDSMI_MEM_TYPE_VRAM, &values[0]));
}

/* Names and raw units as PAPI's amd_smi component has them. */
static const struct gpu_query amd_smi_queries[] = {
    {rocm_amd_smi_get_energy,
     {GPU_ENERGY("amd_smi:::energy_consumed:device=#", 1e-6, ROCM_ENERGY_UPDATE_NS)}},
    {rocm_amd_smi_get_power,
     {GPU_POWER("amd_smi:::power_average:device=#", "average power draw", 1),
      {"amd_smi:::power_current:device=#", "power draw", "W", APAPI_KIND_POWER, APAPI_DOMAIN_NONE,
       1, false, 0}}},
    {get_activity,
     {GPU_SHARE("amd_smi:::gfx_activity:device=#", "share of time at work"),
      GPU_SHARE("amd_smi:::umc_activity:device=#", "share of time with memory in use"),
      GPU_SHARE("amd_smi:::mm_activity:device=#", "share of time with media engines at work")}},
    {rocm_amd_smi_get_memory, {GPU_MEMORY("amd_smi:::mem_usage_VRAM:device=#", "memory in use")}},
};

static int rocm_amd_smi_start(struct apapi_error *err)
{
    uint32_t version[16] = {0};
    int status = amdsmi.init(AMDSMI_INIT_AMD_GPUS);

    if (status != AMDSMI_STATUS_SUCCESS) {
        return apapi_fail(err, rocm_amd_smi_error_of(status), "AMD SMI does not start: status %d",
                          status);
    }
    release = amdsmi.get_lib_version(version) == AMDSMI_STATUS_SUCCESS ? version[0] : 0;
    return 0;
}

/* The library does not count its initializations: a host program may still use it. */
static void rocm_amd_smi_stop(void)
{
}

static void add_device(void *handle, struct gpu_device *devices, size_t *count)
{
    struct gpu_device *device = &devices[*count];
    unsigned length = sizeof device->uuid - sizeof "GPU-";
    char uuid[sizeof device->uuid - sizeof "GPU-"] = "";

    *device = (struct gpu_device){.handle = handle, .index = (unsigned)*count, .minor = -1};
    if (amdsmi.get_gpu_device_uuid(handle, &length, uuid) == AMDSMI_STATUS_SUCCESS) {
        snprintf(device->uuid, sizeof device->uuid, "GPU-%s", uuid);
    }
    ++*count;
}

static size_t rocm_amd_smi_find(struct gpu_device *devices)
{
    void *sockets[GPU_DEVICES_MAX], *processors[GPU_DEVICES_MAX];
    uint32_t socket_count = GPU_DEVICES_MAX;
    size_t count = 0;

    if (amdsmi.get_socket_handles(&socket_count, sockets) != AMDSMI_STATUS_SUCCESS) {
        return 0;
    }
    for (uint32_t s = 0; s < socket_count && s < GPU_DEVICES_MAX; s++) {
        uint32_t processor_count = GPU_DEVICES_MAX;

        if (amdsmi.get_processor_handles(sockets[s], &processor_count, processors) !=
            AMDSMI_STATUS_SUCCESS) {
            continue;
        }
        for (uint32_t p = 0; p < processor_count && count < GPU_DEVICES_MAX; p++) {
            add_device(processors[p], devices, &count);
        }
    }
    return count;
}

static void rocm_amd_smi_version(char *text, size_t size)
{
    snprintf(text, size, "AMD SMI %u", release);
}

const struct gpu_driver amd_smi_driver = {.component = "amd_smi",
                                          .library = &amd_smi_library,
                                          .queries = amd_smi_queries,
                                          .query_count = COUNT_OF(amd_smi_queries),
                                          .start = rocm_amd_smi_start,
                                          .stop = rocm_amd_smi_stop,
                                          .find = rocm_amd_smi_find,
                                          .version = rocm_amd_smi_version};
