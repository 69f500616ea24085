/* SPDX-License-Identifier: BSD-3-Clause */
/* librocm_smi64, of ROCm up to version 6. The functions used are the same in all versions. */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "base/count_of.h"
#include "sources/gpu/rocm_driver.h"
#include "sources/sources.h"

/* rsmi_status_t, rsmi_temperature_type_t, rsmi_temperature_metric_t, rsmi_memory_type_t */
enum {
    RSMI_STATUS_SUCCESS = 0,
    RSMI_STATUS_INVALID_ARGS = 1,
    RSMI_STATUS_NOT_SUPPORTED = 2,
    RSMI_STATUS_FILE_ERROR = 3,
    RSMI_STATUS_PERMISSION = 4,
    RSMI_STATUS_OUT_OF_RESOURCES = 5,
    RSMI_STATUS_NOT_YET_IMPLEMENTED = 9,
    RSMI_STATUS_NOT_FOUND = 10,
    RSMI_STATUS_NO_DATA = 14,
    RSMI_STATUS_BUSY = 16,
};
enum { RSMI_TEMP_TYPE_EDGE, RSMI_TEMP_TYPE_JUNCTION, RSMI_TEMP_TYPE_MEMORY };
enum { RSMI_TEMP_CURRENT };
enum { RSMI_MEM_TYPE_VRAM };
#define FIRST_RENDER_MINOR 128 /* /dev/dri/renderD128 is the first GPU's */

/* The library's functions, named as there without the prefix. */
static struct {
    int (*init)(uint64_t flags);
    int (*shut_down)(void);
    int (*num_monitor_devices)(uint32_t *count);
    int (*dev_name_get)(uint32_t index, char *name, size_t size);
    int (*dev_unique_id_get)(uint32_t index, uint64_t *id);
    int (*dev_drm_render_minor_get)(uint32_t index, uint32_t *minor);
    int (*dev_energy_count_get)(uint32_t index, uint64_t *steps, float *step_uj, uint64_t *time_ns);
    int (*dev_power_ave_get)(uint32_t index, uint32_t sensor, uint64_t *power_uw);
    int (*dev_current_socket_power_get)(uint32_t index, uint64_t *power_uw);
    int (*dev_temp_metric_get)(uint32_t index, uint32_t sensor, int metric, int64_t *millicelsius);
    int (*dev_busy_percent_get)(uint32_t index, uint32_t *percent);
    int (*dev_memory_busy_percent_get)(uint32_t index, uint32_t *percent);
    int (*dev_memory_usage_get)(uint32_t index, int type, uint64_t *used);
} rsmi;

#define SYMBOL(name) LIBRARY_SYMBOL("rsmi_" #name, rsmi, name)
static const struct library_symbol rocm_smi_symbols[] = {
    SYMBOL(init),
    SYMBOL(shut_down),
    SYMBOL(num_monitor_devices),
    SYMBOL(dev_name_get),
    SYMBOL(dev_power_ave_get),
    SYMBOL(dev_temp_metric_get),
    SYMBOL(dev_busy_percent_get),
    SYMBOL(dev_memory_usage_get),
    {NULL, 0},
};
static const struct library_symbol rocm_smi_newer_symbols[] = {
    SYMBOL(dev_unique_id_get),           SYMBOL(dev_drm_render_minor_get),
    SYMBOL(dev_energy_count_get),        SYMBOL(dev_current_socket_power_get),
    SYMBOL(dev_memory_busy_percent_get), {NULL, 0},
};
#undef SYMBOL

static const char *const rocm_smi_names[] = {"librocm_smi64.so.7",
                                             "librocm_smi64.so.6",
                                             "librocm_smi64.so.5",
                                             "librocm_smi64.so.1",
                                             "/opt/rocm/lib/librocm_smi64.so",
                                             "librocm_smi64.so",
                                             NULL};

static struct gpu_library rocm_smi_library = {.section = "rocm_smi",
                                              .names = rocm_smi_names,
                                              .missing = "no ROCm SMI library",
                                              .symbols = rocm_smi_symbols,
                                              .newer = rocm_smi_newer_symbols,
                                              .functions = &rsmi};

static const struct gpu_status rocm_smi_statuses[] = {
    {RSMI_STATUS_NOT_SUPPORTED, ENOTSUP},
    {RSMI_STATUS_NOT_YET_IMPLEMENTED, ENOTSUP},
    {RSMI_STATUS_INVALID_ARGS, EINVAL},
    {RSMI_STATUS_PERMISSION, EACCES},
    {RSMI_STATUS_OUT_OF_RESOURCES, ENOMEM},
    {RSMI_STATUS_NOT_FOUND, ENODEV},
    {RSMI_STATUS_NO_DATA, ENODATA},
    {RSMI_STATUS_BUSY, EBUSY},
    {0, 0},
};

static int rocm_smi_error_of(int status)
{
    return gpu_status_error(rocm_smi_statuses, status);
}

static int rocm_smi_get_energy(const struct gpu_device *device, uint64_t *values)
{
    uint64_t steps = 0, time_ns = 0;
    float step_uj = 0;
    int status = rsmi.dev_energy_count_get
                     ? rsmi.dev_energy_count_get(device->index, &steps, &step_uj, &time_ns)
                     : RSMI_STATUS_NOT_SUPPORTED;

    values[0] = rocm_microjoules(steps, step_uj);
    return rocm_smi_error_of(status);
}

static int get_average_power(const struct gpu_device *device, uint64_t *values)
{
    return rocm_smi_error_of(rsmi.dev_power_ave_get(device->index, 0, &values[0]));
}

static int get_current_power(const struct gpu_device *device, uint64_t *values)
{
    return rocm_smi_error_of(rsmi.dev_current_socket_power_get
                                 ? rsmi.dev_current_socket_power_get(device->index, &values[0])
                                 : RSMI_STATUS_NOT_SUPPORTED);
}

