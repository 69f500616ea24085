/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * AMD GPUs through the two libraries of ROCm: librocm_smi64 up to version 6 (the functions used are
 * the same in all versions), and libamd_smi from version 6 on.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/kernel_file.h"
#include "sources/gpu/gpu.h"

/*
 * AMD does not document how often its energy accumulator is updated. The kernel asks the GPU's
 * firmware at most once a millisecond.
 */
#define ROCM_UPDATE_NS 10000000

/* Without a GPU and its driver, AMD's libraries print to standard error. */
static int rocm_available(struct apapi_error *err)
{
    static const char *const folders[] = {"/sys/class/kfd", "/sys/class/drm"};

    for (size_t i = 0; i < COUNT_OF(folders); i++) {
        char path[PATH_MAX];

        kernel_file_path(path, sizeof path, folders[i]);
        if (access(path, F_OK)) {
            return apapi_fail(err, ENODEV, "no AMD GPU with a driver: there is no /sys/class/kfd");
        }
    }
    return 0;
}

/* Convert as PAPI does. A double holds 9 GJ to the microjoule: a hundred days at 1 kW. */
static uint64_t microjoules(uint64_t steps, float step_uj)
{
    return (uint64_t)llrint((double)steps * (double)step_uj);
}

static bool is_zero(uint64_t value)
{
    return value == 0 || value == GPU_ABSENT;
}

/*
 * Find the second dies of cards as the MI250: energy and power stay at 0, since the first die's are
 * those of the card.
 * @param queries  the first ones are for energy and power. @return count
 */
static size_t note_second_dies(const struct gpu_query *queries, struct gpu_device *devices,
                               size_t count)
{
    bool follows_meter = false;

    for (size_t d = 0; d < count; d++) {
        uint64_t energy[GPU_VALUES_MAX] = {0}, power[GPU_VALUES_MAX] = {0};
        bool no_meter = queries[0].get(&devices[d], energy) == 0 && energy[0] == 0 &&
                        queries[1].get(&devices[d], power) == 0 && is_zero(power[0]) &&
                        is_zero(power[1]);

        devices[d].second_die =
            follows_meter && no_meter && strcmp(devices[d].name, devices[d - 1].name) == 0;
        follows_meter = !no_meter;
    }
    return count;
}

/* --- librocm_smi64 ---------------------------------------------------------------------------- */

/* rsmi_status_t, rsmi_temperature_type_t, rsmi_temperature_metric_t, rsmi_memory_type_t */
enum { RSMI_STATUS_SUCCESS = 0, RSMI_STATUS_NOT_SUPPORTED = 2 };
enum { RSMI_TEMP_TYPE_EDGE, RSMI_TEMP_TYPE_JUNCTION, RSMI_TEMP_TYPE_MEMORY };
enum { RSMI_TEMP_CURRENT };
enum { RSMI_MEM_TYPE_VRAM };
#define FIRST_RENDER_MINOR 128 /* /dev/dri/renderD128 is the first GPU's */

/* The library's functions, named as there without the prefix. */
#define ROCM_SMI_FUNCTIONS(FUNCTION)                                                               \
    FUNCTION(int, init, (uint64_t flags))                                                          \
    FUNCTION(int, shut_down, (void))                                                               \
    FUNCTION(int, num_monitor_devices, (uint32_t * count))                                         \
    FUNCTION(int, dev_name_get, (uint32_t index, char *name, size_t size))                         \
    FUNCTION(int, dev_power_ave_get, (uint32_t index, uint32_t sensor, uint64_t * power_uw))       \
    FUNCTION(int, dev_temp_metric_get,                                                             \
             (uint32_t index, uint32_t sensor, int metric, int64_t *millicelsius))                 \
    FUNCTION(int, dev_busy_percent_get, (uint32_t index, uint32_t * percent))                      \
    FUNCTION(int, dev_memory_usage_get, (uint32_t index, int type, uint64_t *used))
