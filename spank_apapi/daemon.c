/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon.h"

#include "arguments.h"
#include "log.h"

int spank_apapi_daemon_init(spank_t spank, int count, char *const words[])
{
    struct spank_apapi_arguments arguments;

    (void)spank;
    spank_apapi_arguments_parse(count, words, &arguments, spank_apapi_log_error);
    return ESPANK_SUCCESS;
}
