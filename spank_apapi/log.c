/* SPDX-License-Identifier: BSD-3-Clause */
#include "log.h"

#include <slurm/spank.h>

#include "arguments.h"

void spank_apapi_log_error(const char *text)
{
    slurm_error("%s", text);
}

static void log_verbose(const char *text)
{
    slurm_verbose("%s", text);
}

void spank_apapi_log_arguments(int count, char *const words[])
{
    struct spank_apapi_arguments arguments;

    spank_apapi_arguments_parse(count, words, &arguments, log_verbose);
}
