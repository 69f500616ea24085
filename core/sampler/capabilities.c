/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/capabilities.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CAP_PERFMON
#define CAP_PERFMON 38 /* before Linux 5.8: part of CAP_SYS_ADMIN */
#endif

/*
 * SYS_RAWIO: /dev/cpu/N/msr, FreeIPMI's own drivers. PERFMON and SYS_ADMIN: performance events, and
 * what vendors' drivers have for administrators only. DAC_OVERRIDE: folders, devices and slurm.conf
 * that belong to another system user.
 */
const uint64_t capabilities_measure = CAPABILITY(CAP_SYS_RAWIO) | CAPABILITY(CAP_SYS_ADMIN) |
                                      CAPABILITY(CAP_PERFMON) | CAPABILITY(CAP_DAC_OVERRIDE);

const uint64_t capabilities_prepare = CAPABILITY(CAP_SETPCAP) | CAPABILITY(CAP_SETUID) |
                                      CAPABILITY(CAP_SETGID) | CAPABILITY(CAP_KILL) |
                                      CAPABILITY(CAP_SYS_NICE);

/* Until the first number that the kernel does not know. */
static void drop_bounding(uint64_t needed)
{
    for (int number = 0; number < 64; number++) {
        if (!(needed & CAPABILITY(number)) && prctl(PR_CAPBSET_DROP, number, 0, 0, 0)) {
            return;
        }
    }
}

void capabilities_drop(uint64_t needed)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (syscall(SYS_capget, &header, sets)) {
        return;
    }
    for (int half = 0; half < _LINUX_CAPABILITY_U32S_3; half++) {
        sets[half].permitted &= (uint32_t)(needed >> 32 * half);
        sets[half].effective &= sets[half].permitted;
        sets[half].inheritable = 0;
    }
    syscall(SYS_capset, &header, sets);
}

void capabilities_keep(uint64_t needed)
{
    drop_bounding(needed);
    capabilities_drop(needed);
}