/* Missing in older versions. */
#define ROCM_SMI_NEWER(FUNCTION)                                                                   \
    FUNCTION(int, dev_unique_id_get, (uint32_t index, uint64_t * id))                              \
    FUNCTION(int, dev_drm_render_minor_get, (uint32_t index, uint32_t * minor))                    \
    FUNCTION(int, dev_energy_count_get,                                                            \
             (uint32_t index, uint64_t * steps, float *step_uj, uint64_t *time_ns))                \
    FUNCTION(int, dev_power_cap_range_get,                                                         \
             (uint32_t index, uint32_t sensor, uint64_t * most_uw, uint64_t * least_uw))           \
    FUNCTION(int, dev_current_socket_power_get, (uint32_t index, uint64_t * power_uw))             \
    FUNCTION(int, dev_memory_busy_percent_get, (uint32_t index, uint32_t * percent))

static struct {
    ROCM_SMI_FUNCTIONS(LIBRARY_MEMBER)
    ROCM_SMI_NEWER(LIBRARY_MEMBER)
} rsmi;

#define SYMBOL(type, name, parameters) LIBRARY_SYMBOL("rsmi_" #name, rsmi, name),
static const struct library_symbol rocm_smi_symbols[] = {ROCM_SMI_FUNCTIONS(SYMBOL){NULL, 0}};
static const struct library_symbol rocm_smi_newer_symbols[] = {ROCM_SMI_NEWER(SYMBOL){NULL, 0}};
#undef SYMBOL

static const char *const rocm_smi_files[] = {"librocm_smi64.so.7",
                                             "librocm_smi64.so.6",
                                             "librocm_smi64.so.5",
                                             "librocm_smi64.so.1",
                                             "/opt/rocm/lib/librocm_smi64.so",
                                             "librocm_smi64.so",
                                             NULL};

static const struct gpu_status rocm_smi_statuses[] = {
    {RSMI_STATUS_NOT_SUPPORTED, ENOTSUP},
    {9, ENOTSUP},  /* NOT_YET_IMPLEMENTED */
    {1, EINVAL},   /* INVALID_ARGS */
    {4, EACCES},   /* PERMISSION */
    {5, ENOMEM},   /* OUT_OF_RESOURCES */
    {10, ENODEV},  /* NOT_FOUND */
    {14, ENODATA}, /* NO_DATA */
    {16, EBUSY},   /* BUSY */
    {0, 0},
};

static int rsmi_error_of(int status)
{
    return gpu_status_error(rocm_smi_statuses, status);
}

static int rsmi_get_energy(const struct gpu_device *device, uint64_t *values)
{
    uint64_t steps = 0, time_ns = 0;
    float step_uj = 0;
    int status = rsmi.dev_energy_count_get
                     ? rsmi.dev_energy_count_get(device->index, &steps, &step_uj, &time_ns)
                     : RSMI_STATUS_NOT_SUPPORTED;

    values[0] = microjoules(steps, step_uj);
    return rsmi_error_of(status);
}

#define GETTER(name, type, ...) GPU_GETTER(name, type, rsmi_error_of, __VA_ARGS__)
GETTER(get_average_power, uint64_t, rsmi.dev_power_ave_get(device->index, 0, &value))
GETTER(get_current_power, uint64_t,
       rsmi.dev_current_socket_power_get ? rsmi.dev_current_socket_power_get(device->index, &value)
                                         : RSMI_STATUS_NOT_SUPPORTED)
GETTER(get_edge, int64_t,
       rsmi.dev_temp_metric_get(device->index, RSMI_TEMP_TYPE_EDGE, RSMI_TEMP_CURRENT, &value))
GETTER(get_junction, int64_t,
       rsmi.dev_temp_metric_get(device->index, RSMI_TEMP_TYPE_JUNCTION, RSMI_TEMP_CURRENT, &value))
GETTER(get_memory_temperature, int64_t,
       rsmi.dev_temp_metric_get(device->index, RSMI_TEMP_TYPE_MEMORY, RSMI_TEMP_CURRENT, &value))
GETTER(get_busy, uint32_t, rsmi.dev_busy_percent_get(device->index, &value))
GETTER(get_memory_busy, uint32_t,
       rsmi.dev_memory_busy_percent_get ? rsmi.dev_memory_busy_percent_get(device->index, &value)
                                        : RSMI_STATUS_NOT_SUPPORTED)
