/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tool for Kokkos programs: KOKKOS_TOOLS_LIBS=libkp_apapi.so makes their kernels, fences and
 * profiling regions regions of APAPI. Kokkos looks the functions below up by their names; their
 * types are those of its tools' interface.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/region.h"
#include "compat/kokkos.h"

#define DEPTH_MAX 128

/* The profiling regions that a thread is in: Kokkos ends the latest one without its name. */
static _Thread_local struct {
    uint32_t depth; /* deeper ones are counted, and are no regions */
    apapi_region regions[DEPTH_MAX];
} pushed;

void kokkosp_request_tool_settings(uint32_t count, struct kokkos_tool_settings *settings)
{
    const char *fences = getenv("APAPI_KOKKOS_FENCES");

    (void)count;
    settings->requires_global_fencing = fences && strcmp(fences, "1") == 0;
}

void kokkosp_init_library(int sequence, uint64_t version, uint32_t device_count, void *devices)
{
    (void)sequence;
    (void)version;
    (void)device_count;
    (void)devices;
}

void kokkosp_finalize_library(void)
{
    apapi_region_stop();
}

static void kokkos_begin(const char *name, uint64_t *id)
{
    apapi_region region = apapi_region_handle(name);

    apapi_region_enter(region);
    *id = region;
}

static void kokkos_end(uint64_t id)
{
    apapi_region_leave((apapi_region)id);
}

void kokkosp_begin_parallel_for(const char *name, uint32_t device, uint64_t *id)
{
    (void)device;
    kokkos_begin(name, id);
}

void kokkosp_end_parallel_for(uint64_t id)
{
    kokkos_end(id);
}

void kokkosp_begin_parallel_reduce(const char *name, uint32_t device, uint64_t *id)
{
    (void)device;
    kokkos_begin(name, id);
}

void kokkosp_end_parallel_reduce(uint64_t id)
{
    kokkos_end(id);
}

void kokkosp_begin_parallel_scan(const char *name, uint32_t device, uint64_t *id)
{
    (void)device;
    kokkos_begin(name, id);
}

void kokkosp_end_parallel_scan(uint64_t id)
{
    kokkos_end(id);
}

void kokkosp_begin_fence(const char *name, uint32_t device, uint64_t *id)
{
    (void)device;
    kokkos_begin(name, id);
}

void kokkosp_end_fence(uint64_t id)
{
    kokkos_end(id);
}

void kokkosp_push_profile_region(const char *name)
{
    if (pushed.depth < DEPTH_MAX) {
        pushed.regions[pushed.depth] = apapi_region_handle(name);
        apapi_region_enter(pushed.regions[pushed.depth]);
    }
    pushed.depth++;
}

void kokkosp_pop_profile_region(void)
{
    if (pushed.depth == 0) {
        return;
    }
    if (--pushed.depth < DEPTH_MAX) {
        apapi_region_leave(pushed.regions[pushed.depth]);
    }
}
