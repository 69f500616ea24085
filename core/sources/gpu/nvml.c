/* SPDX-License-Identifier: BSD-3-Clause */
/* NVIDIA GPUs through NVML, the library of their driver. Its ABI is stable: no header needed. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "sources/gpu/gpu.h"

/* NVML does not document how often the energy counter is updated; 20 to 100 ms were observed. */
#define ENERGY_UPDATE_NS 100000000

/* nvmlReturn_t, nvmlClockType_t and nvmlTemperatureSensors_t */
enum { NVML_SUCCESS = 0, NVML_ERROR_NOT_SUPPORTED = 3 };
enum { NVML_CLOCK_GRAPHICS, NVML_CLOCK_SM, NVML_CLOCK_MEM };
enum { NVML_TEMPERATURE_GPU };

struct nvml_utilization {
    unsigned gpu, memory; /* % */
};

struct nvml_memory {
    unsigned long long total, free, used; /* B */
};

/* nvmlDeviceAttributes_t and nvmlGpuInstanceProfileInfo_t */
struct nvml_attributes {
    unsigned multiprocessors, copy_engines, decoders, encoders, jpegs, ofas;
    unsigned gpu_slices, compute_slices;
    unsigned long long memory_mib;
};

struct nvml_profile {
    unsigned id, peer_to_peer, slices, instances;
    unsigned multiprocessors, copy_engines, decoders, encoders, jpegs, ofas;
    unsigned long long memory_mib;
};

#define PROFILE_1_SLICE 0

/* NVML's functions, named as there without the prefix. */
#define NVML_FUNCTIONS(FUNCTION)                                                                   \
    FUNCTION(int, Init_v2, (void))                                                                 \
    FUNCTION(int, Shutdown, (void))                                                                \
    FUNCTION(const char *, ErrorString, (int code))                                                \
    FUNCTION(int, SystemGetNVMLVersion, (char *version, unsigned length))                          \
    FUNCTION(int, DeviceGetCount_v2, (unsigned *count))                                            \
    FUNCTION(int, DeviceGetHandleByIndex_v2, (unsigned index, void **device))                      \
    FUNCTION(int, DeviceGetName, (void *device, char *name, unsigned length))                      \
    FUNCTION(int, DeviceGetUUID, (void *device, char *uuid, unsigned length))                      \
    FUNCTION(int, DeviceGetPowerUsage, (void *device, unsigned *power_mw))                         \
    FUNCTION(int, DeviceGetTemperature, (void *device, int sensor, unsigned *celsius))             \
    FUNCTION(int, DeviceGetClockInfo, (void *device, int clock, unsigned *mhz))                    \
    FUNCTION(int, DeviceGetUtilizationRates, (void *device, struct nvml_utilization *rates))       \
    FUNCTION(int, DeviceGetMemoryInfo, (void *device, struct nvml_memory *memory))
/* Missing in older versions. */
#define NVML_NEWER(FUNCTION)                                                                       \
    FUNCTION(int, DeviceGetMinorNumber, (void *device, unsigned *minor))                           \
    FUNCTION(int, DeviceGetTotalEnergyConsumption, (void *device, unsigned long long *energy_mj))  \
    FUNCTION(int, DeviceGetPowerManagementLimitConstraints,                                        \
             (void *device, unsigned *least_mw, unsigned *most_mw))                                \
    FUNCTION(int, DeviceGetMaxMigDeviceCount, (void *device, unsigned *count))                     \
    FUNCTION(int, DeviceGetMigDeviceHandleByIndex, (void *device, unsigned index, void **part))    \
    FUNCTION(int, DeviceGetAttributes_v2, (void *part, struct nvml_attributes *attributes))        \
    FUNCTION(int, DeviceGetGpuInstanceProfileInfo,                                                 \
             (void *device, unsigned profile, struct nvml_profile *info))

static struct {
    NVML_FUNCTIONS(LIBRARY_MEMBER)
    NVML_NEWER(LIBRARY_MEMBER)
} nvml;

#define SYMBOL(type, name, parameters) LIBRARY_SYMBOL("nvml" #name, nvml, name),
static const struct library_symbol nvml_symbols[] = {NVML_FUNCTIONS(SYMBOL){NULL, 0}};
static const struct library_symbol nvml_newer_symbols[] = {NVML_NEWER(SYMBOL){NULL, 0}};
#undef SYMBOL

