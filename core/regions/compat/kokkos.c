/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tool for Kokkos programs: KOKKOS_TOOLS_LIBS=libkp_apapi.so makes their kernels, fences and
 * profiling regions regions of APAPI. Kokkos looks the functions below up by their names; their
 * types are those of Kokkos' interface for tools. Kokkos calls them in the thread of the program
 * that starts a kernel. A begin returns an `id`, which the same thread passes to the end.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/error.h"
#include "apapi/region.h"

#define DEPTH_MAX 128

/** The requests of a tool to Kokkos. */
struct kokkos_tool_settings {
    bool requires_global_fencing; /* before and after each kernel and region, so that a kernel's
                                     region is its execution, not its launch */
    bool padding[255];
};

/* A function that Kokkos calls, with its prototype. */
#define KOKKOS(name, parameters)                                                                   \
    APAPI_API void kokkosp_##name parameters;                                                      \
    void kokkosp_##name parameters

/*
 * The profiling regions and sections that a thread is in. Kokkos ends the latest region without
 * giving its name, and may end a section while others that began within it are open.
 */
struct kokkos_open {
    apapi_region region;
    bool section;
};
static _Thread_local struct {
    uint32_t depth, deeper; /* deeper regions are only counted; APAPI does not get them */
    struct kokkos_open list[DEPTH_MAX];
} open_now;

/* Ask for fences only with APAPI_KOKKOS_FENCES=1: they change how a program runs. */
KOKKOS(request_tool_settings, (uint32_t count, struct kokkos_tool_settings *settings))
{
    const char *fences = secure_getenv("APAPI_KOKKOS_FENCES");

    (void)count;
    settings->requires_global_fencing = fences && strcmp(fences, "1") == 0;
}

KOKKOS(init_library, (int sequence, uint64_t version, uint32_t device_count, void *devices))
{
    (void)sequence;
    (void)version;
    (void)device_count;
    (void)devices;
}

KOKKOS(finalize_library, (void))
{
    apapi_region_stop();
}

KOKKOS(begin_parallel_for, (const char *name, uint32_t device, uint64_t *id))
{
    apapi_region region = apapi_region_handle(name);

    (void)device;
    apapi_region_enter(region);
    *id = region;
}

KOKKOS(end_parallel_for, (uint64_t id))
{
    apapi_region_leave((apapi_region)id);
}

/* All that is begun and ended with an id is a region. */
#define REGION(what)                                                                               \
    APAPI_API void kokkosp_begin_##what(const char *name, uint32_t device, uint64_t *id)           \
        __attribute__((alias("kokkosp_begin_parallel_for")));                                      \
    APAPI_API void kokkosp_end_##what(uint64_t id)                                                 \
        __attribute__((alias("kokkosp_end_parallel_for")))

REGION(parallel_reduce);
REGION(parallel_scan);
REGION(fence);

static void kokkos_open(apapi_region region, bool section)
{
    open_now.list[open_now.depth++] = (struct kokkos_open){region, section};
    apapi_region_enter(region);
}

/* Close the region at `index`. Regions that began within it go on in the region around it. */
static void kokkos_close(uint32_t index)
{
    for (uint32_t i = open_now.depth; i-- > index;) {
        apapi_region_leave(open_now.list[i].region);
    }
    open_now.depth--;
    for (uint32_t i = index; i < open_now.depth; i++) {
        open_now.list[i] = open_now.list[i + 1];
        apapi_region_enter(open_now.list[i].region);
    }
}

KOKKOS(push_profile_region, (const char *name))
{
    if (open_now.depth < DEPTH_MAX && open_now.deeper == 0) {
        kokkos_open(apapi_region_handle(name), false);
    } else {
        open_now.deeper++;
    }
}

KOKKOS(pop_profile_region, (void))
{
    uint32_t i = open_now.depth;

    if (open_now.deeper > 0) {
        open_now.deeper--;
        return;
    }
    while (i > 0 && open_now.list[i - 1].section) {
        i--;
    }
    if (i > 0) {
        kokkos_close(i - 1);
    }
}

/* @return index of an open section; `depth`: the section is not open in this thread. */
static uint32_t kokkos_find_section(uint32_t section)
{
    uint32_t i = 0;

    while (i < open_now.depth &&
           !(open_now.list[i].section && open_now.list[i].region == section)) {
        i++;
    }
    return i;
}

/*
 * Sections may overlap with regions and each other. A section is a region of APAPI in the thread
 * that starts and stops it. If another thread stops a section, or if a section is started again
 * while it is open, the section goes on.
 */
KOKKOS(create_profile_section, (const char *name, uint32_t *section))
{
    *section = apapi_region_handle(name);
}

KOKKOS(start_profile_section, (uint32_t section))
{
    if (kokkos_find_section(section) == open_now.depth && open_now.depth < DEPTH_MAX) {
        kokkos_open(section, true);
    }
}

KOKKOS(stop_profile_section, (uint32_t section))
{
    uint32_t i = kokkos_find_section(section);

    if (i < open_now.depth) {
        kokkos_close(i);
    }
}

KOKKOS(destroy_profile_section, (uint32_t section))
{
    kokkosp_stop_profile_section(section);
}
