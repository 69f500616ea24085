/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of libamd_smi from version 25 on that APAPI uses, as documented by AMD. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_spec.h"

enum { SUCCESS = 0, INVAL = 1, NOT_SUPPORTED = 2, NOT_FOUND = 31, NOT_INIT = 32 };
#define INIT_AMD_GPUS 2
#define STEP_UJ 15.259F

typedef const struct fake_gpu *processor_t;

static int call(processor_t gpu, const char *function)
{
    int code = fake_gpu_call(gpu, function);

    if (fake_gpus()->users <= 0) {
        return NOT_INIT;
    }
    return code || !fake_gpu_is_lost(gpu) ? code : NOT_FOUND;
}

FAKE_EXPORT int amdsmi_init(uint64_t flags)
{
    int code;

    fake_gpus()->users = 0; /* the library is never stopped */
    fake_gpus_refresh();
    code = flags == INIT_AMD_GPUS ? fake_gpus_call("init") : INVAL;

    if (code == SUCCESS) {
        fake_gpus_start();
    }
    return code;
}

struct version {
    uint32_t major, minor, release;
    const char *build;
};

FAKE_EXPORT int amdsmi_get_lib_version(struct version *version)
{
    *version = (struct version){26, 0, 0, "26.0.0"};
    return fake_gpus_call("get_lib_version");
}

/* Each GPU has its own socket. */
FAKE_EXPORT int amdsmi_get_socket_handles(uint32_t *count, processor_t *sockets)
{
    uint32_t room = *count;

    *count = (uint32_t)fake_gpus()->count;
    for (uint32_t i = 0; i < room && i < *count; i++) {
        sockets[i] = &fake_gpus()->list[i];
    }
    return fake_gpus_call("get_socket_handles");
}

FAKE_EXPORT int amdsmi_get_processor_handles(processor_t socket, uint32_t *count,
                                             processor_t *processors)
{
    *count = 1;
    processors[0] = socket;
    return fake_gpus_call("get_processor_handles");
}

FAKE_EXPORT int amdsmi_get_gpu_device_uuid(processor_t gpu, unsigned *size, char *uuid)
{
    const char *bare = gpu->uuid + strlen("GPU-");

    if (*size < strlen(bare) + 1) {
        return INVAL;
    }
    strcpy(uuid, bare);
    *size = (unsigned)strlen(bare);
    return call(gpu, "get_gpu_device_uuid");
}

FAKE_EXPORT int amdsmi_get_energy_count(processor_t gpu, uint64_t *steps, float *step_uj,
                                        uint64_t *time_ns)
{
    *steps = (uint64_t)(fake_gpu_energy_j(gpu) * 1e6 / (double)STEP_UJ);
    *step_uj = STEP_UJ;
    *time_ns = 0;
    return gpu->counter ? call(gpu, "get_energy_count") : NOT_SUPPORTED;
}

struct power {
    uint64_t socket;
    uint32_t current, average;
    uint64_t gfx_mv, soc_mv, memory_mv;
    uint32_t limit;
    uint64_t reserved[18];
};

FAKE_EXPORT int amdsmi_get_power_info(processor_t gpu, struct power *power)
{
    memset(power, 0xff, sizeof *power);
    power->average = (uint32_t)gpu->power_w;
    return call(gpu, "get_power_info");
}

struct usage {
    uint32_t gfx, umc, mm, reserved[13];
};

FAKE_EXPORT int amdsmi_get_gpu_activity(processor_t gpu, struct usage *usage)
{
    *usage = (struct usage){.gfx = 90, .umc = 40, .mm = UINT32_MAX};
    return call(gpu, "get_gpu_activity");
}

FAKE_EXPORT int amdsmi_get_gpu_memory_usage(processor_t gpu, int type, uint64_t *used)
{
    *used = UINT64_C(10) << 30;
    return type == 0 ? call(gpu, "get_gpu_memory_usage") : NOT_SUPPORTED;
}