static const struct gpu_status nvml_statuses[] = {
    {2, EINVAL}, /* INVALID_ARGUMENT */
    {NVML_ERROR_NOT_SUPPORTED, ENOTSUP},
    {4, EACCES},     /* NO_PERMISSION */
    {6, ENODEV},     /* NOT_FOUND */
    {9, ENODEV},     /* DRIVER_NOT_LOADED */
    {10, ETIMEDOUT}, /* TIMEOUT */
    {13, ENOTSUP},   /* FUNCTION_NOT_FOUND */
    {15, ENODEV},    /* GPU_IS_LOST */
    {18, ENOSYS},    /* LIB_RM_VERSION_MISMATCH */
    {19, EBUSY},     /* IN_USE */
    {20, ENOMEM},    /* MEMORY */
    {21, ENODATA},   /* NO_DATA */
    {0, 0},
};

static int nvml_error_of(int code)
{
    return gpu_status_error(nvml_statuses, code);
}

#define GETTER(name, type, ...) GPU_GETTER(name, type, nvml_error_of, __VA_ARGS__)
GETTER(nvml_get_energy, unsigned long long,
       nvml.DeviceGetTotalEnergyConsumption
           ? nvml.DeviceGetTotalEnergyConsumption(device->handle, &value)
           : NVML_ERROR_NOT_SUPPORTED)
GETTER(nvml_get_power, unsigned, nvml.DeviceGetPowerUsage(device->handle, &value))
GETTER(nvml_get_temperature, unsigned,
       nvml.DeviceGetTemperature(device->handle, NVML_TEMPERATURE_GPU, &value))
GETTER(get_graphics_clock, unsigned,
       nvml.DeviceGetClockInfo(device->handle, NVML_CLOCK_GRAPHICS, &value))
GETTER(get_sm_clock, unsigned, nvml.DeviceGetClockInfo(device->handle, NVML_CLOCK_SM, &value))
GETTER(get_memory_clock, unsigned, nvml.DeviceGetClockInfo(device->handle, NVML_CLOCK_MEM, &value))
#undef GETTER

static int get_utilization(const struct gpu_device *device, uint64_t *values)
{
    struct nvml_utilization rates = {0};
    int code = nvml.DeviceGetUtilizationRates(device->handle, &rates);

    values[0] = rates.gpu;
    values[1] = rates.memory;
    return nvml_error_of(code);
}

static int nvml_get_memory(const struct gpu_device *device, uint64_t *values)
{
    struct nvml_memory memory = {0};
    int code = nvml.DeviceGetMemoryInfo(device->handle, &memory);

    values[0] = memory.used;
    values[1] = memory.free;
    values[2] = memory.total;
    return nvml_error_of(code);
}

/* Names and units as PAPI's nvml component has them. */
static const struct gpu_query nvml_queries[] = {
    {nvml_get_energy,
     {GPU_ENERGY("nvml:::@:device_#:total_energy_consumption", 1e-3, ENERGY_UPDATE_NS)}},
    {nvml_get_power, {GPU_POWER("nvml:::@:device_#:power", "power draw", 1e-3)}},
    {nvml_get_temperature, {GPU_TEMPERATURE("nvml:::@:device_#:temperature", "temperature", 1)}},
    {get_graphics_clock, {GPU_CLOCK("nvml:::@:device_#:graphics_clock", "graphics clock", 1e6)}},
    {get_sm_clock, {GPU_CLOCK("nvml:::@:device_#:sm_clock", "multiprocessors' clock", 1e6)}},
    {get_memory_clock, {GPU_CLOCK("nvml:::@:device_#:memory_clock", "memory clock", 1e6)}},
    {get_utilization,
     {GPU_SHARE("nvml:::@:device_#:gpu_utilization", "share of time with a kernel running"),
      GPU_SHARE("nvml:::@:device_#:memory_utilization", "share of time with memory in use")}},
    {nvml_get_memory,
     {GPU_MEMORY("nvml:::@:device_#:allocated_memory", "memory in use"),
      GPU_MEMORY("nvml:::@:device_#:unallocated_memory", "free memory"),
      GPU_MEMORY("nvml:::@:device_#:total_memory", "memory")}},
};

/* NVML counts its initializations: a host program may use it, too. */
static int nvml_start(struct apapi_error *err)
{
    int code = nvml.Init_v2();

    if (code != NVML_SUCCESS) {
        return apapi_fail(err, nvml_error_of(code), "NVML does not start: %.160s",
                          nvml.ErrorString(code));
    }
    return 0;
}

static void nvml_stop(void)
{
    nvml.Shutdown();
}

