/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CONFIG_FILE_H
#define CONFIG_FILE_H
#include "apapi/error.h"

#define CONFIG_FILE_MAX 65536 /* bytes */

/**
 * Read a site's file. Never blocks on a FIFO or a device.
 * @return its text, free it with free(); NULL with errno as config_read(), `err` names the file.
 */
char *config_file_read(const char *path, struct apapi_error *err);

#endif
