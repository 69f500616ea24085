/* SPDX-License-Identifier: BSD-3-Clause */
/* AMD GPUs through the libraries of ROCm. */
#include <errno.h>
#include <string.h>

#include "sources/gpu/rocm_driver.h"
#include "sources/sources.h"

static const struct gpu_driver *const drivers[] = {&rocm_smi_driver, &amd_smi_driver, NULL};

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
    return gpu_open(&apapi_source_rocm, find_driver(component), err);
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