static int rocm_smi_get_temperature(const struct gpu_device *device, uint32_t sensor,
                                    uint64_t *values)
{
    int64_t millicelsius = 0;
    int status = rsmi.dev_temp_metric_get(device->index, sensor, RSMI_TEMP_CURRENT, &millicelsius);

    values[0] = (uint64_t)millicelsius;
    return rocm_smi_error_of(status);
}

static int get_edge(const struct gpu_device *device, uint64_t *values)
{
    return rocm_smi_get_temperature(device, RSMI_TEMP_TYPE_EDGE, values);
}

static int get_junction(const struct gpu_device *device, uint64_t *values)
{
    return rocm_smi_get_temperature(device, RSMI_TEMP_TYPE_JUNCTION, values);
}

static int get_memory_temperature(const struct gpu_device *device, uint64_t *values)
{
    return rocm_smi_get_temperature(device, RSMI_TEMP_TYPE_MEMORY, values);
}

static int get_busy(const struct gpu_device *device, uint64_t *values)
{
    uint32_t percent = 0;
    int status = rsmi.dev_busy_percent_get(device->index, &percent);

    values[0] = percent;
    return rocm_smi_error_of(status);
}

static int get_memory_busy(const struct gpu_device *device, uint64_t *values)
{
    uint32_t percent = 0;
    int status = rsmi.dev_memory_busy_percent_get
                     ? rsmi.dev_memory_busy_percent_get(device->index, &percent)
                     : RSMI_STATUS_NOT_SUPPORTED;

    values[0] = percent;
    return rocm_smi_error_of(status);
}

static int rocm_smi_get_memory(const struct gpu_device *device, uint64_t *values)
{
    return rocm_smi_error_of(
        rsmi.dev_memory_usage_get(device->index, RSMI_MEM_TYPE_VRAM, &values[0]));
}

/* Names and raw units as PAPI's rocm_smi component has them. */
static const struct gpu_query rocm_smi_queries[] = {
    {rocm_smi_get_energy,
     {GPU_ENERGY("rocm_smi:::energy_count:device=#", 1e-6, ROCM_ENERGY_UPDATE_NS)}},
    {get_average_power,
     {GPU_POWER("rocm_smi:::power_average:device=#:sensor=0", "average power draw", 1e-6)}},
    {get_current_power,
     {{"rocm_smi:::current_socket_power:device=#", "power draw", "W", APAPI_KIND_POWER,
       APAPI_DOMAIN_NONE, 1e-6, false, 0}}},
    {get_edge,
     {GPU_TEMPERATURE("rocm_smi:::temp_current:device=#:sensor=0", "temperature at the edge",
                      1e-3)}},
    {get_junction,
     {GPU_TEMPERATURE("rocm_smi:::temp_current:device=#:sensor=1",
                      "temperature at the hottest spot", 1e-3)}},
    {get_memory_temperature,
     {GPU_TEMPERATURE("rocm_smi:::temp_current:device=#:sensor=2", "temperature of the memory",
                      1e-3)}},
    {get_busy, {GPU_SHARE("rocm_smi:::busy_percent:device=#", "share of time at work")}},
    {get_memory_busy,
     {GPU_SHARE("rocm_smi:::memory_busy_percent:device=#", "share of time with memory in use")}},
    {rocm_smi_get_memory, {GPU_MEMORY("rocm_smi:::mem_usage_VRAM:device=#", "memory in use")}},
};

static int rocm_smi_start(struct apapi_error *err)
{
    int status = rsmi.init(0);

    return status == RSMI_STATUS_SUCCESS ? 0
                                         : apapi_fail(err, rocm_smi_error_of(status),
                                                      "ROCm SMI does not start: status %d", status);
}

static void rocm_smi_stop(void)
{
    rsmi.shut_down();
}

static void rocm_smi_find_device(uint32_t index, struct gpu_device *device)
{
    uint64_t id;
    uint32_t minor;

    *device = (struct gpu_device){.index = index, .minor = -1};
    if (rsmi.dev_name_get(index, device->name, sizeof device->name) != RSMI_STATUS_SUCCESS) {
        device->name[0] = '\0';
    }
    if (rsmi.dev_unique_id_get && rsmi.dev_unique_id_get(index, &id) == RSMI_STATUS_SUCCESS) {
        snprintf(device->uuid, sizeof device->uuid, "GPU-%016" PRIx64, id);
    }
    if (rsmi.dev_drm_render_minor_get &&
        rsmi.dev_drm_render_minor_get(index, &minor) == RSMI_STATUS_SUCCESS &&
        minor >= FIRST_RENDER_MINOR) {
        device->minor = (int)(minor - FIRST_RENDER_MINOR);
    }
}

static size_t rocm_smi_find(struct gpu_device *devices)
{
    uint32_t count = 0;

    if (rsmi.num_monitor_devices(&count) != RSMI_STATUS_SUCCESS) {
        return 0;
    }
    count = count < GPU_DEVICES_MAX ? count : GPU_DEVICES_MAX;
    for (uint32_t i = 0; i < count; i++) {
        rocm_smi_find_device(i, &devices[i]);
    }
    return count;
}

static void rocm_smi_version(char *text, size_t size)
{
    snprintf(text, size, "ROCm SMI");
}

const struct gpu_driver rocm_smi_driver = {.component = "rocm_smi",
                                           .library = &rocm_smi_library,
                                           .queries = rocm_smi_queries,
                                           .query_count = COUNT_OF(rocm_smi_queries),
                                           .start = rocm_smi_start,
                                           .stop = rocm_smi_stop,
                                           .find = rocm_smi_find,
                                           .version = rocm_smi_version};
