/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CONFIG_NETWORK_H
#define CONFIG_NETWORK_H
#include <stdbool.h>
#include <stddef.h>

#include "apapi/error.h"
#include "config/values.h"

/**
 * Find files that every step waits for and that are on a network file system: apapi.conf, the
 * helper programs, the installed plugin.
 * @param next    0 before the first call
 * @param key     result: "apapi.conf", "libexec_dir" or "plugin"; set if true is returned
 * @param reason  result: names the path and the file system; set if true is returned
 * @return whether there is another one. Waits for that file system, as steps do.
 */
bool config_network_find(const struct config *config, size_t *next, const char **key,
                         struct apapi_error *reason);

#endif