GETTER(rsmi_get_memory, uint64_t,
       rsmi.dev_memory_usage_get(device->index, RSMI_MEM_TYPE_VRAM, &value))
#undef GETTER

/* Names and raw units as PAPI's rocm_smi component has them. */
static const struct gpu_query rocm_smi_queries[] = {
    {rsmi_get_energy, {GPU_ENERGY("rocm_smi:::energy_count:device=#", 1e-6, ROCM_UPDATE_NS)}},
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
    {rsmi_get_memory, {GPU_MEMORY("rocm_smi:::mem_usage_VRAM:device=#", "memory in use")}},
};

static int rocm_smi_start(struct apapi_error *err)
{
    int status = rsmi.init(0);

    return status == RSMI_STATUS_SUCCESS ? 0
                                         : apapi_fail(err, rsmi_error_of(status),
                                                      "ROCm SMI does not start: status %d", status);
}

static void rocm_smi_stop(void)
{
    rsmi.shut_down();
}

static size_t rocm_smi_find(struct gpu_device *devices)
{
    uint32_t count = 0, minor;
    uint64_t id, most_uw, least_uw;

    if (rsmi.num_monitor_devices(&count) != RSMI_STATUS_SUCCESS) {
        return 0;
    }
    count = count < GPU_DEVICES_MAX ? count : GPU_DEVICES_MAX;
    for (uint32_t i = 0; i < count; i++) {
        struct gpu_device *device = &devices[i];

        *device = (struct gpu_device){.index = i, .minor = -1};
        if (rsmi.dev_name_get(i, device->name, sizeof device->name)) {
            device->name[0] = '\0';
        }
        if (rsmi.dev_unique_id_get && !rsmi.dev_unique_id_get(i, &id)) {
            snprintf(device->uuid, sizeof device->uuid, "GPU-%016" PRIx64, id);
        }
        if (rsmi.dev_drm_render_minor_get && !rsmi.dev_drm_render_minor_get(i, &minor) &&
            minor >= FIRST_RENDER_MINOR) {
            device->minor = (int)(minor - FIRST_RENDER_MINOR);
        }
        if (rsmi.dev_power_cap_range_get &&
            !rsmi.dev_power_cap_range_get(i, 0, &most_uw, &least_uw)) {
            device->most_w = (double)most_uw / 1e6;
        }
    }
    return note_second_dies(rocm_smi_queries, devices, count);
}

static void rocm_smi_version(char *text, size_t size)
{
    snprintf(text, size, "ROCm SMI");
}

static bool rocm_smi_loaded;

static const struct gpu_driver rocm_smi_driver = {.component = "rocm_smi",
                                                  .files = rocm_smi_files,
                                                  .missing = "no ROCm SMI library",
                                                  .symbols = rocm_smi_symbols,
                                                  .newer = rocm_smi_newer_symbols,
                                                  .functions = &rsmi,
                                                  .loaded = &rocm_smi_loaded,
                                                  .queries = rocm_smi_queries,
                                                  .query_count = COUNT_OF(rocm_smi_queries),
                                                  .available = rocm_available,
                                                  .start = rocm_smi_start,
                                                  .stop = rocm_smi_stop,
                                                  .find = rocm_smi_find,
                                                  .version = rocm_smi_version};

/* --- libamd_smi ------------------------------------------------------------------------------- */

/* amdsmi_init_flags_t, amdsmi_status_t, amdsmi_temperature_metric_t, amdsmi_memory_type_t */
#define AMDSMI_INIT_AMD_GPUS 2
enum { AMDSMI_STATUS_SUCCESS = 0, AMDSMI_STATUS_NOT_SUPPORTED = 2 };
enum { AMDSMI_MEM_TYPE_VRAM };

struct amdsmi_usage {
    uint32_t gfx, umc, mm; /* % */
    uint32_t reserved[61]; /* larger than what any version writes */
};

