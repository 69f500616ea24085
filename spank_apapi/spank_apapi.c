/* SPDX-License-Identifier: BSD-3-Clause */
#include <slurm/spank.h>

#include "plugin.h"

SPANK_PLUGIN(apapi, 1)

int slurm_spank_init(spank_t spank, int ac, char *argv[])
{
    switch (spank_context()) {
    case S_CTX_LOCAL:
    case S_CTX_ALLOCATOR:
    case S_CTX_REMOTE:
        spank_apapi_options_init(spank, ac, argv);
        return ESPANK_SUCCESS;
    case S_CTX_SLURMD:
        return spank_apapi_daemon_init(ac, argv);
    default:
        return ESPANK_SUCCESS;
    }
}

int slurm_spank_local_user_init(spank_t spank, int ac, char *argv[])
{
    (void)ac;
    (void)argv;
    return spank_context() == S_CTX_LOCAL ? spank_apapi_local_user_init(spank) : ESPANK_SUCCESS;
}

int slurm_spank_init_post_opt(spank_t spank, int ac, char *argv[])
{
    switch (spank_context()) {
    case S_CTX_LOCAL:
        return spank_apapi_local_init_post_opt();
    case S_CTX_ALLOCATOR:
        return spank_apapi_allocator_init_post_opt();
    case S_CTX_REMOTE:
        return spank_apapi_remote_init_post_opt(spank, ac, argv);
    default:
        return ESPANK_SUCCESS;
    }
}

int slurm_spank_user_init(spank_t spank, int ac, char *argv[])
{
    (void)spank;
    (void)ac;
    (void)argv;
    return spank_context() == S_CTX_REMOTE ? spank_apapi_remote_user_init() : ESPANK_SUCCESS;
}

#define REMOTE_TASK(hook)                                                                          \
    int slurm_spank_task_##hook(spank_t spank, int ac, char *argv[])                               \
    {                                                                                              \
        (void)ac;                                                                                  \
        (void)argv;                                                                                \
        return spank_context() == S_CTX_REMOTE ? spank_apapi_remote_task_##hook(spank)             \
                                               : ESPANK_SUCCESS;                                   \
    }

REMOTE_TASK(init)
REMOTE_TASK(post_fork)
REMOTE_TASK(exit)

int slurm_spank_exit(spank_t spank, int ac, char *argv[])
{
    (void)ac;
    (void)argv;
    switch (spank_context()) {
    case S_CTX_LOCAL:
        return spank_apapi_local_exit();
    case S_CTX_ALLOCATOR:
        return spank_apapi_allocator_exit();
    case S_CTX_REMOTE:
        return spank_apapi_remote_exit(spank);
    default:
        return ESPANK_SUCCESS;
    }
}
