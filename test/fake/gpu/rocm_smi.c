/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of librocm_smi64 that APAPI uses, as documented by AMD. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_spec.h"

enum { SUCCESS = 0, INVALID_ARGS = 1, NOT_SUPPORTED = 2, FILE_ERROR = 3, INIT_ERROR = 8 };
#define STEP_UJ 15.259F

static const struct fake_gpu *find(uint32_t index)
{
    return &fake_gpus()->list[index];
}

static int call(uint32_t index, const char *function)
{
    const struct fake_gpu *gpu = find(index);
    int code;

    if (fake_gpus()->users <= 0) {
        return INIT_ERROR;
    }
    code = fake_gpu_call(gpu, function);
    return code || !fake_gpu_is_lost(gpu) ? code : FILE_ERROR;
}

FAKE_EXPORT int rsmi_init(uint64_t flags)
{
    int code;

    fake_gpus_refresh();
    code = flags ? INVALID_ARGS : fake_gpus_call("init");
    if (code == SUCCESS) {
        fake_gpus_start();
    }
    return code;
}

FAKE_EXPORT int rsmi_shut_down(void)
{
    fake_gpus()->users--;
    return fake_gpus_call("shut_down");
}

FAKE_EXPORT int rsmi_num_monitor_devices(uint32_t *count)
{
    *count = (uint32_t)fake_gpus()->count;
    return fake_gpus_call("num_monitor_devices");
}

FAKE_EXPORT int rsmi_dev_name_get(uint32_t index, char *name, size_t size)
{
    snprintf(name, size, "%s", find(index)->name);
    return call(index, "dev_name_get");
}

/* The first part of the UUID is the first half of this number. */
FAKE_EXPORT int rsmi_dev_unique_id_get(uint32_t index, uint64_t *id)
{
    *id = strtoull(find(index)->uuid + strlen("GPU-"), NULL, 16) << 32;
    return call(index, "dev_unique_id_get");
}

FAKE_EXPORT int rsmi_dev_drm_render_minor_get(uint32_t index, uint32_t *minor)
{
    *minor = 128 + find(index)->minor;
    return call(index, "dev_drm_render_minor_get");
}

FAKE_EXPORT int rsmi_dev_energy_count_get(uint32_t index, uint64_t *steps, float *step_uj,
                                          uint64_t *time_ns)
{
    const struct fake_gpu *gpu = find(index);

    *steps = (uint64_t)(fake_gpu_energy_j(gpu) * 1e6 / (double)STEP_UJ);
    *step_uj = STEP_UJ;
    *time_ns = 0;
    return gpu->counter ? call(index, "dev_energy_count_get") : NOT_SUPPORTED;
}

FAKE_EXPORT int rsmi_dev_power_ave_get(uint32_t index, uint32_t sensor, uint64_t *power_uw)
{
    const struct fake_gpu *gpu = find(index);

    *power_uw = (uint64_t)(gpu->power_w * 1e6);
    return sensor == 0 ? call(index, "dev_power_ave_get") : NOT_SUPPORTED;
}

FAKE_EXPORT int rsmi_dev_power_cap_range_get(uint32_t index, uint32_t sensor, uint64_t *most_uw,
                                             uint64_t *least_uw)
{
    const struct fake_gpu *gpu = find(index);

    *most_uw = (uint64_t)(gpu->most_w * 1e6);
    *least_uw = 0;
    return gpu->most_w > 0 && sensor == 0 ? call(index, "dev_power_cap_range_get") : NOT_SUPPORTED;
}

FAKE_EXPORT int rsmi_dev_temp_metric_get(uint32_t index, uint32_t sensor, int metric,
                                         int64_t *millicelsius)
{
    *millicelsius = 40000 + 5000 * (int64_t)sensor;
    return metric == 0 ? call(index, "dev_temp_metric_get") : NOT_SUPPORTED;
}

FAKE_EXPORT int rsmi_dev_busy_percent_get(uint32_t index, uint32_t *percent)
{
    *percent = 90;
    return call(index, "dev_busy_percent_get");
}

FAKE_EXPORT int rsmi_dev_memory_usage_get(uint32_t index, int type, uint64_t *used)
{
    *used = UINT64_C(10) << 30;
    return type == 0 ? call(index, "dev_memory_usage_get") : NOT_SUPPORTED;
}
