/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of libnvidia-ml.so.1 that APAPI uses, as documented by NVIDIA. */
#include <stdio.h>
#include <string.h>

#include "gpu_spec.h"

enum {
    NVML_SUCCESS = 0,
    NVML_ERROR_UNINITIALIZED = 1,
    NVML_ERROR_INVALID_ARGUMENT = 2,
    NVML_ERROR_NOT_SUPPORTED = 3,
    NVML_ERROR_NOT_FOUND = 6,
    NVML_ERROR_INSUFFICIENT_SIZE = 7,
    NVML_ERROR_DRIVER_NOT_LOADED = 9,
    NVML_ERROR_GPU_IS_LOST = 15,
};

typedef const void *device_t; /* a struct fake_gpu, or the text of a part's UUID */

/* @return the code of a call that is not about a GPU. */
static int library_call(const char *function)
{
    int code = fake_gpus_call(function);

    return code || fake_gpus()->users > 0 ? code : NVML_ERROR_UNINITIALIZED;
}

static int gpu_call(device_t device, const char *function)
{
    int code;

    if (fake_gpus()->users <= 0) {
        return NVML_ERROR_UNINITIALIZED;
    }
    code = fake_gpu_call(device, function);
    return code || !fake_gpu_is_lost(device) ? code : NVML_ERROR_GPU_IS_LOST;
}

static int put_text(char *target, unsigned size, const char *text)
{
    if (strlen(text) >= size) {
        return NVML_ERROR_INSUFFICIENT_SIZE;
    }
    strcpy(target, text);
    return NVML_SUCCESS;
}

FAKE_EXPORT int nvmlInit_v2(void)
{
    int code;

    fake_gpus_refresh();
    code = fake_gpus_call("Init_v2");
    if (code == NVML_SUCCESS) {
        fake_gpus_start();
    }
    return code;
}

FAKE_EXPORT int nvmlShutdown(void)
{
    int code = library_call("Shutdown");

    if (code == NVML_SUCCESS) {
        fake_gpus()->users--;
    }
    return code;
}

FAKE_EXPORT const char *nvmlErrorString(int code)
{
    return code == NVML_ERROR_DRIVER_NOT_LOADED ? "Driver Not Loaded" : "Unknown Error";
}

FAKE_EXPORT int nvmlSystemGetNVMLVersion(char *version, unsigned size)
{
    int code = library_call("SystemGetNVMLVersion");

    return code ? code : put_text(version, size, "12.535.104.05");
}

FAKE_EXPORT int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = (unsigned)fake_gpus()->count;
    return library_call("DeviceGetCount_v2");
}

