/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon.h"

#include "log.h"

int spank_apapi_daemon_init(spank_t spank, int count, char *const words[])
{
    struct config config;

    (void)spank;
    config_load(&config, count, words, &spank_apapi_log_errors);
    config_clear(&config);
    return ESPANK_SUCCESS;
}
