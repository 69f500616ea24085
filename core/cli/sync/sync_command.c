/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi sync: executes a separate program, as it needs Slurm's library, and apapi must not. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "config/config.h"

#define PROGRAM "apapi-sync"

int sync_command(int argc, char **argv)
{
    char path[PATH_MAX], text[PATH_MAX + 80];
    struct config config;

    (void)argc;
    config_defaults(&config);
    config_read(&config, config_path(), &(struct config_sink){0});
    snprintf(path, sizeof path, "%s/" PROGRAM, config.libexec_dir);
    config_clear(&config);
    execv(path, argv);
    snprintf(text, sizeof text, "%s: %s%s", path, strerror(errno),
             errno == ENOENT ? "; it is built where Slurm's library (libslurm) is" : "");
    return command_fail("sync", text);
}
