/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "base/count_of.h"
#include "sources/gpu/gpu_reader.h"
#include "sources/gpu/nvml.h"
#include "sources/gpu/rocm_driver.h"
#include "sources/sources.h"

static const struct gpu_component {
    const char *name;
    const char *counter; /* the event that counts energy */
    int (*available)(struct apapi_error *err);
} components[] = {
    {"nvml", "nvml:::*:total_energy_consumption", nvml_available},
    {"rocm_smi", "rocm_smi:::energy_count:*", rocm_available},
    {"amd_smi", "amd_smi:::energy_consumed:*", rocm_available},
};

static const struct gpu_component *gpu_papi_find_component(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(components); i++) {
        if (strcmp(components[i].name, name) == 0) {
            return &components[i];
        }
    }
    return NULL;
}

static bool counts_energy(const struct apapi_reader *reader, const struct gpu_component *component)
{
    for (size_t i = 0; i < reader->count; i++) {
        if (fnmatch(component->counter, reader->events[i].name, 0) == 0) {
            return true;
        }
    }
    return false;
}

/* Without the hardware PAPI is not loaded. */
static int gpu_papi_check(const char *name, const struct gpu_component *component,
                          struct apapi_error *err)
{
    if (!component) {
        return apapi_fail(err, ENOENT, "'%s' is not a component for GPUs", name);
    }
    if (component->available(err)) {
        return -1;
    }
    return gpu_list() ? apapi_fail(err, ENOSYS, "PAPI's %s cannot leave GPUs out", name) : 0;
}

static struct apapi_reader *papi_gpu_open(const char *name, struct apapi_error *err)
{
    const struct gpu_component *component = gpu_papi_find_component(name);
    struct apapi_reader *reader =
        gpu_papi_check(name, component, err) ? NULL : apapi_source_papi.open(name, err);

    if (reader && !counts_energy(reader, component)) {
        gpu_remark(reader, "power integrated");
    }
    return reader;
}

static int papi_gpu_probe(const char *component, struct apapi_error *err)
{
    return apapi_source_papi.probe(component, err);
}

static void papi_gpu_want(const char *component)
{
    apapi_source_papi.want(component);
}

static void papi_gpu_list(apapi_component_f visit, void *context)
{
    for (size_t i = 0; i < COUNT_OF(components); i++) {
        visit(components[i].name, context);
    }
}

/* A reader belongs to the PAPI source, which reads and closes it. */
const struct apapi_source apapi_source_papi_gpu = {
    .name = "papi",
    .slow = true,
    .probe = papi_gpu_probe,
    .want = papi_gpu_want,
    .list = papi_gpu_list,
    .open = papi_gpu_open,
};
