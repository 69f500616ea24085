/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMPAT_KOKKOS_H
#define COMPAT_KOKKOS_H
#include <stdbool.h>
#include <stdint.h>

#include "apapi/error.h"

/*
 * The part of Kokkos' interface for tools that libkp_apapi.so has. Kokkos calls these functions in
 * the thread of the program that starts a kernel. What begins gets an `id`, which the same thread
 * hands back at the end.
 */

/** What a tool asks of Kokkos. */
struct kokkos_tool_settings {
    bool requires_global_fencing; /* before and after each kernel and region, so that a kernel's
                                     region is its execution, not its launch */
    bool padding[255];
};

/** Fences only with APAPI_KOKKOS_FENCES=1, as they change a program's course. */
APAPI_API void kokkosp_request_tool_settings(uint32_t count, struct kokkos_tool_settings *settings);

APAPI_API void kokkosp_init_library(int sequence, uint64_t version, uint32_t device_count,
                                    void *devices);
APAPI_API void kokkosp_finalize_library(void);

APAPI_API void kokkosp_begin_parallel_for(const char *name, uint32_t device, uint64_t *id);
APAPI_API void kokkosp_end_parallel_for(uint64_t id);
APAPI_API void kokkosp_begin_parallel_reduce(const char *name, uint32_t device, uint64_t *id);
APAPI_API void kokkosp_end_parallel_reduce(uint64_t id);
APAPI_API void kokkosp_begin_parallel_scan(const char *name, uint32_t device, uint64_t *id);
APAPI_API void kokkosp_end_parallel_scan(uint64_t id);
APAPI_API void kokkosp_begin_fence(const char *name, uint32_t device, uint64_t *id);
APAPI_API void kokkosp_end_fence(uint64_t id);
APAPI_API void kokkosp_push_profile_region(const char *name);
APAPI_API void kokkosp_pop_profile_region(void);

/*
 * Sections, which may overlap with regions and each other: regions of APAPI in the thread that
 * starts and stops them. What another thread stops goes on; so does a section of the same name that
 * is started again.
 */
APAPI_API void kokkosp_create_profile_section(const char *name, uint32_t *section);
APAPI_API void kokkosp_destroy_profile_section(uint32_t section);
APAPI_API void kokkosp_start_profile_section(uint32_t section);
APAPI_API void kokkosp_stop_profile_section(uint32_t section);

#endif
