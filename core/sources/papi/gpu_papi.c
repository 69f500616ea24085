/* SPDX-License-Identifier: BSD-3-Clause */
/* PAPI's components for GPUs. */
#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "base/count_of.h"
#include "sources/gpu/gpu.h"

static const struct gpu_driver *const drivers[] = {&nvml_driver, &rocm_smi_driver, &amd_smi_driver};

static bool counts_energy(const struct apapi_reader *reader, const struct gpu_driver *driver)
{
    for (size_t i = 0; i < reader->count; i++) {
        if (fnmatch(driver->counter, reader->events[i].name, 0) == 0) {
            return true;
        }
    }
    return false;
}

/* Without the hardware PAPI is not loaded. */
static int check_gpus(const struct gpu_driver *driver, struct apapi_error *err)
{
    if (driver->available ? driver->available(err) : gpu_driver_load(driver, err)) {
        return -1;
    }
    return gpu_list()
               ? apapi_fail(err, ENOSYS, "PAPI's %s cannot leave GPUs out", driver->component)
               : 0;
}

static struct apapi_reader *papi_gpu_open(const char *component, struct apapi_error *err)
{
    struct apapi_reader *reader;
    size_t i = 0;

    while (i < COUNT_OF(drivers) - 1 && strcmp(drivers[i]->component, component) != 0) {
        i++;
    }
    reader = check_gpus(drivers[i], err) ? NULL : apapi_source_papi.open(component, err);
    if (reader && !counts_energy(reader, drivers[i])) {
        gpu_remark(reader, "power integrated");
    }
    return reader;
}

static void papi_gpu_want(const char *component)
{
    apapi_source_papi.want(component);
}

/* A reader belongs to the PAPI source, which reads and closes it. */
const struct apapi_source apapi_source_papi_gpu = {
    .name = "papi", .slow = true, .want = papi_gpu_want, .open = papi_gpu_open};
