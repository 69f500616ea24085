/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi sync: executes a separate program, as it needs Slurm's library, and apapi must not. */
#include "cli/command.h"
#include "cli/execute.h"

int sync_command(int argc, char **argv)
{
    (void)argc;
    return command_execute("apapi-sync", argv, "; it is built where Slurm's library (libslurm) is");
}
