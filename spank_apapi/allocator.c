/* SPDX-License-Identifier: BSD-3-Clause */
#include "allocator.h"

#include <stddef.h>

#include "arguments.h"
#include "log.h"
#include "options.h"

int spank_apapi_allocator_init(spank_t spank, int count, char *const words[])
{
    static struct spank_apapi_arguments arguments;

    spank_apapi_arguments_parse(count, words, &arguments, NULL);
    spank_apapi_options_register(spank, &arguments);
    return ESPANK_SUCCESS;
}

int spank_apapi_allocator_init_post_opt(int count, char *const words[])
{
    spank_apapi_log_arguments(count, words);
    return ESPANK_SUCCESS;
}
