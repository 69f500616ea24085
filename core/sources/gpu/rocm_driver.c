/* SPDX-License-Identifier: BSD-3-Clause */
#include "sources/gpu/rocm_driver.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <unistd.h>

#include "base/kernel_file.h"

#define KFD_DIR "/sys/class/kfd"
#define DRM_DIR "/sys/class/drm"

static bool rocm_driver_is_there(const char *folder)
{
    char path[PATH_MAX];

    kernel_file_path(path, sizeof path, folder);
    return access(path, F_OK) == 0;
}

int rocm_available(struct apapi_error *err)
{
    return rocm_driver_is_there(KFD_DIR) && rocm_driver_is_there(DRM_DIR)
               ? 0
               : apapi_fail(err, ENODEV, "no AMD GPU with a driver: there is no " KFD_DIR);
}

/* A double holds 9 GJ to the microjoule: a hundred days of a GPU of 1 kW. */
uint64_t rocm_microjoules(uint64_t steps, float step_uj)
{
    return (uint64_t)llrint((double)steps * (double)step_uj);
}