/* The library's functions, named as there without the prefix. */
#define AMD_SMI_FUNCTIONS(FUNCTION)                                                                \
    FUNCTION(int, init, (uint64_t flags))                                                          \
    FUNCTION(int, get_lib_version, (uint32_t * version))                                           \
    FUNCTION(int, get_socket_handles, (uint32_t * count, void **sockets))                          \
    FUNCTION(int, get_processor_handles, (void *socket, uint32_t *count, void **processors))       \
    FUNCTION(int, get_gpu_device_uuid, (void *processor, unsigned *length, char *uuid))            \
    FUNCTION(int, get_energy_count,                                                                \
             (void *processor, uint64_t *steps, float *step_uj, uint64_t *time_ns))                \
    FUNCTION(int, get_power_info, (void *processor, uint32_t *words))                              \
    FUNCTION(int, get_gpu_activity, (void *processor, struct amdsmi_usage *usage))                 \
    FUNCTION(int, get_gpu_memory_usage, (void *processor, int type, uint64_t *used))

static struct {
    AMD_SMI_FUNCTIONS(LIBRARY_MEMBER)
} amdsmi;

#define SYMBOL(type, name, parameters) LIBRARY_SYMBOL("amdsmi_" #name, amdsmi, name),
static const struct library_symbol amd_smi_symbols[] = {AMD_SMI_FUNCTIONS(SYMBOL){NULL, 0}};
#undef SYMBOL

static const char *const amd_smi_files[] = {"libamd_smi.so.26", "libamd_smi.so.25",
                                            "libamd_smi.so.24", "/opt/rocm/lib/libamd_smi.so",
                                            "libamd_smi.so",    NULL};

/* First number of the version: the year up to 24, a release number after that. */
static uint32_t release;

static const struct gpu_status amd_smi_statuses[] = {
    {AMDSMI_STATUS_NOT_SUPPORTED, ENOTSUP},
    {3, ENOTSUP},   /* NOT_YET_IMPLEMENTED */
    {1, EINVAL},    /* INVAL */
    {8, ETIMEDOUT}, /* TIMEOUT */
    {10, EACCES},   /* NO_PERM */
    {30, EBUSY},    /* BUSY */
    {31, ENODEV},   /* NOT_FOUND */
    {34, ENODEV},   /* DRIVER_NOT_LOADED */
    {40, ENODATA},  /* NO_DATA */
    {0, 0},
};

static int amd_smi_error_of(int status)
{
    return gpu_status_error(amd_smi_statuses, status);
}

static int amd_smi_get_energy(const struct gpu_device *device, uint64_t *values)
{
    uint64_t steps = 0, time_ns = 0;
    float step_uj = 0;
    int status = amdsmi.get_energy_count(device->handle, &steps, &step_uj, &time_ns);

    values[0] = microjoules(steps, step_uj);
    return amd_smi_error_of(status);
}

/* "Not known" is all ones: 16 bits in older versions, 32 bits in newer ones. */
static uint64_t watts(uint32_t word)
{
    return word == UINT16_MAX || word == UINT32_MAX ? GPU_ABSENT : word;
}

/*
 * Only the two words for the socket's power are used: current and average. They come first in
 * version 24, and after another 64 bits from version 25 on.
 */
static int amd_smi_get_power(const struct gpu_device *device, uint64_t *values)
{
    uint32_t words[128] = {0};
    size_t first = release >= 25 ? 2 : 0;
    int status =
        release >= 24 ? amdsmi.get_power_info(device->handle, words) : AMDSMI_STATUS_NOT_SUPPORTED;

    values[0] = watts(words[first + 1]);
    values[1] = watts(words[first]);
    return amd_smi_error_of(status);
}

static int get_activity(const struct gpu_device *device, uint64_t *values)
{
    struct amdsmi_usage usage = {0};
    int status = amdsmi.get_gpu_activity(device->handle, &usage);

    values[0] = watts(usage.gfx);
    values[1] = watts(usage.umc);
    values[2] = watts(usage.mm);
    return amd_smi_error_of(status);
}

GPU_GETTER(amd_smi_get_memory, uint64_t, amd_smi_error_of,
           amdsmi.get_gpu_memory_usage(device->handle, AMDSMI_MEM_TYPE_VRAM, &value))