static size_t nvml_find(struct gpu_device *devices)
{
    unsigned count = 0, minor, least_mw, most_mw;

    if (nvml.DeviceGetCount_v2(&count) != NVML_SUCCESS) {
        return 0;
    }
    count = count < GPU_DEVICES_MAX ? count : GPU_DEVICES_MAX;
    for (unsigned i = 0; i < count; i++) {
        struct gpu_device *device = &devices[i];

        *device = (struct gpu_device){.index = i, .minor = -1, .name = "GPU"};
        device->error = nvml_error_of(nvml.DeviceGetHandleByIndex_v2(i, &device->handle));
        if (device->error) {
            continue;
        }
        if (nvml.DeviceGetName(device->handle, device->name, sizeof device->name)) {
            strcpy(device->name, "GPU");
        }
        if (nvml.DeviceGetUUID(device->handle, device->uuid, sizeof device->uuid)) {
            device->uuid[0] = '\0';
        }
        if (nvml.DeviceGetMinorNumber && !nvml.DeviceGetMinorNumber(device->handle, &minor)) {
            device->minor = (int)minor;
        }
        if (nvml.DeviceGetPowerManagementLimitConstraints &&
            !nvml.DeviceGetPowerManagementLimitConstraints(device->handle, &least_mw, &most_mw)) {
            device->most_w = most_mw / 1e3;
        }
    }
    return count;
}

/* A GPU has as many slices as it can have parts of one slice. */
static void nvml_measure_part(const struct gpu_device *device, void *handle, struct gpu_part *part)
{
    struct nvml_attributes attributes;
    struct nvml_profile smallest;

    if (nvml.DeviceGetAttributes_v2 && nvml.DeviceGetGpuInstanceProfileInfo &&
        nvml.DeviceGetAttributes_v2(handle, &attributes) == NVML_SUCCESS &&
        nvml.DeviceGetGpuInstanceProfileInfo(device->handle, PROFILE_1_SLICE, &smallest) ==
            NVML_SUCCESS &&
        attributes.compute_slices <= smallest.instances) {
        *part = (struct gpu_part){attributes.compute_slices, smallest.instances};
    }
}

static bool nvml_find_part(const struct gpu_device *device, const char *uuid, struct gpu_part *part)
{
    unsigned count = 0;

    if (device->error || !nvml.DeviceGetMaxMigDeviceCount ||
        !nvml.DeviceGetMigDeviceHandleByIndex ||
        nvml.DeviceGetMaxMigDeviceCount(device->handle, &count) != NVML_SUCCESS) {
        return false;
    }
    for (unsigned i = 0; i < count; i++) {
        char found[GPU_TEXT_SIZE];
        void *handle;

        if (nvml.DeviceGetMigDeviceHandleByIndex(device->handle, i, &handle) == NVML_SUCCESS &&
            nvml.DeviceGetUUID(handle, found, sizeof found) == NVML_SUCCESS &&
            strncasecmp(found, uuid, strlen(uuid)) == 0) {
            nvml_measure_part(device, handle, part);
            return true;
        }
    }
    return false;
}

static void nvml_version(char *text, size_t size)
{
    char version[80];

    if (nvml.SystemGetNVMLVersion(version, sizeof version) != NVML_SUCCESS) {
        version[0] = '\0';
    }
    snprintf(text, size, "NVML%s%.20s", *version ? " " : "", version);
}

static const char *const nvml_files[] = {"libnvidia-ml.so.1", NULL};
static bool nvml_loaded;

static const struct gpu_driver nvml_driver = {.component = "nvml",
                                              .files = nvml_files,
                                              .missing = "no NVIDIA driver",
                                              .symbols = nvml_symbols,
                                              .newer = nvml_newer_symbols,
                                              .functions = &nvml,
                                              .loaded = &nvml_loaded,
                                              .queries = nvml_queries,
                                              .query_count = COUNT_OF(nvml_queries),
                                              .start = nvml_start,
                                              .stop = nvml_stop,
                                              .find = nvml_find,
                                              .find_part = nvml_find_part,
                                              .version = nvml_version};

static struct apapi_reader *nvml_open(const char *component, struct apapi_error *err)
{
    (void)component;
    return gpu_open(&apapi_source_nvml, &nvml_driver, err);
}

const struct apapi_source apapi_source_nvml = {
    .name = "nvml",
    .slow = true, /* without its daemon, the driver initializes the GPUs again for each program */
    .open = nvml_open,
    .read = gpu_read,
    .describe = gpu_describe,
    .close = gpu_close,
};
