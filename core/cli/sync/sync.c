/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi sync: executes a separate program, as it needs libslurm, and apapi must not. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "config/config.h"

static int command_execute(const char *program, char **argv, const char *advice)
{
    char path[PATH_MAX], text[PATH_MAX + 160];
    struct config config;

    config_defaults(&config);
    config_read(&config, config_path(), &(struct config_sink){0});
    snprintf(path, sizeof path, "%s/%s", config.libexec_dir, program);
    config_clear(&config);
    execv(path, argv);
    snprintf(text, sizeof text, "%s: %s%s", path, strerror(errno), errno == ENOENT ? advice : "");
    return command_fail(argv[0], text);
}

int sync_command(int argc, char **argv)
{
    (void)argc;
    return command_execute("apapi-sync", argv, "; it is built where Slurm's library (libslurm) is");
}