FAKE_EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, device_t *device)
{
    if (index >= fake_gpus()->count) {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    *device = &fake_gpus()->list[index];
    return gpu_call(*device, "DeviceGetHandleByIndex_v2");
}

FAKE_EXPORT int nvmlDeviceGetName(device_t device, char *name, unsigned size)
{
    int code = gpu_call(device, "DeviceGetName");

    return code ? code : put_text(name, size, ((const struct fake_gpu *)device)->name);
}

/* @return the GPU that has this part, and the part's number; NULL: it is not a part. */
static const struct fake_gpu *find_part(device_t device, size_t *number)
{
    const struct fake_gpus *gpus = fake_gpus();

    for (size_t g = 0; g < gpus->count; g++) {
        for (*number = 0; *number < gpus->list[g].part_count; ++*number) {
            if (device == gpus->list[g].parts[*number]) {
                return &gpus->list[g];
            }
        }
    }
    return NULL;
}

FAKE_EXPORT int nvmlDeviceGetUUID(device_t device, char *uuid, unsigned size)
{
    size_t number;
    int code;

    if (find_part(device, &number)) {
        return put_text(uuid, size, device);
    }
    code = gpu_call(device, "DeviceGetUUID");
    return code ? code : put_text(uuid, size, ((const struct fake_gpu *)device)->uuid);
}

FAKE_EXPORT int nvmlDeviceGetMinorNumber(device_t device, unsigned *minor)
{
    *minor = ((const struct fake_gpu *)device)->minor;
    return gpu_call(device, "DeviceGetMinorNumber");
}

FAKE_EXPORT int nvmlDeviceGetTotalEnergyConsumption(device_t device, unsigned long long *energy_mj)
{
    const struct fake_gpu *gpu = device;

    *energy_mj = (unsigned long long)(fake_gpu_energy_j(gpu) * 1e3);
    if (!gpu->counter) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    return gpu_call(gpu, "DeviceGetTotalEnergyConsumption");
}

FAKE_EXPORT int nvmlDeviceGetPowerUsage(device_t device, unsigned *power_mw)
{
    const struct fake_gpu *gpu = device;

    *power_mw = (unsigned)(gpu->power_w * 1e3);
    return gpu_call(gpu, "DeviceGetPowerUsage");
}

FAKE_EXPORT int nvmlDeviceGetPowerManagementLimitConstraints(device_t device, unsigned *least_mw,
                                                             unsigned *most_mw)
{
    const struct fake_gpu *gpu = device;

    *least_mw = (unsigned)(gpu->most_w * 1e3) / 4;
    *most_mw = (unsigned)(gpu->most_w * 1e3);
    return gpu->most_w > 0 ? gpu_call(gpu, "DeviceGetPowerManagementLimitConstraints")
                           : NVML_ERROR_NOT_SUPPORTED;
}

FAKE_EXPORT int nvmlDeviceGetTemperature(device_t device, int sensor, unsigned *celsius)
{
    *celsius = 50;
    return sensor ? NVML_ERROR_INVALID_ARGUMENT : gpu_call(device, "DeviceGetTemperature");
}

FAKE_EXPORT int nvmlDeviceGetClockInfo(device_t device, int clock, unsigned *mhz)
{
    *mhz = 1000 + 100 * (unsigned)clock;
    return gpu_call(device, "DeviceGetClockInfo");
}

struct rates {
    unsigned gpu, memory;
};

FAKE_EXPORT int nvmlDeviceGetUtilizationRates(device_t device, struct rates *rates)
{
    const struct fake_gpu *gpu = device;

    *rates = (struct rates){90, 40};
    if (gpu->part_count > 0) {
        return NVML_ERROR_NOT_SUPPORTED; /* as in MIG mode */
    }
    return gpu_call(gpu, "DeviceGetUtilizationRates");
}

struct memory {
    unsigned long long total, free, used;
};

FAKE_EXPORT int nvmlDeviceGetMemoryInfo(device_t device, struct memory *memory)
{
    *memory = (struct memory){80ULL << 30, 70ULL << 30, 10ULL << 30};
    return gpu_call(device, "DeviceGetMemoryInfo");
}

FAKE_EXPORT int nvmlDeviceGetMaxMigDeviceCount(device_t device, unsigned *count)
{
    *count = ((const struct fake_gpu *)device)->part_count > 0 ? FAKE_PARTS_MAX : 0;
    return gpu_call(device, "DeviceGetMaxMigDeviceCount");
}

FAKE_EXPORT int nvmlDeviceGetMigDeviceHandleByIndex(device_t device, unsigned index, device_t *part)
{
    const struct fake_gpu *gpu = device;

    if (index >= gpu->part_count) {
        return NVML_ERROR_NOT_FOUND;
    }
    *part = gpu->parts[index];
    return gpu_call(gpu, "DeviceGetMigDeviceHandleByIndex");
}

struct attributes {
    unsigned engines[6], gpu_slices, compute_slices;
    unsigned long long memory_mib;
};

FAKE_EXPORT int nvmlDeviceGetAttributes_v2(device_t part, struct attributes *attributes)
{
    size_t number;
    const struct fake_gpu *gpu = find_part(part, &number);
    unsigned slices = gpu ? gpu->slices[number] : 0;

    memset(attributes, 0, sizeof *attributes);
    attributes->gpu_slices = attributes->compute_slices = slices;
    return slices > 0 ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
}

struct profile {
    unsigned id, peer_to_peer, slices, instances, engines[6];
    unsigned long long memory_mib;
};

FAKE_EXPORT int nvmlDeviceGetGpuInstanceProfileInfo(device_t device, unsigned profile,
                                                    struct profile *info)
{
    memset(info, 0, sizeof *info);
    info->slices = 1;
    info->instances = FAKE_PARTS_MAX;
    return profile == 0 ? gpu_call(device, "DeviceGetGpuInstanceProfileInfo")
                        : NVML_ERROR_NOT_SUPPORTED;
}
