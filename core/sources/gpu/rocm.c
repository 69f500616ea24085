/* SPDX-License-Identifier: BSD-3-Clause */
/* AMD GPUs through the libraries of ROCm. */
#include "sources/gpu/rocm.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/kernel_file.h"
#include "sources/sources.h"

#define KFD_DIR "/sys/class/kfd"
#define DRM_DIR "/sys/class/drm"

static const struct gpu_driver *const drivers[] = {&rocm_smi_driver, &amd_smi_driver, NULL};

static bool is_there(const char *folder)
{
    char path[PATH_MAX];

    kernel_file_path(path, sizeof path, folder);
    return access(path, F_OK) == 0;
}

int rocm_available(struct apapi_error *err)
{
    return is_there(KFD_DIR) && is_there(DRM_DIR)
               ? 0
               : apapi_fail(err, ENODEV, "no AMD GPU with a driver: there is no " KFD_DIR);
}

/* A double holds 9 GJ to the microjoule, which takes a GPU of 1 kW a hundred days. */
uint64_t rocm_microjoules(uint64_t steps, float step_uj)
{
    return (uint64_t)llrint((double)steps * (double)step_uj);
}

static const struct gpu_driver *find_driver(const char *component)
{
    for (size_t i = 0; drivers[i]; i++) {
        if (strcmp(drivers[i]->component, component) == 0) {
            return drivers[i];
        }
    }
    return NULL;
}

static int rocm_probe(const char *component, struct apapi_error *err)
{
    return find_driver(component)
               ? 0
               : apapi_fail(err, ENOENT, "ROCm has no component '%s'", component);
}

static void rocm_list(apapi_component_f visit, void *context)
{
    for (size_t i = 0; drivers[i]; i++) {
        visit(drivers[i]->component, context);
    }
}

static struct apapi_reader *rocm_open(const char *component, struct apapi_error *err)
{
    if (rocm_probe(component, err) || rocm_available(err)) {
        return NULL;
    }
    return gpu_open(find_driver(component), err);
}

const struct apapi_source apapi_source_rocm = {
    .name = "rocm",
    .slow = true,
    .probe = rocm_probe,
    .list = rocm_list,
    .open = rocm_open,
    .read = gpu_read,
    .describe = gpu_describe,
    .close = gpu_close,
};