/* Names and raw units as PAPI's amd_smi component has them. */
static const struct gpu_query amd_smi_queries[] = {
    {amd_smi_get_energy, {GPU_ENERGY("amd_smi:::energy_consumed:device=#", 1e-6, ROCM_UPDATE_NS)}},
    {amd_smi_get_power,
     {GPU_POWER("amd_smi:::power_average:device=#", "average power draw", 1),
      {"amd_smi:::power_current:device=#", "power draw", "W", APAPI_KIND_POWER, APAPI_DOMAIN_NONE,
       1, false, 0}}},
    {get_activity,
     {GPU_SHARE("amd_smi:::gfx_activity:device=#", "share of time at work"),
      GPU_SHARE("amd_smi:::umc_activity:device=#", "share of time with memory in use"),
      GPU_SHARE("amd_smi:::mm_activity:device=#", "share of time with media engines at work")}},
    {amd_smi_get_memory, {GPU_MEMORY("amd_smi:::mem_usage_VRAM:device=#", "memory in use")}},
};

static int amd_smi_start(struct apapi_error *err)
{
    uint32_t version[16] = {0};
    int status = amdsmi.init(AMDSMI_INIT_AMD_GPUS);

    if (status != AMDSMI_STATUS_SUCCESS) {
        return apapi_fail(err, amd_smi_error_of(status), "AMD SMI does not start: status %d",
                          status);
    }
    release = amdsmi.get_lib_version(version) == AMDSMI_STATUS_SUCCESS ? version[0] : 0;
    return 0;
}

static size_t amd_smi_find(struct gpu_device *devices)
{
    void *sockets[GPU_DEVICES_MAX], *processors[GPU_DEVICES_MAX];
    uint32_t socket_count = GPU_DEVICES_MAX;
    size_t count = 0;

    if (amdsmi.get_socket_handles(&socket_count, sockets) != AMDSMI_STATUS_SUCCESS) {
        return 0;
    }
    for (uint32_t s = 0; s < socket_count && s < GPU_DEVICES_MAX; s++) {
        uint32_t processor_count = GPU_DEVICES_MAX;

        if (amdsmi.get_processor_handles(sockets[s], &processor_count, processors)) {
            continue;
        }
        for (uint32_t p = 0; p < processor_count && count < GPU_DEVICES_MAX; p++, count++) {
            struct gpu_device *device = &devices[count];
            char uuid[sizeof device->uuid - sizeof "GPU-"] = "";
            unsigned length = sizeof uuid;

            *device =
                (struct gpu_device){.handle = processors[p], .index = (unsigned)count, .minor = -1};
            if (amdsmi.get_gpu_device_uuid(processors[p], &length, uuid) == 0) {
                snprintf(device->uuid, sizeof device->uuid, "GPU-%s", uuid);
            }
        }
    }
    return note_second_dies(amd_smi_queries, devices, count);
}

static void amd_smi_version(char *text, size_t size)
{
    snprintf(text, size, "AMD SMI %u", release);
}

static bool amd_smi_loaded;

/* The library does not count its starts: a host program may still use it, so it is not stopped. */
static const struct gpu_driver amd_smi_driver = {.component = "amd_smi",
                                                 .files = amd_smi_files,
                                                 .missing = "no AMD SMI library",
                                                 .symbols = amd_smi_symbols,
                                                 .functions = &amdsmi,
                                                 .loaded = &amd_smi_loaded,
                                                 .queries = amd_smi_queries,
                                                 .query_count = COUNT_OF(amd_smi_queries),
                                                 .available = rocm_available,
                                                 .start = amd_smi_start,
                                                 .find = amd_smi_find,
                                                 .version = amd_smi_version};

/* --- the source ------------------------------------------------------------------------------- */

static struct apapi_reader *rocm_open(const char *component, struct apapi_error *err)
{
    bool is_newer = strcmp(component, amd_smi_driver.component) == 0;

    return gpu_open(&apapi_source_rocm, is_newer ? &amd_smi_driver : &rocm_smi_driver, err);
}

const struct apapi_source apapi_source_rocm = {
    .name = "rocm",
    .slow = true,
    .open = rocm_open,
    .read = gpu_read,
    .describe = gpu_describe,
    .close = gpu_close,
};
